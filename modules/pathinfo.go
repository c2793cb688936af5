package modules

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"

	"play/modules/perm"
	"play/modules/value"
)

// withPathInfo describes the file that a result names under "path" or "dest":
// owner, group, mode, size and state, as Ansible does for every module.
func withPathInfo(r *Result, err error) (*Result, error) {
	var f *Failure
	if errors.As(err, &f) && f.With != nil {
		with := f.With.Clone()
		addPathInfo(with)
		return r, &Failure{Msg: f.Msg, With: with}
	}
	if err == nil && r != nil {
		addPathInfo(r.Dict)
	}
	return r, err
}

func addPathInfo(d *value.Dict) {
	named, ok := d.Get("path")
	if !ok {
		named, _ = d.Get("dest")
	}
	path, ok := named.(string)
	if !ok {
		return
	}
	var st unix.Stat_t
	if !exists(path) || unix.Lstat(path, &st) != nil {
		return
	}
	mode := uint32(st.Mode)
	d.Set("uid", int(st.Uid))
	d.Set("gid", int(st.Gid))
	d.Set("owner", nameOr(perm.UserName, int(st.Uid)))
	d.Set("group", nameOr(perm.GroupName, int(st.Gid)))
	d.Set("mode", perm.Octal(mode&0o7777))
	d.Set("state", pathState(path))
	if perm.SELinux() {
		if label, err := perm.FileContext(path); err == nil {
			d.Set("secontext", label)
		}
	}
	d.Set("size", int(st.Size))
}

func nameOr(find func(int) (string, bool), id int) string {
	if name, ok := find(id); ok {
		return name
	}
	return strconv.Itoa(id)
}

// pathState is what Ansible calls a path: absent, link, directory, hard (more
// than one name) or file.
func pathState(path string) string {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return "absent"
	}
	switch {
	case isLink(path):
		return "link"
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return "directory"
	case st.Nlink > 1:
		return "hard"
	}
	return "file"
}

// accessible asks the kernel whether the user may use path in a way (unix.R_OK…).
func accessible(path string, how uint32) bool {
	return unix.Access(path, how) == nil
}
