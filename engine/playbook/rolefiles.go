package playbook

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// yamlEndings are the endings of YAML files, in the order in which they are
// tried.
var yamlEndings = []string{".yml", ".yaml", ".json", ""}

// roleMeta is what meta/main.yml says.
type roleMeta struct {
	file            *yamlload.File
	dependencies    []*yaml.Node
	allowDuplicates bool
	collections     []string
	argumentSpecs   *value.Dict
}

// role reads a role's defaults, vars and meta for one application. Applications
// with the same files and parents share one Role.
func (l *Loader) role(p place, app *application, dir, collection string) (*Role, *roleMeta, error) {
	meta, err := l.meta(dir)
	if err != nil {
		return nil, nil, err
	}
	if collection != "" {
		meta.collections = append([]string{collection}, meta.collections...)
	}
	key := roleKey{dir: dir, vars: app.from.vars, defaults: app.from.defaults, parent: p.role, play: p.play, dependency: app.dependency}
	l.mu.Lock()
	known := l.roles[key]
	l.mu.Unlock()
	if known != nil {
		return known, meta, nil
	}
	name := app.name
	if collection != "" {
		name = collection + "." + filepath.Base(dir)
	}
	role := &Role{Name: name, Path: dir, Collection: collection, AllowDuplicates: meta.allowDuplicates, Dependency: app.dependency}
	if p.role != nil {
		role.Parents = append([]*Role{p.role}, p.role.Parents...)
	}
	if role.Defaults, err = l.roleVars(dir, "defaults", app.from.defaults); err != nil {
		return nil, nil, err
	}
	if role.Vars, err = l.roleVars(dir, "vars", app.from.vars); err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.roles == nil {
		l.roles = map[roleKey]*Role{}
	}
	l.roles[key] = role
	return role, meta, nil
}

// roleKey tells Roles apart.
type roleKey struct {
	dir, vars, defaults string
	parent              *Role
	play                *Play
	dependency          bool
}

func (l *Loader) meta(dir string) (*roleMeta, error) {
	meta := &roleMeta{}
	path := roleFile(dir, "meta", "")
	if path == "" {
		return meta, nil
	}
	f, err := l.file(path)
	if err != nil {
		return nil, err
	}
	root := yamlload.Follow(f.Root)
	if f.IsNull(root) {
		return meta, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, source.Errorf(f.Pos(root), "the 'meta/main.yml' for role %s is not a dictionary", filepath.Base(dir))
	}
	meta.file = f
	entries, err := f.Entries(root)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := meta.entry(f, e); err != nil {
			return nil, err
		}
	}
	return meta, nil
}

func (m *roleMeta) entry(f *yamlload.File, e yamlload.Entry) error {
	switch e.Name {
	case "dependencies":
		if f.IsNull(e.Node) {
			return nil
		}
		if e.Node.Kind != yaml.SequenceNode {
			return source.Errorf(f.Pos(e.Node), "expected role dependencies to be a list, not %s", kindOf(e.Node))
		}
		for _, n := range e.Node.Content {
			m.dependencies = append(m.dependencies, yamlload.Follow(n))
		}
	case "allow_duplicates":
		v, err := f.Data(e.Node)
		if err != nil {
			return err
		}
		if !isBool(v) {
			return source.Errorf(f.Pos(e.Node), "allow_duplicates must be true or false")
		}
		m.allowDuplicates = truth(v)
	case "argument_specs":
		v, err := f.Data(e.Node)
		if err != nil {
			return err
		}
		m.argumentSpecs, _ = v.(*value.Dict)
	case "collections":
		v, err := f.Data(e.Node)
		if err != nil {
			return err
		}
		m.collections = collectionsOf(Keywords{"collections": {Value: v}})
	}
	return nil
}

// truth is the boolean that a literal stands for.
func truth(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return boolWords[strings.ToLower(strings.TrimSpace(v))]
	}
	return value.Truth(v)
}

// roleVars reads vars/main.yml or defaults/main.yml, or every file below a
// folder of that name.
func (l *Loader) roleVars(dir, kind, from string) (*value.Dict, error) {
	if from == "" {
		if sub := filepath.Join(dir, kind, "main"); isDir(sub) && roleFile(dir, kind, "") == "" {
			return l.varsBelow(sub)
		}
	}
	path := roleFile(dir, kind, from)
	if path == "" {
		if from != "" {
			return nil, source.Errorf(source.Pos{}, "Could not find specified file in role: %s/%s", kind, from)
		}
		return value.NewDict(), nil
	}
	return l.varsFile(path)
}

