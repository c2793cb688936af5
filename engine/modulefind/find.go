// Package modulefind finds the files of modules that are not native: in the
// library folders of a playbook, its roles and the configuration, in collections
// on disk, and in an installed ansible-core. A name as it was written flows in,
// a file with what is known of it flows out. It reads files and folders only: it
// runs nothing, contacts no host and never decides whether a native module
// serves the name instead.
package modulefind

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Origin tells whose a module file is.
type Origin int

// The origins, in the order in which they win.
const (
	User       Origin = iota // a library folder of the operator's
	Core                     // the installed ansible-core
	Collection               // a collection on disk
)

// Module is a module's file.
type Module struct {
	Name    string // "ns.coll.name", or "name" for the user's own and ansible-core's
	Path    string
	Origin  Origin
	Package string // its dotted name in Python: "ansible.modules.name", "ansible_collections.ns.coll.plugins.modules.name"
	// Deprecations are what meta/runtime.yml says of the names on the way here.
	Deprecations []Deprecation
}

// Deprecation is one entry's text for people.
type Deprecation struct {
	Msg     string
	Version string // when it goes; "" when a date is given or nothing
	Date    string // YYYY-MM-DD
	From    string // the collection that says so
}

// NotFound says that there is no file for a name.
type NotFound struct {
	Name string
	Hint string // what to install, or ""
}

// Error names the module.
func (e *NotFound) Error() string {
	msg := fmt.Sprintf("cannot find the module %q", e.Name)
	if e.Hint != "" {
		msg += ": " + e.Hint
	}
	return msg
}

// Finder finds modules. Its exported fields are set before the first use; then
// it is safe for concurrent use.
type Finder struct {
	Library     []string // --module-path, ANSIBLE_LIBRARY, library of ansible.cfg
	Collections []string // folders that hold ansible_collections
	Roles       []string // folders that hold roles
	Core        string   // the folder of the installed Python package "ansible"; "": none

	mu        sync.Mutex
	playbooks []string
	routes    map[string]*routing
}

// AddPlaybook makes the library and roles beside a playbook known, and the
// collections there.
func (f *Finder) AddPlaybook(dir string) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.playbooks, dir) {
		f.playbooks = append(f.playbooks, dir)
	}
}

// Known reports whether there is a module of a name, without ansible.builtin.
// and whoever asks for it.
func (f *Finder) Known(name string) bool {
	_, err := f.Find(name, nil)
	_, none := err.(*NotFound)
	if none && name != "" && !strings.ContainsAny(name, "./") {
		return f.inRoles(name) != ""
	}
	return !none // one that was removed is known: the error of running it says so
}

// Find finds a module by the name that was written. beside are folders whose
// library goes first: the role's, its parents', the playbook's. The error is a
// *NotFound, or says that the module was removed.
func (f *Finder) Find(name string, beside []string) (*Module, error) {
	if strings.ContainsRune(name, '/') {
		return nil, &NotFound{Name: name}
	}
	if short, ok := strings.CutPrefix(name, "ansible.builtin."); ok {
		return f.builtin(short, &trail{})
	}
	name = strings.TrimPrefix(name, "ansible.legacy.")
	if strings.Contains(name, ".") {
		return f.collection(name, &trail{})
	}
	if m := f.Own(name, beside); m != nil {
		return m, nil
	}
	return f.builtin(name, &trail{})
}

// Own finds the operator's own file of a short name, or nil.
func (f *Finder) Own(name string, beside []string) *Module {
	if name == "" || strings.ContainsAny(name, "./") {
		return nil
	}
	f.mu.Lock()
	folders := slices.Concat(beside, f.playbooks)
	f.mu.Unlock()
	for i, dir := range folders {
		folders[i] = filepath.Join(dir, "library")
	}
	for _, dir := range append(folders, f.Library...) {
		if path := fileIn(dir, name); path != "" {
			return ownModule(name, path)
		}
	}
	if path := f.inRoles(name); path != "" && len(beside) > 0 {
		return ownModule(name, path)
	}
	return nil
}

func ownModule(name, path string) *Module {
	return &Module{Name: name, Path: path, Origin: User, Package: "ansible.modules." + name}
}

