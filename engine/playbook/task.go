package playbook

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// task reads a task or handler. A mistake in it is noted and makes it nil.
func (r *reader) task(p place, n *yaml.Node, entries []yamlload.Entry) *Task {
	before := len(r.errs.List) + r.errs.More
	c := newCommon()
	t := &Task{Pos: p.file.Pos(n), Args: value.NewDict(), Handler: p.handlers, Role: p.role, Parent: p.parent, Play: p.play, Dir: p.dir}
	on := onTask
	if p.handlers {
		on = onHandler
	}
	d := taskDecoder{reader: r, place: p, on: on, task: t, common: &c}
	for _, e := range entries {
		d.entry(e)
	}
	t.Name, t.Keywords, t.Vars, t.When, t.Tags, t.Notify = c.Name, c.Keywords, c.Vars, c.When, c.Tags, c.Notify
	if own := collectionsOf(c.Keywords); own != nil {
		d.place.collections = own
	}
	d.action()
	d.loop()
	d.checkInclude()
	d.checkMeta()
	t.Vars = c.Vars
	if len(r.errs.List)+r.errs.More > before {
		return nil
	}
	return t
}

// taskDecoder sorts a task's keys.
type taskDecoder struct {
	*reader
	place  place
	on     noun
	task   *Task
	common *common

	module   []yamlload.Entry // keys that are no keyword: the module, or mistakes
	explicit *yamlload.Entry  // action or local_action
	args     *yaml.Node
	loops    []yamlload.Entry // loop and with_*
	control  *yaml.Node
}

func (d *taskDecoder) entry(e yamlload.Entry) {
	switch name := e.Name; {
	case strings.HasPrefix(name, "with_"), name == "loop":
		d.loops = append(d.loops, e)
	case !d.on.allows(name):
		d.module = append(d.module, e)
	case name == "action" || name == "local_action":
		if d.explicit != nil {
			d.failf(d.place.file.Pos(e.KeyNode), "action and local_action are mutually exclusive")
			return
		}
		d.explicit = &e
	case name == "args":
		d.args = e.Node
	case name == "loop_control":
		d.control = e.Node
	case name == "register":
		d.register(e.Node)
	case name == "changed_when":
		d.task.ChangedWhen = d.conditions(d.place, e.Node)
	case name == "failed_when":
		d.task.FailedWhen = d.conditions(d.place, e.Node)
	case name == "until":
		d.task.Until = d.conditions(d.place, e.Node)
	case name == "listen":
		d.listen(e.Node)
	default:
		d.decode(d.place, d.on, e, d.common)
	}
}

// register reads the name of the variable that will hold the result.
func (d *taskDecoder) register(n *yaml.Node) {
	v, err := d.place.file.Data(n)
	if err != nil {
		d.fail(err)
		return
	}
	name, ok := v.(string)
	if v == nil {
		return
	}
	if !ok || !identifier.MatchString(name) {
		d.failf(d.place.file.Pos(n), "Invalid variable name in 'register' specified: '%s'", plainText(v))
		return
	}
	d.task.Register = name
}

func (d *taskDecoder) listen(n *yaml.Node) {
	v, err := d.place.file.Value(n)
	if err != nil {
		d.fail(err)
		return
	}
	if l, ok := v.(*value.List); ok {
		d.task.Listen = l.Items
		return
	}
	if v != nil {
		d.task.Listen = []any{v}
	}
}

// action finds the module among the keys and reads its arguments.
func (d *taskDecoder) action() {
	t := d.task
	var found []yamlload.Entry
	if d.explicit != nil {
		found = append(found, *d.explicit)
	}
	var unknown []yamlload.Entry
	for _, e := range d.module {
		if d.known(e.Name) {
			found = append(found, e)
		} else {
			unknown = append(unknown, e)
		}
	}
	switch {
	case len(found) == 0 && len(unknown) == 0:
		d.fail(source.Errorf(t.Pos, "no module/action detected in task.").WithHint("a task names one module, such as \"command: …\""))
		return
	case len(found) == 0:
		d.unknownModule(unknown)
		return
	case len(found) > 1:
		d.fail(source.Errorf(d.place.file.Pos(found[1].KeyNode), "conflicting action statements: %s, %s", found[0].Name, found[1].Name).
			WithHint("a task runs one module: start another task with \"- \""))
		return
	}
	for _, e := range unknown {
		d.fail(unknownKeyword(d.on, keyText(e), d.place.file.Pos(e.KeyNode), nil))
	}
	d.call(found[0])
}

