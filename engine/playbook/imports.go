package playbook

import (
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/jinja"
	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// importPlaybook puts the plays of another playbook in place of its entry.
func (r *reader) importPlaybook(p place, n *yaml.Node, entries []yamlload.Entry) []*Play {
	c := newCommon()
	var target yamlload.Entry
	for _, e := range entries {
		switch name := stripPrefix(e.Name); {
		case name == "import_playbook" || name == "include":
			target = e
		case onImport.allows(name):
			r.decode(p, onImport, e, &c)
		default:
			r.fail(unknownKeyword(onImport, keyText(e), p.file.Pos(e.KeyNode), nil))
		}
	}
	path := r.importPath(p, target, c.Vars)
	if path == "" {
		return nil
	}
	if p.chain.has(path) {
		r.failf(p.file.Pos(target.Node), "cannot import playbook %q: it imports itself: %s", path, &chain{path: path, outer: p.chain})
		return nil
	}
	plays := r.playbook(path, p.chain)
	for _, play := range plays {
		play.imported(&c)
	}
	return plays
}

// importPath is the file that import_playbook names, or "" after a mistake.
func (r *reader) importPath(p place, e yamlload.Entry, vars *value.Dict) string {
	pos := p.file.Pos(e.Node)
	v, err := p.file.Value(e.Node)
	if err != nil {
		r.fail(err)
		return ""
	}
	name, err := r.staticText(p, vars, v)
	if err != nil {
		r.fail(placed(err, pos))
		return ""
	}
	if name == "" {
		r.failf(pos, "playbook import parameter is missing")
		return ""
	}
	if parts := strings.SplitN(name, ".", 3); len(parts) == 3 && !strings.Contains(name, "/") {
		for _, ending := range []string{".yml", ".yaml", ""} {
			if path := r.l.collectionDir(parts[0]+"."+parts[1], filepath.Join("playbooks", parts[2]+ending)); path != "" {
				return path
			}
		}
	}
	path := expandHome(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	if !isFile(path) {
		r.failf(pos, "cannot import playbook %q: there is no such file", path)
		return ""
	}
	return path
}

// imported gives a play what its import_playbook says: vars (over the play's
// own), tags, and a condition on everything in it.
func (play *Play) imported(c *common) {
	play.Vars.Update(c.Vars)
	play.Vars.Lazy = play.Vars.Lazy || c.Vars.Lazy
	play.Tags = append(append([]any(nil), c.Tags...), play.Tags...)
	if len(c.When) == 0 {
		return
	}
	for _, nodes := range [][]Node{play.PreTasks, play.Tasks, play.PostTasks} {
		for _, n := range nodes {
			switch n := n.(type) {
			case *Block:
				n.When = joinConds(c.When, n.When)
			case *Task:
				n.When = joinConds(c.When, n.When)
			}
		}
	}
	for _, b := range play.Roles {
		b.When = joinConds(c.When, b.When)
	}
}

func joinConds(first, second []*jinja.Cond) []*jinja.Cond {
	return append(append([]*jinja.Cond(nil), first...), second...)
}

// includeOptions are the arguments of each include and import.
var includeOptions = map[string][]string{
	"include_tasks": {"_raw_params", "apply", "file"},
	"import_tasks":  {"_raw_params", "file"},
	"include_role": {"allow_duplicates", "apply", "defaults_from", "handlers_from", "name", "public",
		"role", "rolespec_validate", "tasks_from", "vars_from"},
	"import_role": {"allow_duplicates", "apply", "defaults_from", "handlers_from", "name",
		"role", "rolespec_validate", "tasks_from", "vars_from"},
}

// includeKeywords may stand on a dynamic include; others would have no effect
// on what it brings.
var includeKeywords = map[string]bool{
	"collections": true, "debugger": true, "ignore_errors": true, "run_once": true, "no_log": true, "timeout": true,
}

// checkInclude finds what an include or import cannot have.
func (d *taskDecoder) checkInclude() {
	t := d.task
	if t.Action == "include" {
		d.oldInclude()
	}
	allowed := includeOptions[t.Action]
	if allowed == nil {
		return
	}
	var bad []string
	for k := range t.Args.All() {
		if name, _ := k.(string); !contains(allowed, name) {
			bad = append(bad, plainText(k))
		}
	}
	if len(bad) > 0 {
		d.failf(t.Pos, "Invalid options for %s: %s", t.Written, strings.Join(bad, ","))
	}
	if t.Action == "include_role" && t.Handler {
		d.failf(t.Pos, "Using '%s' as a handler is not supported.", t.Written)
	}
	if strings.HasPrefix(t.Action, "include_") {
		d.checkIncludeKeywords()
	} else if t.Loop != nil {
		d.fail(source.Errorf(t.Loop.Pos, "You cannot use loops on '%s' statements. You should use 'include_%s' instead.",
			t.Written, strings.TrimPrefix(t.Action, "import_")))
	}
	_, name := t.Args.Get("name")
	_, role := t.Args.Get("role")
	if strings.HasSuffix(t.Action, "_role") && !name && !role && t.ArgsFrom == nil {
		d.failf(t.Pos, "'name' is a required field for %s.", t.Written)
	}
	_, raw := t.Args.Get("_raw_params")
	_, file := t.Args.Get("file")
	if strings.HasSuffix(t.Action, "_tasks") && !raw && !file && t.ArgsFrom == nil {
		d.failf(t.Pos, "No file specified for %s", t.Written)
	}
}

func (d *taskDecoder) checkIncludeKeywords() {
	kind := "TaskInclude"
	if d.task.Action == "include_role" {
		kind = "IncludeRole"
	}
	var names []string
	for name := range d.common.Keywords {
		if !includeKeywords[name] {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, n := range d.common.Notify {
		d.fail(source.Errorf(n.Pos, "'notify' is not a valid attribute for a %s", kind).WithHint("put it under apply: in %s", d.task.Written))
		break
	}
	for _, name := range names {
		d.fail(source.Errorf(d.common.Keywords[name].Pos, "'%s' is not a valid attribute for a %s", name, kind).
			WithHint("put it under apply: in %s, or on a block around it", d.task.Written))
	}
}

// oldInclude makes the old "include" the static or the dynamic one: dynamic
// when it loops or when its name is a template. Other arguments are vars.
func (d *taskDecoder) oldInclude() {
	t := d.task
	d.warn(t.Pos, "\"include\" is deprecated, use include_tasks, import_tasks or import_playbook instead")
	raw, _ := t.Args.Get("_raw_params")
	t.Action = "import_tasks"
	if _, templated := raw.(*jinja.Template); templated || t.Loop != nil {
		t.Action = "include_tasks"
	}
	for _, k := range t.Args.Keys() {
		if name, _ := k.(string); !contains(includeOptions["include_tasks"], name) {
			v, _ := t.Args.GetKey(k)
			_ = d.common.Vars.SetKey(k, v)
			d.common.Vars.Lazy = d.common.Vars.Lazy || t.Args.Lazy
			t.Args.Delete(k)
		}
	}
}

func contains(list []string, name string) bool {
	for _, item := range list {
		if item == name {
			return true
		}
	}
	return false
}

// importTasks puts the tasks of a file in place of import_tasks, in an
// implicit block that carries the keywords of the import.
func (r *reader) importTasks(p place, t *Task) []Node {
	name, err := r.staticText(p, t.Vars, fileArg(t.Args))
	if err != nil {
		r.fail(placed(err, t.Pos))
		return nil
	}
	path := FindTasks(t, name)
	if path == "" {
		missing := source.Errorf(t.Pos, "cannot import tasks from %q: there is no such file beside %s", name, p.file.Path)
		if near := nearFile(filepath.Join(t.Dir, name)); near != "" {
			missing = missing.WithHint("did you mean %q?", near)
		}
		r.fail(missing)
		return nil
	}
	b := &Block{Pos: t.Pos, Name: t.Name, Keywords: t.Keywords, Vars: t.Vars, When: t.When, Tags: t.Tags, Notify: t.Notify,
		Implicit: true, Role: t.Role, Play: t.Play, Parent: t.Parent}
	b.Body = r.fileNodes(p.in(b), path, t.Pos)
	return []Node{b}
}

// nearFile is the name of the file beside path whose name is like its own.
func nearFile(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return source.Nearest(filepath.Base(path), names)
}

// fileArg is the file that an include or import names.
func fileArg(args *value.Dict) any {
	if v, ok := args.Get("file"); ok {
		return v
	}
	v, _ := args.Get("_raw_params")
	return v
}

// FindTasks finds a task file: beside the file the task stands in, in its
// role, then in the playbook's folder.
func FindTasks(t *Task, name string) string {
	name = expandHome(name)
	if name == "" {
		return ""
	}
	if filepath.IsAbs(name) {
		return existing(name)
	}
	dirs := []string{t.Dir}
	if t.Role != nil {
		dirs = append(dirs, filepath.Join(t.Role.Path, "tasks"), t.Role.Path)
		if t.Handler {
			dirs = append([]string{t.Dir, filepath.Join(t.Role.Path, "handlers")}, dirs...)
		}
	}
	if t.Play != nil {
		dirs = append(dirs, t.Play.Dir, filepath.Join(t.Play.Dir, "tasks"))
	}
	for _, dir := range dirs {
		if path := existing(filepath.Join(dir, name)); path != "" {
			return path
		}
	}
	return ""
}

func existing(path string) string {
	if isFile(path) {
		return path
	}
	return ""
}

// importRole puts a role in place of import_role.
func (r *reader) importRole(p place, t *Task) []Node {
	app, err := r.roleCall(p, t, t.Args, t.Vars)
	if err != nil {
		r.fail(placed(err, t.Pos))
		return nil
	}
	app.common = common{Name: t.Name, Keywords: t.Keywords, Vars: t.Vars, When: t.When, Tags: t.Tags, Notify: t.Notify}
	app.imported = true
	nodes := []Node{}
	for _, b := range r.apply(p, app) {
		nodes = append(nodes, b)
	}
	return nodes
}

// roleCall reads the arguments of import_role and include_role.
func (r *reader) roleCall(p place, t *Task, args, vars *value.Dict) (*application, error) {
	app := &application{pos: t.Pos, params: value.NewDict(), repeatable: true}
	fields := []struct {
		name string
		to   *string
	}{{"role", &app.name}, {"name", &app.name}, {"tasks_from", &app.from.tasks}, {"vars_from", &app.from.vars},
		{"defaults_from", &app.from.defaults}, {"handlers_from", &app.from.handlers}}
	for _, f := range fields {
		v, ok := args.Get(f.name)
		if !ok || v == nil {
			continue
		}
		text, err := r.staticText(p, vars, v)
		if err != nil {
			return nil, err
		}
		*f.to = text
	}
	if v, ok := args.Get("allow_duplicates"); ok {
		app.repeatable = truth(v)
	}
	if v, ok := args.Get("rolespec_validate"); ok {
		app.unchecked = !truth(v)
	}
	if app.name == "" {
		return nil, source.Errorf(t.Pos, "'name' is a required field for %s.", t.Written)
	}
	return app, nil
}

// placed gives an error a place if it has none.
func placed(err error, pos source.Pos) error {
	var e *source.Error
	if errors.As(err, &e) {
		if e.Pos.IsZero() {
			c := *e
			c.Pos = pos
			return &c
		}
		return err
	}
	return source.Errorf(pos, "%w", err)
}