// inRoles finds a file in the library of any role, since every role that a play
// loads lends its library to the whole play.
func (f *Finder) inRoles(name string) string {
	f.mu.Lock()
	folders := slices.Clone(f.Roles)
	for _, dir := range f.playbooks {
		folders = append(folders, filepath.Join(dir, "roles"))
	}
	f.mu.Unlock()
	for _, dir := range folders {
		libraries, _ := filepath.Glob(filepath.Join(quoteGlob(dir), "*", "library")) // the pattern is quoted
		for _, lib := range libraries {
			if path := fileIn(lib, name); path != "" {
				return path
			}
		}
	}
	return ""
}

func quoteGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// ignored are endings of files that are no modules.
var ignored = []string{".pyc", ".pyo", ".swp", ".bak", "~", ".rpm", ".md", ".txt", ".rst", ".yaml", ".yml", ".ini"}

// fileIn finds a module's file in one folder: name.py first, then name with any
// other ending or none, then the same with "_" in front, as old modules are called.
func fileIn(dir, name string) string {
	if path := filepath.Join(dir, name+".py"); isFile(path) {
		return path
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	old := ""
	for _, e := range entries {
		file := e.Name()
		stem := strings.TrimSuffix(file, filepath.Ext(file))
		if slices.ContainsFunc(ignored, func(end string) bool { return strings.HasSuffix(file, end) }) || !isFile(filepath.Join(dir, file)) {
			continue
		}
		switch stem {
		case name:
			return filepath.Join(dir, file)
		case "_" + name:
			old = filepath.Join(dir, file)
		}
	}
	return old
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// builtin finds a module of ansible-core, following what its routing says of
// names that went to collections.
func (f *Finder) builtin(name string, t *trail) (*Module, error) {
	if f.Core == "" {
		return nil, &NotFound{Name: name, Hint: "it is not native, and no ansible-core is installed here (Debian and Ubuntu: apt install ansible-core; others: pip install ansible-core)"}
	}
	if path := fileIn(filepath.Join(f.Core, "modules"), name); path != "" {
		return &Module{Name: name, Path: path, Origin: Core, Package: "ansible.modules." + strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), Deprecations: t.notes}, nil
	}
	return f.routed("ansible.builtin", name, t)
}

// collection finds ns.coll.name, where name may have folders.
func (f *Finder) collection(name string, t *trail) (*Module, error) {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) < 3 {
		return nil, &NotFound{Name: name}
	}
	coll := parts[0] + "." + parts[1]
	if coll == "ansible.builtin" || coll == "ansible.legacy" {
		return f.builtin(parts[2], t)
	}
	m, err := f.routed(coll, parts[2], t)
	if _, none := err.(*NotFound); !none {
		return m, err
	}
	for _, root := range f.roots(coll) {
		sub := strings.Split(parts[2], ".")
		last := len(sub) - 1
		dir := filepath.Join(append([]string{root, "plugins", "modules"}, sub[:last]...)...)
		if path := fileIn(dir, sub[last]); path != "" {
			base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
			pkg := strings.Join(append([]string{"ansible_collections", coll, "plugins.modules"}, append(sub[:last:last], base)...), ".")
			return &Module{Name: name, Path: path, Origin: Collection, Package: pkg, Deprecations: t.notes}, nil
		}
	}
	return nil, f.missing(coll, name)
}

func (f *Finder) missing(coll, name string) error {
	e := &NotFound{Name: name}
	if coll != "ansible.builtin" && len(f.roots(coll)) == 0 {
		e.Hint = fmt.Sprintf("the collection %s is not on this machine (ansible-galaxy collection install %s)", coll, coll)
	}
	return e
}

// roots are the folders of a collection: the first is the one that counts, and
// namesakes in later folders are not looked at.
func (f *Finder) roots(coll string) []string {
	ns, name, _ := strings.Cut(coll, ".")
	f.mu.Lock()
	var folders []string
	for _, dir := range f.playbooks {
		folders = append(folders, filepath.Join(dir, "collections"))
	}
	f.mu.Unlock()
	folders = append(folders, f.Collections...)
	if f.Core != "" {
		folders = append(folders, filepath.Dir(f.Core))
	}
	for _, dir := range folders {
		if filepath.Base(dir) != "ansible_collections" {
			dir = filepath.Join(dir, "ansible_collections")
		}
		root := filepath.Join(dir, ns, name)
		if info, err := os.Stat(root); err == nil && info.IsDir() {
			return []string{root}
		}
	}
	return nil
}

// Root is the folder of a collection "ns.coll" on this machine, or "".
func (f *Finder) Root(coll string) string {
	if roots := f.roots(coll); len(roots) > 0 {
		return roots[0]
	}
	return ""
}
