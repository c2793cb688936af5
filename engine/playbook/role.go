package playbook

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/jinja"
	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// application is one use of a role: in a play's roles, as a dependency, or by
// import_role or include_role.
type application struct {
	pos    source.Pos
	name   string
	common common
	params *value.Dict // what is no keyword
	from   roleFrom
	// repeatable roles run again although the same application ran before.
	repeatable bool
	dynamic    bool // include_role
	imported   bool // import_role
	dependency bool // of the role that it is under
	unchecked  bool // rolespec_validate: no
}

// roleFrom names files other than main.
type roleFrom struct{ tasks, vars, defaults, handlers string }

// roleTable collects the handlers that the roles of one play bring.
type roleTable struct{ handlers []*Task }

// roleList reads a play's roles: one block for each, dependencies first.
func (r *reader) roleList(p place, n *yaml.Node) []*Block {
	if p.file.IsNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.failf(p.file.Pos(n), "\"roles\" takes a list of roles, not %s", kindOf(n))
		return nil
	}
	var blocks []*Block
	for _, item := range n.Content {
		if app := r.roleEntry(p, yamlload.Follow(item)); app != nil {
			blocks = append(blocks, r.apply(p, app)...)
		}
	}
	return blocks
}

// roleEntry reads one item of roles or dependencies: a name, or a dict with
// the name, keywords and parameters.
func (r *reader) roleEntry(p place, n *yaml.Node) *application {
	app := &application{pos: p.file.Pos(n), common: newCommon(), params: value.NewDict()}
	if n.Kind != yaml.MappingNode {
		v, err := p.file.Value(n)
		if err != nil {
			r.fail(err)
			return nil
		}
		app.name, err = r.staticText(p, nil, v)
		return r.named(app, err)
	}
	entries, err := p.file.Entries(n)
	if err != nil {
		r.fail(err)
		return nil
	}
	var written any
	for _, e := range entries {
		switch {
		case e.Name == "role" || e.Name == "name" || e.Name == "src":
			if written, err = p.file.Value(e.Node); err != nil {
				r.fail(err)
				return nil
			}
			if s, ok := written.(string); ok && e.Name == "src" {
				written = strings.TrimSuffix(path.Base(s), ".git")
			}
		case onRole.allows(e.Name):
			r.decode(p, onRole, e, &app.common)
		default:
			v, err := p.file.VarsValue(e.Node)
			if err != nil {
				r.fail(err)
				return nil
			}
			_ = app.params.SetKey(e.Key, v) // a mapping's keys are hashable
		}
	}
	if written == nil {
		r.failf(app.pos, "role definitions must contain a role name")
		return nil
	}
	app.name, err = r.staticText(p, app.params, written)
	return r.named(app, err)
}

func (r *reader) named(app *application, err error) *application {
	if err != nil {
		r.fail(placed(err, app.pos))
		return nil
	}
	if app.name == "" {
		r.failf(app.pos, "role definitions must contain a role name")
		return nil
	}
	return app
}

// apply loads a role and returns the blocks of one application of it: those of
// its dependencies, then its own.
func (r *reader) apply(p place, app *application) []*Block {
	dir, collection, err := r.l.findRole(p, app.name)
	if err != nil {
		r.fail(placed(err, app.pos))
		return nil
	}
	if loop := roleLoop(p.role, dir); loop != "" {
		r.fail(source.Errorf(app.pos, "A recursion loop was detected with the roles specified: %s → %s", loop, app.name).
			WithHint("a role cannot depend on, or import, a role that led to it"))
		return nil
	}
	role, meta, err := r.l.role(p, app, dir, collection)
	if err != nil {
		r.fail(placed(err, app.pos))
		return nil
	}
	role = role.with(app, r.l.HashMerge)
	b := &Block{Pos: app.pos, Keywords: app.common.Keywords, Vars: app.blockVars(), When: app.common.When,
		Tags: app.common.Tags, Implicit: true, Role: role, Play: p.play, Parent: p.parent, Params: app.params, Once: app.once(role)}
	inside := p.in(b)
	inside.role = role
	inside.collections = meta.collections
	role.Collections = meta.collections
	blocks := r.dependencies(inside, meta)
	role.Dependencies = blocks
	if check := r.validation(inside, app, meta); check != nil {
		b.Body = append(b.Body, check)
	}
	r.roleTasks(inside, b, app.from.tasks)
	r.roleHandlers(inside, app.from.handlers)
	return append(blocks, b)
}

