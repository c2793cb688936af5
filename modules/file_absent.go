package modules

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"play/modules/value"
)

// absent removes the path with all below it.
func (r *fileRun) absent() (*Result, error) {
	if r.prior == "absent" {
		return NewResult(false).With("path", r.path).With("state", "absent"), nil
	}
	diff := pathDiff(r.path, r.prior, "absent")
	if r.prior == "directory" {
		diff.Before.Set("path_content", treeContent(r.path))
	}
	if r.Check {
		return pathResult("path", r.path, true, diff), nil
	}
	if r.prior == "directory" {
		if err := os.RemoveAll(r.path); err != nil {
			return nil, Failf("rmtree failed: %s", osText(err, r.path))
		}
	} else if err := os.Remove(r.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		f := Failf("unlinking failed: %s ", osText(err, r.path))
		f.With = value.DictOf("path", r.path)
		return nil, f
	}
	return pathResult("path", r.path, true, diff).With("state", "absent"), nil
}

// treeContent lists what a directory holds, folders before what is in them.
func treeContent(dir string) *value.Dict {
	dirs, files := value.NewList(), value.NewList()
	var walk func(string)
	walk = func(folder string) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return
		}
		var below []string
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			if isDir(path) {
				dirs.Append(path)
			} else {
				files.Append(path)
			}
			if e.IsDir() {
				below = append(below, path)
			}
		}
		for _, path := range below {
			walk(path)
		}
	}
	walk(dir)
	return value.DictOf("directories", dirs, "files", files)
}

// appearsBinary looks for a zero byte near the start.
func appearsBinary(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8192)
	n, _ := io.ReadFull(f, head)
	return bytes.IndexByte(head[:n], 0) >= 0
}
