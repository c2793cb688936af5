package jinja

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"play/modules/value"
)

// fileProperties describes one entry for the filetree lookup.
func fileProperties(root, path string) (*value.Dict, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	d := value.DictOf("path", rel, "root", root+"/")
	switch {
	case info.IsDir():
		d.Set("state", "directory")
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return nil, err
		}
		d.Set("state", "link")
		d.Set("src", target)
	default:
		d.Set("src", path)
		d.Set("state", "file")
	}
	d.Set("mode", fmt.Sprintf("0%o", info.Mode().Perm()))
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		d.Set("owner", userName(st.Uid))
		d.Set("uid", int(st.Uid))
		d.Set("group", groupName(st.Gid))
		d.Set("gid", int(st.Gid))
		d.Set("ctime", float64(st.Ctim.Nano())/1e9)
	}
	d.Set("size", int(info.Size()))
	d.Set("mtime", float64(info.ModTime().UnixNano())/1e9)
	return d, nil
}

func userName(id uint32) any {
	u, err := user.LookupId(strconv.Itoa(int(id)))
	if err != nil {
		return int(id)
	}
	return u.Username
}

func groupName(id uint32) any {
	g, err := user.LookupGroupId(strconv.Itoa(int(id)))
	if err != nil {
		return int(id)
	}
	return g.Name
}