// unknownModule reports the keys of a task that has no module: the one that is
// most likely meant as a module is named so, the others as attributes.
func (d *taskDecoder) unknownModule(unknown []yamlload.Entry) {
	if len(unknown) > 1 {
		// A key with a near keyword is a misspelt keyword, not the module.
		var rest []yamlload.Entry
		for _, e := range unknown {
			if source.Nearest(e.Name, keywordsOf(d.on)) != "" && d.nearModule(e.Name) == "" {
				d.fail(unknownKeyword(d.on, keyText(e), d.place.file.Pos(e.KeyNode), nil))
				continue
			}
			rest = append(rest, e)
		}
		unknown = rest
	}
	for i, e := range unknown {
		if i == 0 && e.Name != "" {
			d.call(e)
			continue
		}
		d.unresolved(keyText(e), d.place.file.Pos(e.KeyNode))
	}
}

// unresolved notes that there is no such module, unless the task is to be
// loaded all the same.
func (d *taskDecoder) unresolved(name string, pos source.Pos) (load bool) {
	err := source.Errorf(pos, "couldn't resolve module/action '%s'. This often indicates a misspelling, missing collection, or incorrect module path.", name)
	near := d.nearModule(name)
	if near == "" && d.on.allows(source.Nearest(name, keywordsOf(d.on))) {
		near = source.Nearest(name, keywordsOf(d.on))
	}
	if near != "" {
		err = err.WithHint("did you mean %q?", near)
	}
	err.Err = ErrModule
	if d.l.Unsupported != nil && d.l.Unsupported(err) {
		return true
	}
	d.fail(err)
	return false
}

func (d *taskDecoder) nearModule(name string) string {
	if d.l.Modules == nil {
		return ""
	}
	short := strings.TrimPrefix(name, "ansible.builtin.")
	near := source.Nearest(short, append(d.l.Modules.Names(), engineActions...))
	if near == "" {
		return ""
	}
	return strings.TrimSuffix(name, short) + near
}

// engineActions are the actions that the engine itself carries out.
var engineActions = []string{"import_playbook", "import_role", "import_tasks", "include", "include_role", "include_tasks", "include_vars", "meta"}

// known reports whether a key names a module or action.
func (d *taskDecoder) known(name string) bool {
	_, ok := d.resolve(name)
	return ok
}

// resolve returns the name under which a module is run: the short name of a
// native one, or the full name of another. A short name is looked for in the
// task's collections first.
func (d *taskDecoder) resolve(name string) (string, bool) {
	short := stripPrefix(name)
	if name == "" || d.l.Modules == nil || slices.Contains(engineActions, short) {
		return short, name != ""
	}
	if !strings.Contains(name, ".") {
		for _, c := range d.place.collections {
			if found, ok := d.fromCollection(stripPrefix(c + "." + name)); ok {
				return found, true
			}
		}
	}
	return d.fromCollection(short)
}

// fromCollection resolves a name without its ansible.builtin.
func (d *taskDecoder) fromCollection(name string) (string, bool) {
	if native := d.l.Modules.Native(name); native != "" {
		return native, true
	}
	return name, d.l.Modules.Known(name)
}

// removed tells of a module that its collection has given up.
func (d *taskDecoder) removed(name string) error {
	m, ok := d.l.Modules.(interface{ Removed(name string) error })
	if !ok {
		return nil
	}
	return m.Removed(name)
}

// stripPrefix takes ansible.builtin. and ansible.legacy. off a name.
func stripPrefix(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "ansible.builtin."), "ansible.legacy.")
}
