package modules

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"play/modules/perm"
)

// packed is one entry of an archive.
type packed struct {
	name     string // in dest
	kind     fs.FileMode
	mode     uint32
	size     int64
	modified time.Time
	link     string // of a symbolic link, or the name in dest of a hard link's other name
	hard     bool
	uid, gid int // -1: unknown
	content  io.Reader
}

// bombFloor and bombFactor limit what an archive unpacks to, in bytes and as a
// multiple of its size: more is an attack on the disk.
const (
	bombFloor  = 1 << 30
	bombFactor = 200
)

// recognize finds the format by the first bytes.
func (u *unpacking) recognize() error {
	head := make([]byte, 512)
	n, err := u.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return Failf("cannot read %q: %v", u.Src, err)
	}
	head = head[:n]
	for _, magic := range []struct{ format, text string }{
		{"gz", "\x1f\x8b"}, {"bz2", "BZh"}, {"xz", "\xfd7zXZ\x00"}, {"zst", "\x28\xb5\x2f\xfd"}, {"zip", "PK\x03\x04"}, {"zip", "PK\x05\x06"},
	} {
		if bytes.HasPrefix(head, []byte(magic.text)) {
			u.format = magic.format
			return nil
		}
	}
	if _, err := tar.NewReader(bytes.NewReader(head)).Next(); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Failf("Failed to find handler for \"%s\". Make sure the required command to extract the file is installed.\nIt is neither a tar archive (plain, gz, bz2, xz, zst) nor a zip archive.", u.Src)
	}
	u.format = "tar"
	return nil
}

// each goes through the entries that are selected.
func (u *unpacking) each(do func(*packed) error) error {
	info, err := u.file.Stat()
	if err != nil {
		return Failf("cannot read %q: %v", u.Src, err)
	}
	u.left = max(bombFloor, info.Size()*bombFactor)
	if u.format == "zip" {
		return u.eachZip(info.Size(), do)
	}
	if _, err := u.file.Seek(0, io.SeekStart); err != nil {
		return Failf("cannot read %q: %v", u.Src, err)
	}
	stream, finish, err := u.stream()
	if err != nil {
		return u.broken(err)
	}
	err = u.eachTar(tar.NewReader(&bounded{u, stream}), do)
	if ended := finish(err == nil); err == nil && ended != nil {
		err = u.broken(ended)
	}
	return err
}

// bounded ends a stream that grows too long.
type bounded struct {
	u *unpacking
	r io.Reader
}

// Read counts.
func (b *bounded) Read(p []byte) (int, error) {
	if err := b.u.Err(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(p)
	if b.u.left -= int64(n); b.u.left < 0 {
		return 0, Failf("cannot unpack %q: it holds far more than its size allows", b.u.Src)
	}
	return n, err
}

func (u *unpacking) broken(err error) error {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return Failf("failed to unpack %s to %s: %v", u.Src, u.dest, err)
}

// stream is the tar inside the compression. finish ends it; whole says that it
// was read to its end.
func (u *unpacking) stream() (r io.Reader, finish func(whole bool) error, err error) {
	in := bufio.NewReader(u.file)
	finish = func(bool) error { return nil }
	switch u.format {
	case "gz":
		r, err = gzip.NewReader(in)
		return r, finish, err
	case "bz2":
		return bzip2.NewReader(in), finish, nil
	case "xz":
		return u.tool(in, "xz", "-dcq")
	case "zst":
		return u.tool(in, "zstd", "-dcq")
	}
	return in, finish, nil
}

// tool decompresses through a program of the target.
func (u *unpacking) tool(in io.Reader, argv ...string) (io.Reader, func(bool) error, error) {
	cmd := exec.CommandContext(u, argv[0], argv[1:]...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr, cmd.Env = in, &stderr, append(append([]string{}, u.Env...), "LC_ALL=C")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, Failf("cannot unpack %q: %v; install %s", u.Src, err, argv[0])
	}
	return out, func(whole bool) error {
		if whole {
			_, _ = io.Copy(io.Discard, &bounded{u, out}) // padding behind the end of the tar
		}
		out.Close()
		err := cmd.Wait()
		if whole && err != nil {
			return errors.New(argv[0] + ": " + strings.TrimSpace(stderr.String()))
		}
		return nil
	}, nil
}

func (u *unpacking) eachTar(r *tar.Reader, do func(*packed) error) error {
	for {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return u.broken(err)
		}
		e := &packed{mode: uint32(h.Mode) & 0o7777, size: h.Size, modified: h.ModTime, link: h.Linkname, content: r}
		e.uid, e.gid = ownerOf(h)
		switch h.Typeflag {
		case tar.TypeReg, '\x00', tar.TypeGNUSparse: // NUL: files of the oldest archives
		case tar.TypeDir:
			e.kind = fs.ModeDir
		case tar.TypeSymlink:
			e.kind = fs.ModeSymlink
		case tar.TypeLink:
			e.hard = true
			if e.link, err = u.local(h.Linkname); err != nil {
				return err
			}
		case tar.TypeXGlobalHeader:
			continue
		default:
			return Failf("cannot unpack %q: it is a device or another special file", h.Name)
		}
		if err := u.hand(e, h.Name, do); err != nil {
			return err
		}
	}
}

// ownerOf finds the users of the entry here, by name first.
func ownerOf(h *tar.Header) (uid, gid int) {
	uid, gid = h.Uid, h.Gid
	if id, ok := perm.UserID(h.Uname); ok && h.Uname != "" {
		uid = id
	}
	if id, ok := perm.GroupID(h.Gname); ok && h.Gname != "" {
		gid = id
	}
	return uid, gid
}

func (u *unpacking) eachZip(size int64, do func(*packed) error) error {
	z, err := zip.NewReader(u.file, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return u.broken(err)
	}
	for _, f := range z.File {
		mode := f.Mode()
		e := &packed{mode: uint32(mode.Perm()), size: int64(f.UncompressedSize64), modified: f.Modified, kind: mode.Type(), uid: -1, gid: -1}
		if mode.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 {
			return Failf("cannot unpack %q: it is a device or another special file", f.Name)
		}
		content, err := f.Open()
		if err != nil {
			return u.broken(err)
		}
		e.content = &bounded{u, content}
		if e.kind == fs.ModeSymlink {
			target, err := io.ReadAll(io.LimitReader(e.content, 4096))
			if err != nil {
				content.Close()
				return u.broken(err)
			}
			e.link = string(target)
		}
		err = u.hand(e, f.Name, do)
		content.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// hand passes a selected entry on.
func (u *unpacking) hand(e *packed, name string, do func(*packed) error) error {
	local, err := u.local(name)
	if err != nil || local == "" {
		return err
	}
	e.name = local
	if !u.preserve {
		e.mode &= 0o777
	}
	return do(e)
}
