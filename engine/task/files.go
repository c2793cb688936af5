package task

import (
	"os"
	"path/filepath"

	"play/engine/jinja"
	"play/engine/playbook"
)

// Files finds the control machine's files for one task: first in the role's
// folders (and its parents'), then beside the task file, then beside the
// playbook, each time in the kind's folder before the plain one.
type Files struct {
	dirs     []string
	playbook string
}

var _ jinja.Finder = (*Files)(nil)

func filesOf(t *playbook.Task, playbookDir string) *Files {
	f := &Files{playbook: playbookDir}
	if t != nil && t.Play != nil && t.Play.Dir != "" {
		f.playbook = t.Play.Dir
	}
	if t != nil {
		if t.Role != nil {
			f.add(t.Role.Path)
			for _, r := range t.Role.Parents {
				f.add(r.Path)
			}
		}
		f.add(t.Dir)
	}
	f.add(f.playbook)
	return f
}

func (f *Files) add(dir string) {
	if abs, err := filepath.Abs(dir); err == nil && dir != "" {
		dir = abs
	}
	if dir == "" || contains(f.dirs, dir) {
		return
	}
	f.dirs = append(f.dirs, dir)
}

// Dir is the playbook's folder.
func (f *Files) Dir() string { return f.playbook }

// Paths lists where a relative name would be looked for, in order.
func (f *Files) Paths(kind, name string) []string {
	if filepath.IsAbs(name) {
		return []string{name}
	}
	var paths []string
	for _, dir := range f.dirs {
		if kind != "" {
			paths = append(paths, filepath.Join(dir, kind, name))
		}
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

// Find returns the first existing path for a name; "~" is the home folder.
func (f *Files) Find(kind, name string) (string, bool) {
	for _, p := range f.Paths(kind, expandHome(name)) {
		if _, err := os.Stat(p); err == nil {
			return p, true
		}
	}
	return "", false
}

func expandHome(name string) string {
	if name == "~" || len(name) > 1 && name[:2] == "~/" {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, name[1:])
		}
	}
	return name
}

// SearchPath lists the folders where a task's files are looked for, in order.
func SearchPath(t *playbook.Task, playbookDir string) []string { return filesOf(t, playbookDir).dirs }

// PlaybookFiles finds files beside a playbook, for what is no task's.
func PlaybookFiles(dir string) *Files { return filesOf(nil, dir) }
