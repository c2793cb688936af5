package modules

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"play/modules/perm"
	"play/modules/value"
)

// symlink makes the path a symbolic link to src.
func (r *fileRun) symlink() (*Result, error) {
	src, err := r.linkSource()
	if err != nil {
		return nil, err
	}
	target := filepath.Join(linkFolder(r.path, r.prior), src)
	if filepath.IsAbs(src) {
		target = src
	}
	if !r.Force && !exists(target) {
		f := Failf(`src file does not exist, use "force=yes" if you really want to create the link: %s`, target)
		f.With = value.DictOf("path", r.path, "src", src)
		return nil, f
	}
	if err := r.linkConflict(); err != nil {
		return nil, err
	}
	diff := pathDiff(r.path, r.prior, "link")
	changed := r.prior != "link"
	if old, err := os.Readlink(r.path); err == nil && old != src && !changed {
		diff.Before.Set("src", old)
		diff.After.Set("src", src)
		changed = true
	}
	if changed && !r.Check {
		if err := r.place(func(path string) error { return os.Symlink(src, path) }); err != nil {
			return nil, err
		}
	}
	if changed && r.Check {
		return linkResult(r.path, src, true, diff), nil
	}
	if r.Follow && !exists(r.path) {
		warning := "Cannot set fs attributes on a non-existent symlink target. follow should be set to False to avoid this."
		return linkResult(r.path, src, changed, diff).With("warnings", value.NewList(warning)), nil
	}
	c, err := r.linkAttributes(diff)
	return linkResult(r.path, src, changed || c, diff), err
}

func linkResult(path, src string, changed bool, diff *perm.Diff) *Result {
	out := &Result{value.DictOf("dest", path, "src", src, "changed", changed)}
	return out.With("diff", value.DictOf("before", diff.Before, "after", diff.After))
}

// linkSource is what the link shall say.
func (r *fileRun) linkSource() (string, error) {
	switch {
	case r.src != "":
		return r.src, nil
	case r.prior == "link":
		return os.Readlink(r.path)
	}
	return "", Failf("src is required for creating new symlinks")
}

func linkFolder(path, prior string) string {
	if prior == "directory" {
		return path
	}
	return filepath.Dir(path)
}

// linkConflict refuses to replace what is not a link, unless forced.
func (r *fileRun) linkConflict() error {
	switch {
	case r.prior == "directory" && !r.Force, (r.prior == "file" || r.prior == "hard") && !r.Force:
		return r.refuse("refusing to convert from %s to symlink for %s", r.prior, r.path)
	case r.prior == "directory":
		entries, err := os.ReadDir(r.path)
		if err != nil || len(entries) > 0 {
			return r.refuse("the directory %s is not empty, refusing to convert it", r.path)
		}
	}
	return nil
}

// place puts a link where the path is: over a file by rename, so that the path
// never misses.
func (r *fileRun) place(link func(path string) error) error {
	var err error
	if r.prior == "absent" {
		err = link(r.path)
	} else {
		err = r.swap(link)
	}
	if err != nil {
		return r.refuse("Error while linking: %s", osText(err, r.path))
	}
	return nil
}

func (r *fileRun) swap(link func(path string) error) error {
	dir, err := os.MkdirTemp(filepath.Dir(r.path), ".ansible_tmp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tmp := filepath.Join(dir, "link")
	if err := link(tmp); err != nil {
		return err
	}
	if r.prior == "directory" {
		if err := os.Remove(r.path); err != nil {
			return err
		}
	}
	return os.Rename(tmp, r.path)
}

// linkAttributes applies the attributes to the link, or to its target.
func (r *fileRun) linkAttributes(diff *perm.Diff) (bool, error) {
	path := r.path
	if r.Follow {
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return false, r.refuse("cannot follow the link %q: %v", path, err)
		}
		path = target
	}
	changed, err := r.setAttributes(r.Call, path, diff)
	if err != nil {
		return changed, err
	}
	timed, err := r.setTimes(path, diff)
	return changed || timed, err
}

// hardlink makes the path a further name of src.
func (r *fileRun) hardlink() (*Result, error) {
	src := r.src
	if src == "" {
		if r.prior != "hard" {
			return nil, Failf("src is required for creating new hardlinks")
		}
		return r.plain()
	}
	from := r.abs(src)
	if !filepath.IsAbs(from) {
		from, _ = filepath.Abs(from)
	}
	if !exists(from) {
		return nil, r.hardRefusal("src does not exist")
	}
	diff := pathDiff(r.path, r.prior, "hard")
	changed, err := r.hardChange(from, diff)
	if err != nil {
		return nil, err
	}
	if changed && r.Check {
		return linkResult(r.path, src, true, diff), nil
	}
	if changed {
		if err := r.place(func(path string) error { return os.Link(from, path) }); err != nil {
			return nil, err
		}
	}
	c, err := r.linkAttributes(diff)
	return linkResult(r.path, src, changed || c, diff), err
}

func (r *fileRun) hardRefusal(msg string) error {
	return &Failure{Msg: msg, With: value.DictOf("dest", r.path, "src", r.src)}
}

// hardChange tells whether the link has to be made, and whether it may.
func (r *fileRun) hardChange(from string, diff *perm.Diff) (bool, error) {
	switch r.prior {
	case "absent":
		return true, nil
	case "link":
		old, _ := os.Readlink(r.path)
		diff.Before.Set("src", old)
		diff.After.Set("src", r.src)
		return true, nil
	case "hard":
		if sameFile(from, r.path) {
			return false, nil
		}
		if !r.Force {
			return false, r.hardRefusal("Cannot link, different hard link exists at destination")
		}
		return true, nil
	case "file":
		if !r.Force {
			return false, r.hardRefusal("Cannot link, file exists at destination")
		}
		return true, nil
	}
	return false, r.hardRefusal("Cannot link, " + r.prior + " exists at destination")
}

func sameFile(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}
