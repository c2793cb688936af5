package modules

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"play/modules/perm"
)

// directory makes the path and its parents folders.
func (r *fileRun) directory() (*Result, error) {
	r.follow()
	diff := pathDiff(r.path, r.prior, "directory")
	switch {
	case r.prior == "absent":
		if r.Check {
			return pathResult("path", r.path, true, diff), nil
		}
		if err := r.makeFolders(diff); err != nil {
			return nil, err
		}
	case r.prior != "directory":
		return nil, r.refuse("%s already exists as a %s", r.path, r.prior)
	}
	changed, err := r.setAttributes(r.Call, r.path, diff)
	if err != nil {
		return nil, err
	}
	timed, err := r.setTimes(r.path, diff)
	if err != nil {
		return nil, err
	}
	if r.Recurse {
		below, err := r.recurse(r.path, map[string]bool{})
		if err != nil {
			return nil, err
		}
		changed = changed || below
	}
	return pathResult("path", r.path, changed || timed || r.prior == "absent", diff), nil
}

// makeFolders creates each missing folder with the asked-for attributes.
func (r *fileRun) makeFolders(diff *perm.Diff) error {
	current := ""
	if filepath.IsAbs(r.path) {
		current = "/"
	}
	for _, part := range strings.Split(strings.Trim(r.path, "/"), "/") {
		current = filepath.Join(current, part)
		if exists(current) {
			continue
		}
		err := os.Mkdir(current, 0o777)
		if errors.Is(err, os.ErrExist) && isDir(current) {
			continue
		}
		if err != nil {
			return r.refuse("There was an issue creating %s as requested: %s", current, osText(err, current))
		}
		if _, err := r.setAttributes(r.Call, current, diff); err != nil {
			return err
		}
	}
	return nil
}

// recurse applies the attributes to everything below a folder. Links are
// followed, when asked for, but no folder is entered twice.
func (r *fileRun) recurse(folder string, seen map[string]bool) (changed bool, err error) {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		if seen[real] {
			return false, nil
		}
		seen[real] = true
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false, r.refuse("Could not recursively set attributes on %s. Original error was: '%s'", r.path, osText(err, folder))
	}
	for _, e := range entries {
		c, err := r.recurseInto(filepath.Join(folder, e.Name()), seen)
		if err != nil {
			return changed, err
		}
		changed = changed || c
	}
	return changed, nil
}

func (r *fileRun) recurseInto(path string, seen map[string]bool) (changed bool, err error) {
	if isLink(path) {
		changed, err = r.setAttributes(r.Call, path, nil)
		if err != nil || !r.Follow || !exists(path) {
			return changed, err
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return changed, err
		}
	}
	c, err := r.setAttributes(r.Call, path, nil)
	if err != nil {
		return changed, err
	}
	changed = changed || c
	if isDir(path) {
		below, err := r.recurse(path, seen)
		return changed || below, err
	}
	return changed, nil
}