// varsBelow merges every vars file in a folder and its folders, sorted.
func (l *Loader) varsBelow(dir string) (*value.Dict, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if !entry.IsDir() && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, "~") {
			if ext := filepath.Ext(name); ext == ".yml" || ext == ".yaml" || ext == ".json" {
				paths = append(paths, path)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sort.Strings(paths)
	all := value.NewDict()
	for _, path := range paths {
		d, err := l.varsFile(path)
		if err != nil {
			return nil, err
		}
		if l.HashMerge {
			d = value.Combine(all, d)
		}
		all.Update(d)
		all.Lazy = all.Lazy || d.Lazy
		if f, err := l.file(path); err == nil && f.Root != nil {
			l.note(all, f, f.Root)
		}
	}
	return all, nil
}

// varsFile reads a file of variables, once.
func (l *Loader) varsFile(path string) (*value.Dict, error) {
	f, err := l.file(path)
	if err != nil {
		return nil, err
	}
	d, err := f.Vars(f.Root)
	if err == nil && f.Root != nil {
		l.note(d, f, f.Root)
	}
	return d, err
}

// roleFile finds a file in a folder of a role: main, or the one that *_from
// names, with or without its ending. It is "" when there is none.
func roleFile(dir, kind, from string) string {
	if from == "" {
		for _, ending := range yamlEndings {
			if path := filepath.Join(dir, kind, "main"+ending); isFile(path) {
				return path
			}
		}
		return ""
	}
	for _, ending := range append([]string{""}, yamlEndings...) {
		if path := filepath.Join(dir, kind, from+ending); isFile(path) {
			return path
		}
	}
	return ""
}

// findRole returns a role's folder, and its collection when it is part of one.
func (l *Loader) findRole(p place, name string) (dir, collection string, err error) {
	if parts := strings.Split(name, "."); len(parts) >= 3 && !strings.Contains(name, "/") {
		// ns.coll.sub.web is the folder roles/sub/web of the collection.
		if dir := l.collectionRole(parts[0]+"."+parts[1], filepath.Join(parts[2:]...)); dir != "" {
			return dir, parts[0] + "." + parts[1], nil
		}
	}
	for _, c := range p.collections {
		if dir := l.collectionRole(c, name); dir != "" {
			return dir, c, nil
		}
	}
	folders := l.roleFolders(p)
	for _, folder := range folders {
		if dir := filepath.Join(folder, expandHome(name)); isDir(dir) && !filepath.IsAbs(expandHome(name)) {
			return absDir(dir), "", nil
		}
	}
	if dir := expandHome(name); filepath.IsAbs(dir) && isDir(dir) {
		return dir, "", nil
	}
	missing := source.Errorf(source.Pos{}, "the role '%s' was not found in %s", name, strings.Join(folders, ":"))
	if near := source.Nearest(name, rolesIn(folders)); near != "" {
		return "", "", missing.WithHint("did you mean %q?", near)
	}
	return "", "", missing
}

// roleFolders lists where roles are looked for.
func (l *Loader) roleFolders(p place) []string {
	base := "."
	if p.play != nil && p.play.Dir != "" {
		base = p.play.Dir
	}
	folders := append([]string{filepath.Join(base, "roles")}, l.RolesPath...)
	if p.role != nil {
		folders = append(folders, filepath.Dir(p.role.Path))
	}
	folders = append(folders, base)
	var unique []string
	seen := map[string]bool{}
	for _, f := range folders {
		if f = absDir(expandHome(f)); !seen[f] {
			seen[f] = true
			unique = append(unique, f)
		}
	}
	return unique
}

func rolesIn(folders []string) []string {
	var names []string
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	return names
}

// collectionRole is the folder of a collection's role, or "".
func (l *Loader) collectionRole(collection, name string) string {
	if dir := l.collectionDir(collection, filepath.Join("roles", name)); isDir(dir) {
		return dir
	}
	return ""
}

// collectionDir is a path inside a collection, or "" when there is none.
func (l *Loader) collectionDir(collection, sub string) string {
	namespace, name, ok := strings.Cut(collection, ".")
	if !ok {
		return ""
	}
	if l.CollectionRoot != nil {
		path := filepath.Join(l.CollectionRoot(collection), sub)
		if filepath.IsAbs(path) && (isDir(path) || isFile(path)) {
			return path
		}
		return ""
	}
	for _, root := range l.CollectionsPath {
		root = expandHome(root)
		for _, top := range []string{filepath.Join(root, "ansible_collections"), root} {
			if path := filepath.Join(top, namespace, name, sub); isDir(path) || isFile(path) {
				return absDir(path)
			}
		}
	}
	return ""
}

// expandHome replaces a leading "~" by the home folder.
func expandHome(path string) string {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return home + path[1:]
}
