package modules

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"play/modules/perm"
)

// compare notes what differs between an entry and dest.
func (u *unpacking) compare(e *packed) error {
	letter, shown := "f", e.name
	switch e.kind {
	case fs.ModeDir:
		letter, shown = "d", e.name+"/"
	case fs.ModeSymlink:
		letter = "L"
	}
	u.names = append(u.names, shown)
	info, err := u.root.Lstat(e.name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return u.refused(e, err)
		}
		u.changes = append(u.changes, ">"+letter+"++++++.?? "+shown+"\n")
		return nil
	}
	if u.KeepNewer && letter == "f" && info.ModTime().After(e.modified) {
		return nil
	}
	marks, err := u.differs(e, info)
	if err != nil || marks == "" {
		return err
	}
	u.changes = append(u.changes, "."+letter+marks+".?? "+shown+"\n")
	return nil
}

// differs has a letter for content, size, time, permissions and owner, "" when
// all are as in the archive.
func (u *unpacking) differs(e *packed, info fs.FileInfo) (string, error) {
	marks := []byte(".......")[:6]
	set := func(at int, letter byte, differs bool) {
		if differs {
			marks[at] = letter
		}
	}
	switch {
	case info.Mode().Type() != e.kind:
		return "cst...", nil
	case e.kind == fs.ModeSymlink:
		target, err := u.root.Readlink(e.name)
		set(0, 'c', err != nil || target != e.link)
	case e.hard:
		other, err := u.root.Lstat(e.link)
		set(0, 'c', err != nil || !os.SameFile(info, other))
	case e.kind == 0:
		same := info.Size() == e.size
		set(1, 's', !same)
		set(2, 't', info.ModTime().Unix() != e.modified.Unix())
		if same {
			var err error
			if same, err = u.sameBytes(e); err != nil {
				return "", err
			}
		}
		set(0, 'c', !same)
	}
	if u.Mode == nil && e.kind != fs.ModeSymlink && !e.hard {
		set(3, 'p', uint32(info.Mode().Perm()) != u.finalMode(e)&0o777)
	}
	var st unix.Stat_t
	if os.Geteuid() == 0 && e.uid >= 0 && unix.Lstat(filepath.Join(u.dest, e.name), &st) == nil {
		set(4, 'o', u.Owner == "" && int(st.Uid) != e.uid)
		set(5, 'g', u.Group == "" && int(st.Gid) != e.gid)
	}
	if strings.Trim(string(marks), ".") == "" {
		return "", nil
	}
	return string(marks), nil
}

// finalMode is the mode that the entry gets: the archive's, within the umask of
// a user who is not root.
func (u *unpacking) finalMode(e *packed) uint32 {
	if os.Geteuid() == 0 || u.preserve {
		return e.mode
	}
	return e.mode &^ perm.Umask()
}

func (u *unpacking) sameBytes(e *packed) (bool, error) {
	f, err := u.root.Open(e.name)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	a, b := make([]byte, 32<<10), make([]byte, 32<<10)
	for {
		n, err := io.ReadFull(e.content, a)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return false, u.broken(err)
		}
		m, _ := io.ReadFull(f, b)
		if !bytes.Equal(a[:n], b[:m]) {
			return false, nil
		}
		if err != nil {
			return true, nil
		}
	}
}

// write puts an entry in place. The root refuses every path that leads out of
// dest, also through links that the archive made before.
func (u *unpacking) write(e *packed) error {
	if err := u.Err(); err != nil {
		return err
	}
	if dir := path.Dir(e.name); dir != "." {
		if err := u.root.MkdirAll(dir, 0o755); err != nil {
			return u.refused(e, err)
		}
	}
	info, err := u.root.Lstat(e.name)
	there := err == nil
	if there && u.KeepNewer && e.kind == 0 && info.ModTime().After(e.modified) {
		return nil
	}
	if e.kind == fs.ModeDir {
		return u.writeDir(e, info, there)
	}
	if there && info.IsDir() {
		return Failf("cannot unpack %q: a folder is in its place", e.name)
	}
	temp := path.Join(path.Dir(e.name), ".unarchive-"+path.Base(e.name))
	if len(path.Base(temp)) > 250 {
		temp = path.Join(path.Dir(e.name), ".unarchive")
	}
	_ = u.root.Remove(temp) // left over from a run that was killed
	if err := u.fill(temp, e); err != nil {
		_ = u.root.Remove(temp)
		return err
	}
	if err := u.root.Rename(temp, e.name); err != nil {
		_ = u.root.Remove(temp)
		return u.refused(e, err)
	}
	if e.hard {
		_ = u.root.Remove(temp) // renaming one name of a file to another does nothing
	}
	return nil
}

func (u *unpacking) writeDir(e *packed, info fs.FileInfo, there bool) error {
	if there && !info.IsDir() {
		if info.Mode()&fs.ModeSymlink == 0 {
			return Failf("cannot unpack %q: a file is in its place", e.name)
		}
		if target, err := u.root.Stat(e.name); err != nil || !target.IsDir() {
			return u.refused(e, errors.New("a link that leads nowhere in the folder is in its place"))
		}
		return nil
	}
	if !there {
		if err := u.root.Mkdir(e.name, 0o700); err != nil {
			return u.refused(e, err)
		}
	}
	return u.dress(e.name, e)
}

// fill makes the entry under a name of its own.
func (u *unpacking) fill(temp string, e *packed) error {
	switch {
	case e.kind == fs.ModeSymlink:
		if err := u.root.Symlink(e.link, temp); err != nil {
			return u.refused(e, err)
		}
		if os.Geteuid() == 0 && e.uid >= 0 {
			if err := u.root.Lchown(temp, e.uid, e.gid); err != nil {
				return u.refused(e, err)
			}
		}
		return nil
	case e.hard:
		if e.link == "" {
			return Failf("cannot unpack %q: it is a link to a file that is left out", e.name)
		}
		if err := u.root.Link(e.link, temp); err != nil {
			return u.refused(e, err)
		}
		return nil
	}
	f, err := u.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return u.refused(e, err)
	}
	_, err = io.Copy(f, e.content)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return u.broken(err)
	}
	if err := u.dress(temp, e); err != nil {
		return err
	}
	return u.refused(e, u.root.Chtimes(temp, time.Now(), e.modified))
}

// dress gives owner and mode, the owner first as that clears setuid.
func (u *unpacking) dress(name string, e *packed) error {
	if os.Geteuid() == 0 && e.uid >= 0 {
		if err := u.root.Lchown(name, e.uid, e.gid); err != nil {
			return u.refused(e, err)
		}
	}
	mode := u.finalMode(e)
	bits := fs.FileMode(mode & 0o777)
	for bit, flag := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&bit != 0 {
			bits |= flag
		}
	}
	return u.refused(e, u.root.Chmod(name, bits))
}

// date sets the times of folders, which writing into them has changed.
func (u *unpacking) date(e *packed) error {
	if e.kind != fs.ModeDir {
		return nil
	}
	if info, err := u.root.Lstat(e.name); err != nil || !info.IsDir() {
		return nil
	}
	return u.refused(e, u.root.Chtimes(e.name, time.Now(), e.modified))
}

func (u *unpacking) refused(e *packed, err error) error {
	if err == nil {
		return nil
	}
	return Failf("cannot unpack %q into %q: %v", e.name, u.dest, err)
}
