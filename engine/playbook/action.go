package playbook

import (
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/jinja"
	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// rawModules take their text as it is, but for a few options.
var rawModules = map[string]bool{
	"command": true, "shell": true, "raw": true, "script": true,
	"win_command": true, "win_shell": true, "ansible.windows.win_command": true, "ansible.windows.win_shell": true,
}

// freeForm are the other actions that may have text which is no k=v.
var freeForm = map[string]bool{
	"include": true, "include_tasks": true, "include_role": true, "include_vars": true,
	"import_tasks": true, "import_role": true, "meta": true, "add_host": true, "group_by": true, "set_fact": true,
}

// metaActions are what meta can do.
var metaActions = []string{"clear_facts", "clear_host_errors", "end_batch", "end_host", "end_play", "flush_handlers",
	"noop", "refresh_inventory", "reset_connection"}

// checkMeta finds a meta action that does not exist.
func (d *taskDecoder) checkMeta() {
	raw, _ := d.task.Args.Get("_raw_params")
	name, ok := raw.(string)
	if d.task.Action != "meta" || raw != nil && !ok || contains(metaActions, strings.TrimSpace(name)) {
		return
	}
	err := source.Errorf(d.task.Pos, "invalid meta action requested: %s", name)
	if near := source.Nearest(name, metaActions); near != "" {
		err = err.WithHint("did you mean %q?", near)
	}
	d.fail(err)
}

// call reads the action and its arguments: "module: arguments" or
// "action: module arguments".
func (d *taskDecoder) call(e yamlload.Entry) {
	name := e.Name
	args := callArgs{node: e.Node}
	if d.explicit != nil {
		var ok bool
		if name, args, ok = d.actionKeyword(e); !ok {
			return
		}
		if e.Name == "local_action" {
			d.common.Keywords["delegate_to"] = Attr{Value: "localhost", Pos: d.place.file.Pos(e.KeyNode)}
		}
	}
	action, ok := d.resolve(name)
	pos := d.place.file.Pos(e.KeyNode)
	if d.explicit != nil {
		pos = d.place.file.Pos(e.Node)
	}
	if !ok && !d.unresolved(name, pos) {
		return
	}
	if err := d.removed(action); err != nil {
		d.fail(source.Errorf(pos, "%w", err))
		return
	}
	d.task.Action, d.task.Written = action, name
	if !ok {
		return // how to read its arguments is not known
	}
	d.argsKeyword()
	d.moduleArgs(args)
}

// callArgs are the arguments as written: a node, or the rest of an action text.
type callArgs struct {
	node *yaml.Node
	text string
	bare bool     // text is used
	drop []string // keys of node that are not arguments
}

// actionKeyword splits "action: module arguments" or takes the module out of
// "action: {module: copy, …}".
func (d *taskDecoder) actionKeyword(e yamlload.Entry) (name string, args callArgs, ok bool) {
	f := d.place.file
	if e.Node.Kind == yaml.MappingNode {
		entries, err := f.Entries(e.Node)
		if err != nil {
			d.fail(err)
			return "", args, false
		}
		for _, sub := range entries {
			if sub.Name == "module" {
				name, rest, _ := strings.Cut(strings.TrimSpace(sub.Node.Value), " ")
				return name, callArgs{node: e.Node, drop: []string{"module"}, text: rest}, name != ""
			}
		}
		d.failf(f.Pos(e.Node), "no module/action detected in task.")
		return "", args, false
	}
	if e.Node.Kind != yaml.ScalarNode || f.IsNull(e.Node) {
		d.failf(f.Pos(e.Node), "no module/action detected in task.")
		return "", args, false
	}
	name, rest := cutSpace(e.Node.Value)
	if jinja.IsTemplate(name) {
		d.failf(f.Pos(e.Node), "cannot use a template as the name of an action: %q", name)
		return "", args, false
	}
	return name, callArgs{node: e.Node, text: rest, bare: true}, true
}

// cutSpace splits a text at its first white space.
func cutSpace(s string) (first, rest string) {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// argsKeyword reads args: a dict, or one template that yields it.
func (d *taskDecoder) argsKeyword() {
	if d.args == nil || d.place.file.IsNull(d.args) {
		return
	}
	v, err := d.place.file.Value(d.args)
	if err != nil {
		d.fail(err)
		return
	}
	switch v := v.(type) {
	case *value.Dict:
		d.setArgs(v)
	case *jinja.Template:
		d.task.ArgsFrom = v
	default:
		d.fail(source.Errorf(d.place.file.Pos(d.args), "args must be a dict of options, or one template that yields it, not %s", yamlload.Kind(v)).
			WithHint(`write "{{ name }}" to use a variable`))
	}
}

// setArgs adds arguments. A key of set_fact with Jinja is stored as a template.
func (d *taskDecoder) setArgs(args *value.Dict) {
	for k, v := range args.All() {
		key, ok := k.(string)
		if !ok {
			key = value.Str(k)
		}
		if d.task.Action == "set_fact" && jinja.IsTemplate(key) {
			t, err := d.place.file.Load(key, d.task.Pos)
			if err != nil {
				d.fail(err)
				continue
			}
			_ = d.task.Args.SetKey(t, v) // a template is hashable
			continue
		}
		d.task.Args.Set(key, v)
	}
	d.task.Args.Lazy = d.task.Args.Lazy || args.Lazy
}

// moduleArgs reads a module's own arguments over those of args.
func (d *taskDecoder) moduleArgs(a callArgs) {
	f := d.place.file
	n := a.node
	switch {
	case a.bare:
		d.textArgs(a.text, source.Pos{File: f.Path, Line: n.Line, Col: n.Column})
	case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		v, err := f.Value(n)
		if err != nil {
			d.fail(err)
			return
		}
		args, ok := v.(*value.Dict)
		if !ok {
			d.fail(source.Errorf(f.Pos(n), "unexpected parameter type in action: a list").
				WithHint("a module takes a dict of options or a text"))
			return
		}
		args = args.Clone()
		for _, key := range a.drop {
			args.Delete(key)
		}
		if a.text != "" {
			d.textArgs(a.text, f.Pos(n))
		}
		d.setArgs(args)
	case f.IsNull(n):
	case n.Style&yaml.TaggedStyle != 0 && (n.Tag == "!vault" || n.Tag == "!unsafe"):
		v, err := f.Value(n)
		d.fail(err)
		d.task.Args.Set("_raw_params", v)
		d.task.Args.Lazy = true
	default:
		d.textArgs(n.Value, f.TextPos(n))
	}
}

// textArgs reads arguments written as text.
func (d *taskDecoder) textArgs(text string, pos source.Pos) {
	t := d.task
	parsed, err := ParseKV(text, rawModules[t.Action])
	if err != nil {
		d.fail(source.Errorf(pos, "%w", err).WithHint("close the quotes and braces, or write the arguments as a dict"))
		return
	}
	args := value.NewDict()
	for k, v := range parsed.All() {
		loaded, err := d.place.file.Load(v.(string), pos)
		if err != nil {
			d.fail(err)
			return
		}
		_, plain := loaded.(string)
		args.Lazy = args.Lazy || !plain
		args.Set(k.(string), loaded)
	}
	raw, ok := args.Get("_raw_params")
	if ok && !rawModules[t.Action] && !freeForm[t.Action] {
		template, isTemplate := raw.(*jinja.Template)
		if !isTemplate {
			d.extraParams(plainText(raw), pos)
			return
		}
		t.ArgsFrom = template
		args.Delete("_raw_params")
	}
	d.setArgs(args)
}

func (d *taskDecoder) extraParams(raw string, pos source.Pos) {
	err := source.Errorf(pos, "this task '%s' has extra params, which is only allowed in the following modules: command, shell, raw, script, include_tasks, import_tasks, include_vars, meta, set_fact, add_host, group_by", d.task.Written)
	if strings.Contains(raw, ":") && !strings.Contains(raw, " ") {
		d.fail(err.WithHint(`put a space after the colon: "name: value"`))
		return
	}
	d.fail(err.WithHint("%q is not an option: write name=value, or a dict of options below the module", yamlShort(raw)))
}

func yamlShort(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
