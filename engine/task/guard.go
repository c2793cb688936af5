package task

import (
	"fmt"
	"path/filepath"
	"strings"

	"play/engine/jinja"
	"play/engine/playbook"
)

// Find finds a local file that one of the arguments (or a word of it) names, as
// Files.Find does. When a host's data had a part in the name and the file lies
// outside of the playbook's folders, it is warned of or, where that is strict,
// refused.
func (a *Attempt) Find(kind, name string, args ...string) (path string, ok bool, err error) {
	path, ok = a.Files.Find(kind, name)
	if !ok {
		return path, false, nil
	}
	return path, true, a.MayRead(path, name, args...)
}

// MayRead judges a path of the control machine that was made of the name in one
// of the arguments, as Find does.
func (a *Attempt) MayRead(path, name string, args ...string) error {
	for _, arg := range args {
		if a.fromHost[arg] && !a.wroteOut(arg, name) {
			return a.Executor.named(a.Task, a.Files, path)
		}
	}
	return nil
}

// wroteOut tells whether the argument's text, as it was written, begins with the
// whole name, before any template in it.
func (a *Attempt) wroteOut(arg, name string) bool {
	raw, _ := a.Task.Args.Get(arg)
	t, ok := raw.(*jinja.Template)
	return ok && strings.HasPrefix(strings.TrimSpace(t.Source), name+" ")
}

// named judges a path in whose name a host's data had a part.
func (x *Executor) named(t *playbook.Task, files *Files, path string) error {
	return HostChose(files, path, x.Options.Strict, func(msg string) { x.Sink.Warning(msg, t.Pos) })
}

// HostChose judges a path of the control machine in whose name a host's data had
// a part: outside of the playbook's folders it is refused where that is strict,
// and warned of otherwise.
func HostChose(files *Files, path string, strict bool, warn func(msg string)) error {
	if files.Within(path) {
		return nil
	}
	if strict {
		return Failf("cannot use %q: a host's data chose this file, and it lies outside of the playbook's folders (--strict)", path)
	}
	warn(fmt.Sprintf("a host's data chose the file %q, which lies outside of the playbook's folders; --strict refuses it", path))
	return nil
}

// Within tells whether a path lies in the playbook's folder or in one of those
// where the task's files are looked for.
func (f *Files) Within(path string) bool {
	path = absolute(path)
	for _, dir := range append(f.dirs[:len(f.dirs):len(f.dirs)], absolute(f.playbook)) {
		if rel, err := filepath.Rel(dir, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return true
		}
	}
	return false
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// MayInclude judges the file that a dynamic include of a task found, when a
// host's data named it.
func (x *Executor) MayInclude(t *playbook.Task, path string) error {
	return x.named(t, filesOf(t, x.Playbook), path)
}
