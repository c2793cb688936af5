// Package perm brings a file's owner, group, mode, SELinux context and
// attribute flags to a wanted state. Flowing in: what a task asks for. Flowing
// out: whether something changed, and the values before and after. File modules
// call it; it never touches a file's content.
package perm

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"play/modules/value"
)

// Wanted is what a task asks for; zero fields ask for nothing.
type Wanted struct {
	Owner, Group string
	Mode         any // nil, an int (the bits) or a string (octal or symbolic)
	Attributes   string
	Context      Context
	Umask        uint32 // for symbolic modes that name nobody ("+w")
}

// Diff collects the values that differ.
type Diff struct{ Before, After *value.Dict }

// NewDiff returns an empty Diff.
func NewDiff() *Diff { return &Diff{value.NewDict(), value.NewDict()} }

func (d *Diff) set(key string, before, after any) {
	if d != nil {
		d.Before.Set(key, before)
		d.After.Set(key, after)
	}
}

// Error is a failure with Ansible's message.
type Error struct {
	Msg, Path string
	Details   string // "": none
	Warning   string // "": none
}

// Error returns the message.
func (e *Error) Error() string { return e.Msg }

// Stat is what the package needs to know of a file.
type Stat struct {
	UID, GID int
	Mode     uint32 // permission bits with setuid, setgid and sticky
	Dir      bool
}

// Lstat reads a file without following a link.
func Lstat(path string) (Stat, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return Stat{}, err
	}
	mode := uint32(st.Mode)
	return Stat{int(st.Uid), int(st.Gid), mode & 0o7777, mode&unix.S_IFMT == unix.S_IFDIR}, nil
}

// Apply brings path to the wanted state, or in check mode only tells whether it
// would change. A file that is missing in check mode counts as changed. diff
// may be nil. The error is an *Error.
func (w *Wanted) Apply(path string, check bool, diff *Diff) (bool, error) {
	if check && w.asks() && missing(path) {
		return true, nil
	}
	changed := false
	for _, step := range []func(string, bool, *Diff) (bool, error){
		w.applyContext, w.applyOwner, w.applyGroup, w.applyMode, w.applyAttributes,
	} {
		c, err := step(path, check, diff)
		if err != nil {
			return changed, err
		}
		changed = changed || c
	}
	return changed, nil
}

func (w *Wanted) asks() bool {
	return w.Owner != "" || w.Group != "" || w.Mode != nil || w.Attributes != ""
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

func (w *Wanted) applyOwner(path string, check bool, diff *Diff) (bool, error) {
	if w.Owner == "" {
		return false, nil
	}
	uid, ok := UserID(w.Owner)
	if !ok {
		e := &Error{Msg: "chown failed: failed to look up user " + w.Owner, Path: path}
		if check {
			e.Warning = fmt.Sprintf("failed to look up user %s. Create user up to this point in real play", w.Owner)
		}
		return false, e
	}
	st, err := Lstat(path)
	if err != nil {
		return false, &Error{Msg: "chown failed", Path: path, Details: err.Error()}
	}
	if st.UID == uid {
		return false, nil
	}
	diff.set("owner", st.UID, uid)
	if check {
		return true, nil
	}
	if err := os.Lchown(path, uid, -1); err != nil {
		return false, &Error{Msg: "chown failed", Path: path, Details: detail(err)}
	}
	return true, nil
}

func (w *Wanted) applyGroup(path string, check bool, diff *Diff) (bool, error) {
	if w.Group == "" {
		return false, nil
	}
	gid, ok := GroupID(w.Group)
	if !ok {
		e := &Error{Msg: "chgrp failed: failed to look up group " + w.Group, Path: path}
		if check {
			e.Warning = fmt.Sprintf("failed to look up group %s. Create group up to this point in real play", w.Group)
		}
		return false, e
	}
	st, err := Lstat(path)
	if err != nil {
		return false, &Error{Msg: "chgrp failed", Path: path, Details: err.Error()}
	}
	if st.GID == gid {
		return false, nil
	}
	diff.set("group", st.GID, gid)
	if check {
		return true, nil
	}
	if err := os.Lchown(path, -1, gid); err != nil {
		return false, &Error{Msg: "chgrp failed", Path: path, Details: detail(err)}
	}
	return true, nil
}

func (w *Wanted) applyMode(path string, check bool, diff *Diff) (bool, error) {
	if w.Mode == nil {
		return false, nil
	}
	st, err := Lstat(path)
	if err != nil {
		return false, &Error{Msg: "chmod failed", Path: path, Details: detail(err)}
	}
	mode, err := Resolve(w.Mode, st, w.Umask)
	if err != nil {
		return false, &Error{Msg: "mode must be in octal or symbolic form", Path: path, Details: err.Error()}
	}
	if mode == st.Mode {
		return false, nil
	}
	diff.set("mode", Octal(st.Mode), Octal(mode))
	if check {
		return true, nil
	}
	if isLink(path) {
		return false, nil // Linux has no modes on links
	}
	if err := unix.Chmod(path, mode); err != nil {
		return false, &Error{Msg: "chmod failed", Path: path, Details: detail(err)}
	}
	after, err := Lstat(path)
	return err == nil && after.Mode != st.Mode, nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// Octal spells a mode as Ansible does: "0644", "04755".
func Octal(mode uint32) string { return fmt.Sprintf("0%03o", mode) }

// detail is the bare reason of an error, without operation and path.
func detail(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}
