package jinja

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"play/modules/value"
)

// fileTests look at files of the control machine.
func fileTests() []Builtin {
	mode := func(stat func(string) (fs.FileInfo, error), is func(fs.FileInfo) bool) func(*Call) (any, error) {
		return func(c *Call) (any, error) {
			path, err := wantPath(c.Value)
			if err != nil {
				return nil, err
			}
			info, err := stat(path)
			return err == nil && is(info), nil
		}
	}
	dir := mode(os.Stat, fs.FileInfo.IsDir)
	file := mode(os.Stat, func(i fs.FileInfo) bool { return i.Mode().IsRegular() })
	link := mode(os.Lstat, func(i fs.FileInfo) bool { return i.Mode()&fs.ModeSymlink != 0 })
	return []Builtin{
		{Name: "abs", Doc: "an absolute path", Fn: testAbs},
		{Name: "directory", Doc: "the path of a folder", Fn: dir},
		{Name: "exists", Doc: "the path of something that exists", Fn: mode(os.Stat, func(fs.FileInfo) bool { return true })},
		{Name: "file", Doc: "the path of a regular file", Fn: file},
		{Name: "is_abs", Doc: "an absolute path", Fn: testAbs},
		{Name: "is_dir", Doc: "the path of a folder", Fn: dir},
		{Name: "is_file", Doc: "the path of a regular file", Fn: file},
		{Name: "is_link", Doc: "the path of a symbolic link", Fn: link},
		{Name: "is_mount", Doc: "the path of a mount point", Fn: testMount},
		{Name: "is_same_file", Params: "other", Doc: "two paths of one file", Fn: testSameFile},
		{Name: "link", Doc: "the path of a symbolic link", Fn: link},
		{Name: "link_exists", Doc: "the path of something, or of a dangling link", Fn: mode(os.Lstat, func(fs.FileInfo) bool { return true })},
		{Name: "mount", Doc: "the path of a mount point", Fn: testMount},
		{Name: "same_file", Params: "other", Doc: "two paths of one file", Fn: testSameFile},
	}
}

func wantPath(v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", pathTypeError(v)
	}
	return s, nil
}

func testAbs(c *Call) (any, error) {
	path, err := wantPath(c.Value)
	return strings.HasPrefix(path, "/"), err
}

// testMount compares the device of a folder with that of its parent.
func testMount(c *Call) (any, error) {
	path, err := wantPath(c.Value)
	if err != nil {
		return nil, err
	}
	here, err := os.Lstat(path)
	if err != nil || here.Mode()&fs.ModeSymlink != 0 {
		return false, nil
	}
	up, err := os.Lstat(filepath.Join(realPath(path), ".."))
	if err != nil {
		return false, nil
	}
	a, aok := here.Sys().(*syscall.Stat_t)
	b, bok := up.Sys().(*syscall.Stat_t)
	return aok && bok && (a.Dev != b.Dev || a.Ino == b.Ino), nil
}

func testSameFile(c *Call) (any, error) {
	var infos [2]fs.FileInfo
	for i, v := range []any{c.Value, c.Args[0]} {
		path, err := wantPath(v)
		if err != nil {
			return nil, err
		}
		if infos[i], err = os.Stat(path); err != nil {
			return nil, fmt.Errorf("No such file or directory: %s", value.Repr(path))
		}
	}
	return os.SameFile(infos[0], infos[1]), nil
}

// uriTests judge texts as URIs, and as vaults.
func uriTests() []Builtin {
	return []Builtin{
		{Name: "uri", Params: "schemes=None", Doc: "a URI", Fn: func(c *Call) (any, error) { return isURI(c.Value, c.Args[0], "uri") }},
		{Name: "url", Params: "schemes=None", Doc: "a URL", Fn: func(c *Call) (any, error) { return isURI(c.Value, c.Args[0], "url") }},
		{Name: "urn", Doc: "a URN", Fn: func(c *Call) (any, error) { return isURI(c.Value, value.NewList("urn"), "urn") }},
		kindTest("vault_encrypted", "an inline vault that is still closed: never, here", func(any) bool { return false }),
	}
}

func isURI(v, schemes any, kind string) (any, error) {
	s, ok := v.(string)
	if !ok {
		return false, nil
	}
	parts, err := urlParts(s)
	if err != nil {
		return false, nil
	}
	scheme, _ := parts.Get("scheme")
	netloc, _ := parts.Get("netloc")
	if schemes != nil {
		if ok, err := value.Contains(schemes, scheme); err != nil || !ok {
			return false, err
		}
	}
	return kind != "url" || netloc != "" || scheme == "file", nil
}
