package action

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"play/engine/jinja"
	"play/engine/task"
	"play/modules/value"
)

// includeVars loads variables from the operator's files while the play runs.
func (d *Deps) includeVars(_ context.Context, a *task.Attempt) (*value.Dict, error) {
	if err := onlyArgs(a, "_raw_params", "depth", "dir", "extensions", "file", "files_matching", "hash_behaviour",
		"ignore_files", "ignore_unknown_extensions", "name"); err != nil {
		return nil, err
	}
	files, err := includedFiles(a)
	if err != nil {
		return nil, err
	}
	all := value.NewDict()
	loaded := value.NewList()
	for _, f := range files {
		vars, err := d.Loader.Vars(f)
		if err != nil {
			return nil, err
		}
		all.Update(vars)
		all.Lazy = all.Lazy || vars.Lazy
		loaded.Append(f)
	}
	if name := argString(a, "name"); name != "" {
		named := value.DictOf(name, all)
		named.Lazy = all.Lazy
		all = named
	}
	if err := d.combined(a, all); err != nil {
		return nil, err
	}
	return value.DictOf("changed", false, "ansible_facts", all, "ansible_included_var_files", loaded), nil
}

// combined merges what was read into the variables of the same names, where
// hash_behaviour is given and is not the configured one.
func (d *Deps) combined(a *task.Attempt, read *value.Dict) error {
	configured := "replace"
	if d.HashMerge {
		configured = "merge"
	}
	behaviour := argString(a, "hash_behaviour")
	if behaviour == "" || behaviour == configured {
		return nil
	}
	for i := range read.Len() {
		name, v := read.At(i)
		old, _ := a.Scope.Lookup(value.Str(name))
		low, ok1 := old.(*value.Dict)
		high, ok2 := v.(*value.Dict)
		if !ok1 || !ok2 {
			return fmt.Errorf("failed to combine variables, expected dicts but got a '%s' and a '%s': \n%s\n%s",
				loadedType(old), loadedType(v), asJSON(old), asJSON(v))
		}
		both := value.Combine(low, high)
		if behaviour != "merge" {
			both = low.Clone()
			both.Update(high)
			both.Lazy = low.Lazy || high.Lazy
		}
		read.SetAt(i, both)
		read.Lazy = read.Lazy || both.Lazy
	}
	return nil
}

// loadedType is what Python calls the class of a loaded value.
func loadedType(v any) string {
	switch v.(type) {
	case string, *jinja.Template:
		return "AnsibleUnicode"
	case *value.List:
		return "AnsibleSequence"
	case *value.Dict:
		return "AnsibleMapping"
	}
	return value.TypeName(v)
}

// asJSON shows a loaded value, templates as they were written.
func asJSON(v any) string {
	if t, ok := v.(*jinja.Template); ok {
		v = t.Source
	}
	text, err := value.EncodeJSON(v, value.JSONOptions{})
	if err != nil {
		return value.Repr(v)
	}
	return text
}

// includedFiles lists the files that the arguments name, in loading order.
func includedFiles(a *task.Attempt) ([]string, error) {
	dir := argString(a, "dir")
	if dir == "" {
		name := argString(a, "file", "_raw_params")
		path, ok, err := a.Find("vars", name, "file", "_raw_params")
		if !ok {
			return nil, noVars(notFound(a, "vars", name).Error())
		}
		return []string{path}, err
	}
	root := includedDir(a, dir)
	if err := a.MayRead(root, dir, "dir"); err != nil {
		return nil, err
	}
	if info, err := os.Stat(root); err != nil {
		return nil, dirFailure("%s directory does not exist", root)
	} else if !info.IsDir() {
		return nil, dirFailure("%s is not a directory", root)
	}
	return varsFiles(a, root)
}

// includedDir is where a folder of variables is: in the vars folder of the role,
// else beside the task's file.
func includedDir(a *task.Attempt, dir string) string {
	switch {
	case filepath.IsAbs(dir):
		return dir
	case a.Task.Role == nil:
		return filepath.Join(absolute(a.Task.Dir), dir)
	case strings.SplitN(dir, "/", 2)[0] == "vars":
		return filepath.Join(absolute(a.Task.Role.Path), dir)
	}
	return filepath.Join(absolute(a.Task.Role.Path), "vars", dir)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func dirFailure(format, dir string) error { return noVars(fmt.Sprintf(format, dir)) }

func noVars(msg string) error {
	return &task.Fail{Result: value.DictOf("changed", false, "failed", true, "ansible_facts", value.NewDict(),
		"ansible_included_var_files", value.NewList(), "message", msg)}
}

// varsFiles walks a folder for files of variables.
func varsFiles(a *task.Attempt, root string) ([]string, error) {
	extensions := []string{"yaml", "yml", "json"}
	if v, ok := a.Args.Get("extensions"); ok {
		extensions = names(v)
	}
	var matching *regexp.Regexp
	if m := argString(a, "files_matching"); m != "" {
		var err error
		if matching, err = regexp.Compile(m); err != nil {
			return nil, task.Failf("cannot read 'files_matching': %v", err)
		}
	}
	depth := 0
	if v, ok := a.Args.Get("depth"); ok {
		n, _ := number(v)
		depth = int(n)
	}
	var ignore []string
	if v, ok := a.Args.Get("ignore_files"); ok {
		ignore = names(v)
	}
	skipUnknown, err := argBool(a, "ignore_unknown_extensions", false)
	if err != nil {
		return nil, err
	}
	var files []string
	err = filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if e.IsDir() {
			if depth > 0 && rel != "." && strings.Count(rel, "/")+1 >= depth {
				return filepath.SkipDir
			}
			return nil
		}
		if contains(ignore, e.Name()) || matching != nil && !matching.MatchString(e.Name()) {
			return nil
		}
		if !contains(extensions, strings.TrimPrefix(filepath.Ext(path), ".")) {
			if skipUnknown {
				return nil
			}
			return task.Failf("%s does not have a valid extension: %s", path, strings.Join(extensions, ", "))
		}
		files = append(files, path)
		return nil
	})
	sort.Strings(files)
	return files, err
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