// with returns the role as an application with vars has it. They become role
// vars, below those of vars/main.yml, and are seen by the whole play.
func (r *Role) with(app *application, merge bool) *Role {
	if app.common.Vars.Len() == 0 || app.dynamic {
		return r
	}
	c, top := *r, r.Vars
	if merge {
		top = value.Combine(app.common.Vars, top)
	}
	c.Vars = app.common.Vars.Clone()
	c.Vars.Update(top)
	c.Vars.Lazy = c.Vars.Lazy || r.Vars.Lazy
	return &c
}

// blockVars are the vars that beat the role's own: those of an import_role.
func (app *application) blockVars() *value.Dict {
	if app.imported {
		return app.common.Vars
	}
	return value.NewDict()
}

// roleLoop returns the roles from the one in dir to r when dir is among r and
// its parents.
func roleLoop(r *Role, dir string) string {
	if r == nil {
		return ""
	}
	names := r.Name
	if r.Path == dir {
		return names
	}
	for _, parent := range r.Parents {
		names = parent.Name + " → " + names
		if parent.Path == dir {
			return names
		}
	}
	return ""
}

// once is the key of what makes two applications of a role the same, or "" when
// the role may run any number of times.
func (app *application) once(role *Role) string {
	if app.repeatable || role.AllowDuplicates {
		return ""
	}
	c := app.common
	return fmt.Sprint(role.Path, app.from, dumpConds(c.When), dump(value.NewList(c.Tags...)), dump(app.params), dump(c.Vars))
}

func dumpConds(conds []*jinja.Cond) string {
	s := ""
	for _, c := range conds {
		s += c.Source + "\x00"
	}
	return s
}

// dump shows a loaded value so that equal values look equal.
func dump(v any) string {
	switch v := v.(type) {
	case *jinja.Template:
		return "{" + v.Source + "}"
	case *value.List:
		parts := make([]string, 0, v.Len())
		for _, item := range v.Items {
			parts = append(parts, dump(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *value.Dict:
		s := "{"
		for k, item := range v.All() {
			s += dump(k) + ":" + dump(item) + ","
		}
		return s + "}"
	}
	return fmt.Sprintf("%T %v", v, v)
}

// dependencies applies what a role's meta file depends on.
func (r *reader) dependencies(p place, meta *roleMeta) []*Block {
	var blocks []*Block
	if meta.file == nil {
		return nil
	}
	p = p.fileIn(meta.file)
	for _, n := range meta.dependencies {
		if app := r.roleEntry(p, n); app != nil {
			app.dependency = true
			blocks = append(blocks, r.apply(p, app)...)
		}
	}
	return blocks
}

// roleTasks reads the role's tasks into its block.
func (r *reader) roleTasks(p place, b *Block, from string) {
	path := roleFile(p.role.Path, "tasks", from)
	if path == "" {
		if from != "" {
			r.failf(b.Pos, "Could not find specified file in role: tasks/%s", from)
		}
		return
	}
	b.Body = append(b.Body, r.fileNodes(p, path, b.Pos)...)
}

// roleHandlers reads the role's handlers.
func (r *reader) roleHandlers(p place, from string) {
	path := roleFile(p.role.Path, "handlers", from)
	if path == "" {
		if from != "" {
			r.failf(p.parent.Pos, "Could not find specified file in role: handlers/%s", from)
		}
		return
	}
	p.handlers = true
	r.roles.handlers = append(r.roles.handlers, handlersIn(r.fileNodes(p, path, p.parent.Pos))...)
}

// fileNodes reads a file that holds a list of tasks.
func (r *reader) fileNodes(p place, path string, pos source.Pos) []Node {
	if p.chain.has(path) {
		r.fail(source.Errorf(pos, "cannot import %q: it imports itself: %s", path, &chain{path: path, outer: p.chain}).
			WithHint("use include_tasks with a condition that ends the recursion"))
		return nil
	}
	f, err := r.l.file(path)
	if err != nil {
		r.fail(missing("task file", path, pos, err))
		return nil
	}
	root := yamlload.Follow(f.Root)
	if f.IsNull(root) {
		return nil
	}
	if root.Kind != yaml.SequenceNode {
		r.fail(source.Errorf(f.Pos(root), "included task files must contain a list of tasks").
			WithHint(`this is %s: start each task with "- "`, kindOf(root)))
		return nil
	}
	return r.nodes(p.fileIn(f), root)
}

// handlersIn lists the tasks of nodes in order: blocks only carry keywords for
// the handlers in them.
func handlersIn(nodes []Node) []*Task {
	var all []*Task
	for _, n := range nodes {
		switch n := n.(type) {
		case *Task:
			all = append(all, n)
		case *Block:
			for _, part := range [][]Node{n.Body, n.Rescue, n.Always} {
				all = append(all, handlersIn(part)...)
			}
		}
	}
	return all
}

// absDir makes a folder absolute for role_path.
func absDir(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
