package modules

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"play/modules/atomicfile"
	"play/modules/value"
)

// replace writes the archive and puts it in place if it differs from the old one.
func (a *archiving) replace(write func(io.Writer) error) (changed bool, err error) {
	old := a.summary(a.dest)
	f, err := atomicfile.Create(a.dest, atomicfile.Options{Unsafe: a.Unsafe, Scratch: a.TmpDir, Mode: a.newFileMode()})
	if err != nil {
		return false, a.unwritable(err)
	}
	out, finish, err := a.compressor(f.File)
	if err == nil {
		err = write(out)
		if ended := finish(); err == nil && ended != nil {
			err = a.unwritable(ended)
		}
	}
	if err != nil {
		f.Abort()
		return false, err
	}
	if old != nil && same(old, a.summary(f.Name())) {
		f.Abort()
		return false, nil
	}
	if err := f.Commit(); err != nil {
		return false, a.unwritable(err)
	}
	return true, nil
}

func (a *archiving) unwritable(err error) error {
	if !a.many && a.Format != "tar" && a.Format != "zip" {
		return &Failure{Msg: "Unable to write to compressed file: " + osTextString(err, a.dest), With: value.DictOf("path", a.paths[0], "dest", a.dest)}
	}
	kind := a.Format
	if kind != "tar" && kind != "zip" {
		kind = "tar." + kind
	}
	return Failf("Error when writing %s archive at %s: %v", kind, a.dest, err)
}

// compressor compresses what is written to it into f, until finish is called.
func (a *archiving) compressor(f *os.File) (out io.Writer, finish func() error, err error) {
	switch a.Format {
	case "gz":
		z := gzip.NewWriter(f)
		if !a.many {
			z.Name = strings.TrimSuffix(filepath.Base(a.dest), ".gz")
		}
		return z, z.Close, nil
	case "bz2":
		return a.through(f, "bzip2", "-9c")
	case "xz":
		return a.through(f, "xz", "-c")
	}
	return f, func() error { return nil }, nil
}

// through compresses by a program of the target.
func (a *archiving) through(f *os.File, name string, args ...string) (io.Writer, func() error, error) {
	path, err := a.needTool(name)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(a, path, args...)
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.Env = f, &stderr, withLocaleC(a.Env)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, Failf("cannot run %q: %v", path, err)
	}
	return in, func() error {
		in.Close()
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%s: %s", name, strings.TrimSpace(stderr.String()))
		}
		return nil
	}, nil
}

// compress copies the only file.
func (a *archiving) compress(w io.Writer) error {
	path := a.paths[0]
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		_, err = io.Copy(w, f)
	}
	if err != nil {
		return &Failure{Msg: "Unable to write to compressed file: " + osTextString(err, path), With: value.DictOf("path", path, "dest", a.dest)}
	}
	a.packed = append(a.packed, path)
	return nil
}

// packer is one format of archives. It tells whether the path is in the archive
// now; a path that is not packed, as a socket, is no error.
type packer interface {
	add(path, name string) (bool, error)
	Close() error
}

func (a *archiving) packAll(w io.Writer) error {
	var p packer = &tarPacker{Writer: tar.NewWriter(w), a: a, linked: map[[2]uint64]string{}}
	if a.Format == "zip" {
		p = &zipPacker{Writer: zip.NewWriter(w), a: a}
	}
	for _, target := range a.targets {
		if err := a.packTree(p, target); err != nil {
			return err
		}
	}
	if len(a.failed) > 0 {
		return Failf("Errors when writing archive at %s: %s", a.dest, strings.Join(a.failed, "; "))
	}
	if err := p.Close(); err != nil {
		return a.unwritable(err)
	}
	return nil
}

// packTree packs a file, or what is in a folder: first its own entries, then
// what is in its folders.
func (a *archiving) packTree(p packer, target string) error {
	if !isDir(target) {
		return a.packOne(p, target)
	}
	entries, err := os.ReadDir(target)
	if err != nil {
		return nil // as the reference, which walks over what it may not read
	}
	for _, e := range entries {
		if err := a.packOne(p, filepath.Join(target, e.Name())); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if err := a.packTree(p, filepath.Join(target, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// packOne packs one path; what is wrong with it is noted. The archive itself is
// left out.
func (a *archiving) packOne(p packer, path string) error {
	if err := a.Err(); err != nil {
		return err
	}
	if path == a.dest || strings.HasPrefix(path, filepath.Dir(a.dest)+"/.ansible_tmp") {
		return nil
	}
	in, err := p.add(path, strings.TrimLeft(strings.TrimPrefix(path, a.root), "/"))
	if err != nil {
		a.failed = append(a.failed, path+": "+osTextString(err, path))
	}
	if in {
		a.packed = append(a.packed, path)
	}
	return nil
}

// left tells whether a pattern leaves a name out.
func (a *archiving) left(name string) bool {
	matched, err := anyMatch(a.patterns, name)
	return err == nil && matched && len(a.patterns) > 0
}

// tarPacker writes a tar; the second name of a file is a hard link to the first.
type tarPacker struct {
	*tar.Writer
	a      *archiving
	linked map[[2]uint64]string
}

func (p *tarPacker) add(path, name string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSocket != 0 || p.a.left(name) {
		return false, err
	}
	target := ""
	if info.Mode()&os.ModeSymlink != 0 {
		if target, err = os.Readlink(path); err != nil {
			return false, err
		}
	}
	h, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return false, err
	}
	h.Name, h.ModTime = name, h.ModTime.Truncate(1e9)
	if info.IsDir() {
		h.Name += "/"
	}
	p.link(h, info)
	if h.Typeflag != tar.TypeReg {
		return true, p.WriteHeader(h)
	}
	return true, p.file(h, path)
}

// link makes the entry a hard link when the file was packed by another name.
func (p *tarPacker) link(h *tar.Header, info os.FileInfo) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || h.Typeflag != tar.TypeReg || st.Nlink < 2 {
		return
	}
	id := [2]uint64{uint64(st.Dev), uint64(st.Ino)}
	if first, ok := p.linked[id]; ok {
		h.Typeflag, h.Linkname, h.Size = tar.TypeLink, first, 0
		return
	}
	p.linked[id] = h.Name
}

// file writes an entry with its content. A file that grows meanwhile is cut, as
// its size stands before it.
func (p *tarPacker) file(h *tar.Header, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := p.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.CopyN(p, f, h.Size)
	return err
}

// zipPacker writes a zip, which holds what symbolic links lead to.
type zipPacker struct {
	*zip.Writer
	a *archiving
}

func (p *zipPacker) add(path, name string) (bool, error) {
	if p.a.left(path) {
		return false, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return false, nil
	}
	h, err := zip.FileInfoHeader(info)
	if err != nil {
		return false, err
	}
	h.Name, h.Method = name, zip.Deflate
	if info.IsDir() {
		h.Name, h.Method = name+"/", zip.Store
		_, err := p.CreateHeader(h)
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	w, err := p.CreateHeader(h)
	if err == nil {
		_, err = io.Copy(w, f)
	}
	return err == nil, err
}
