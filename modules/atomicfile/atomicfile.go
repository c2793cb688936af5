// Package atomicfile replaces files as a whole: a reader sees the old content
// or the new, never a part. Flowing in: a path and its new content. Flowing
// out: the file, with the owner, mode, ACL and labels that the old one had.
// File modules call it. It follows no symbolic link: callers resolve them.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"play/modules/leftover"
	"play/modules/perm"
)

// Options say how to write.
type Options struct {
	// Unsafe allows writing into the file in place where it cannot be replaced.
	Unsafe bool
	// Scratch is a private folder for the new content when Unsafe and the
	// file's own folder cannot be written.
	Scratch string
	// Mode limits the permission bits of a file that did not exist, so that it
	// is never more open than the task asks for; nil: the umask alone does.
	Mode *uint32
}

// File is new content on its way. Only its owner can read it.
type File struct {
	*os.File
	dest string
	o    Options
	done func() // tells package leftover that the temporary file is gone
}

// Create starts new content for dest. End it by Commit or Abort.
func Create(dest string, o Options) (*File, error) {
	dir, base := filepath.Split(dest)
	if dir == "" {
		dir = "."
	}
	f, done, err := temp(dir, base)
	if err != nil && o.Unsafe && o.Scratch != "" {
		f, done, err = temp(o.Scratch, base)
	}
	if err == nil {
		return &File{f, dest, o, done}, nil
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EROFS) {
		return nil, fmt.Errorf("The destination directory (%s) is not writable by the current user. Error was: %w", filepath.Clean(dir), reason(err))
	}
	return nil, fmt.Errorf("Could not replace file %s: %w", dest, reason(err))
}

// temp creates a file that was noted as a leftover before it is there.
func temp(dir, base string) (f *os.File, done func(), err error) {
	if len(base) > 200 {
		base = base[:200]
	}
	for range 100 {
		path := filepath.Join(dir, fmt.Sprintf(".ansible_tmp%d%s", rand.Uint64(), base))
		done = leftover.File(path)
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return f, done, nil
		}
		done()
		if !errors.Is(err, os.ErrExist) {
			break
		}
	}
	return nil, nil, err
}

// Write replaces dest by what r holds.
func Write(dest string, r io.Reader, o Options) error {
	f, err := Create(dest, o)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, r); err != nil {
		f.Abort()
		return fmt.Errorf("cannot write %q: %w", dest, reason(err))
	}
	return f.Commit()
}

// Abort drops the new content.
func (f *File) Abort() {
	f.Close()
	os.Remove(f.Name())
	f.done()
}

// Commit puts the new content in place. When it fails the old file is still
// there, and no temporary file is.
func (f *File) Commit() error {
	if err := f.finish(); err != nil {
		f.Abort()
		return err
	}
	f.done()
	return nil
}

func (f *File) finish() error {
	if err := f.dress(); err != nil {
		return fmt.Errorf("cannot prepare the new %q: %w", f.dest, reason(err))
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("cannot write %q: %w", f.dest, reason(err))
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("cannot write %q: %w", f.dest, reason(err))
	}
	err := os.Rename(f.Name(), f.dest)
	if err != nil && f.o.Unsafe {
		err = f.overwrite()
	}
	if err != nil {
		return fmt.Errorf("Could not replace file: %s to %s: %w", f.Name(), f.dest, reason(err))
	}
	syncDir(filepath.Dir(f.dest))
	return nil
}

// dress gives the temporary file the metadata of the old file, or what a new
// one gets.
func (f *File) dress() error {
	var st unix.Stat_t
	err := unix.Lstat(f.dest, &st)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		mode := 0o666 &^ perm.Umask()
		if f.o.Mode != nil {
			mode &= *f.o.Mode
		}
		return unix.Fchmod(int(f.Fd()), mode)
	}
	// Without privileges the owner cannot be given away; the rest still holds.
	if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil && !errors.Is(err, os.ErrPermission) {
		return err
	}
	copyXattrs(f.dest, f.Name())
	return unix.Fchmod(int(f.Fd()), uint32(st.Mode)&0o7777)
}

// overwrite copies the new content into the old file, for a file that cannot
// be renamed over, such as a mount point.
func (f *File) overwrite() error {
	src, err := os.Open(f.Name())
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(f.dest, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		dst.Close()
		return err
	}
	if err := dst.Close(); err != nil {
		return err
	}
	return os.Remove(f.Name())
}

// syncDir makes a rename durable; not every file system can.
func syncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	_ = d.Sync()
}

// reason drops the temporary name from an error.
func reason(err error) error {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	var linkErr *os.LinkError
	if errors.As(err, &linkErr) {
		return linkErr.Err
	}
	return err
}
