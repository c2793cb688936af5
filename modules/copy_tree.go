package modules

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"play/modules/atomicfile"
	"play/modules/value"
)

// copyTree copies a directory of the target: the directory itself, or with a
// slash at the end of src only what is in it.
func (r *copyRun) copyTree() (*Result, error) {
	src := r.abs(r.Src)
	dest := r.dest
	shown := dest
	if !strings.HasSuffix(r.Src, "/") {
		dest = filepath.Join(dest, filepath.Base(src))
		if isDir(r.dest) {
			shown = dest
		}
	} else if isDir(r.dest) {
		shown = strings.TrimRight(r.dest, "/") + "/"
	}
	if lexists(r.dest) && !isDir(r.dest) {
		return nil, Failf("cannot copy directory %q over %q, which is no directory", r.Src, r.Dest)
	}
	t := treeCopy{copyRun: r, links: r.LocalFollow == nil || !*r.LocalFollow}
	depth := 0
	if strings.HasSuffix(r.Src, "/") && !isDir(dest) {
		depth = 1 // the top is new as well
	}
	if err := t.folder(src, dest, depth); err != nil {
		return nil, err
	}
	attributes, err := r.setAttributes(r.Call, shown, nil)
	if err != nil {
		return nil, err
	}
	return &Result{value.DictOf("dest", shown, "src", r.Src, "md5sum", nil, "checksum", nil, "changed", t.changed || attributes)}, nil
}

// treeCopy is one copy of a directory with all below it.
type treeCopy struct {
	*copyRun
	links   bool // links are copied as links
	changed bool
}

func (t *treeCopy) folder(src, dest string, depth int) error {
	entries, err := os.ReadDir(src)
	if err != nil {
		return Failf("cannot read %q: %s", src, osText(err, src))
	}
	if !isDir(dest) {
		t.changed = true
		if !t.Check {
			if err := t.newFolder(src, dest, depth); err != nil {
				return err
			}
		}
	}
	for _, e := range entries {
		if err := t.entry(e, filepath.Join(src, e.Name()), filepath.Join(dest, e.Name()), depth); err != nil {
			return err
		}
	}
	return nil
}

// newFolder makes a folder: at depth 0 with the usual permissions, below with
// those of its source.
func (t *treeCopy) newFolder(src, dest string, depth int) error {
	if err := os.MkdirAll(dest, 0o777); err != nil {
		return Failf("There was an issue creating %s as requested: %s", dest, osText(err, dest))
	}
	if info, err := os.Stat(src); err == nil && depth > 0 {
		if err := unix.Chmod(dest, uint32(info.Mode().Perm())); err != nil {
			return Failf("cannot set the mode of %q: %s", dest, osText(err, dest))
		}
	}
	attributes := fileArgs{Owner: t.Owner, Group: t.Group}
	_, err := attributes.setAttributes(t.Call, dest, nil)
	return err
}

func (t *treeCopy) entry(e fs.DirEntry, src, dest string, depth int) error {
	if e.Type()&fs.ModeSymlink != 0 && t.links {
		return t.link(src, dest)
	}
	info, err := os.Stat(src)
	if err != nil {
		return Failf("cannot read %q: %s", src, osText(err, src))
	}
	switch {
	case info.IsDir():
		return t.folder(src, dest, depth+1)
	case info.Mode().IsRegular():
		return t.file(src, dest, info, depth)
	}
	return nil
}

func (t *treeCopy) link(src, dest string) error {
	target, err := os.Readlink(src)
	if err != nil {
		return Failf("cannot read %q: %s", src, osText(err, src))
	}
	if old, err := os.Readlink(dest); err == nil && old == target {
		return nil
	}
	t.changed = true
	if t.Check {
		return nil
	}
	if lexists(dest) {
		if err := os.Remove(dest); err != nil {
			return Failf("cannot replace %q: %s", dest, osText(err, dest))
		}
	}
	if err := os.Symlink(target, dest); err != nil {
		return Failf("cannot link %q: %s", dest, osText(err, dest))
	}
	return nil
}

func (t *treeCopy) file(src, dest string, info fs.FileInfo, depth int) error {
	content, err := openContent(src)
	if err != nil {
		return err
	}
	defer content.close()
	one := &copyRun{Call: t.Call, copyArgs: t.copyArgs, content: content, dest: dest}
	same, err := one.sameContent()
	if err != nil || same {
		return err
	}
	t.changed = true
	if t.Check {
		return nil
	}
	isNew := !exists(dest)
	if err := t.writeFile(content, dest); err != nil {
		return err
	}
	if isNew {
		if err := unix.Chmod(dest, uint32(info.Mode().Perm())); err != nil {
			return Failf("cannot set the mode of %q: %s", dest, osText(err, dest))
		}
	}
	if depth > 0 {
		_ = os.Chtimes(dest, info.ModTime(), info.ModTime()) // kept where the owner allows
	}
	attributes := fileArgs{Owner: t.Owner, Group: t.Group}
	_, err = attributes.setAttributes(t.Call, dest, nil)
	return err
}

func (t *treeCopy) writeFile(content *content, dest string) error {
	none := uint32(0o600)
	f, err := atomicfile.Create(dest, atomicfile.Options{Unsafe: t.Unsafe, Scratch: t.TmpDir, Mode: &none})
	if err != nil {
		return Failf("%v", err)
	}
	if err := content.writeTo(f); err != nil {
		f.Abort()
		return Failf("cannot write %q: %s", dest, osText(err, dest))
	}
	if err := f.Commit(); err != nil {
		return Failf("%v", err)
	}
	return nil
}
