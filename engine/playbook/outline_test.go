package playbook

import (
	"fmt"
	"sort"
	"strings"

	"play/engine/jinja"
	"play/modules/value"
)

// outline writes a playbook as indented text: what the golden files hold.
func outline(pb *Playbook, root string) string {
	o := outliner{root: root}
	for _, p := range pb.Plays {
		o.play(p)
	}
	return o.b.String()
}

type outliner struct {
	b    strings.Builder
	root string
}

func (o *outliner) line(depth int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	o.b.WriteString(strings.TrimRight(strings.Repeat("  ", depth)+strings.ReplaceAll(text, o.root+"/", ""), " ") + "\n")
}

func (o *outliner) play(p *Play) {
	o.line(0, "play %s hosts=%s%s%s%s", text(p.Name), text(p.Hosts), keys(p.Keywords), tags(p.Tags), vars("vars", p.Vars))
	for _, f := range p.VarsFiles {
		o.line(1, "vars_file %s", text(f.Value))
	}
	o.nodes(1, "pre_tasks", p.PreTasks)
	var roles []Node
	for _, b := range p.Roles {
		roles = append(roles, b)
	}
	o.nodes(1, "roles", roles)
	o.nodes(1, "tasks", p.Tasks)
	o.nodes(1, "post_tasks", p.PostTasks)
	if len(p.Handlers) > 0 {
		o.line(1, "handlers:")
		for _, h := range p.Handlers {
			o.task(2, h)
		}
	}
}

func (o *outliner) nodes(depth int, name string, nodes []Node) {
	if len(nodes) == 0 {
		return
	}
	o.line(depth, "%s:", name)
	for _, n := range nodes {
		switch n := n.(type) {
		case *Block:
			o.block(depth+1, n)
		case *Task:
			o.task(depth+1, n)
		}
	}
}

func (o *outliner) block(depth int, b *Block) {
	kind := "block"
	if b.Implicit {
		kind = "implicit"
	}
	role := ""
	if b.Role != nil {
		role = " role=" + b.Role.Name
		if b.Implicit && (b.Parent == nil || b.Parent.Role != b.Role) {
			role += vars("defaults", b.Role.Defaults) + vars("rolevars", b.Role.Vars)
			for _, p := range b.Role.Parents {
				role += " under=" + p.Name
			}
		}
	}
	if b.Once != "" {
		role += " once"
	}
	o.line(depth, "%s %s%s%s%s%s%s%s", kind, text(b.Name), role, keys(b.Keywords), tags(b.Tags), conds("when", b.When), vars("vars", b.Vars), vars("params", b.Params))
	for _, n := range b.Notify {
		o.line(depth+1, "notify %s", text(n.Value))
	}
	o.nodes(depth, "body", b.Body)
	o.nodes(depth, "rescue", b.Rescue)
	o.nodes(depth, "always", b.Always)
}

func (o *outliner) task(depth int, t *Task) {
	kind := "task"
	if t.Handler {
		kind = "handler"
	}
	from := ""
	if t.ArgsFrom != nil {
		from = " from=" + text(t.ArgsFrom)
	}
	o.line(depth, "%s %s %s %s%s%s%s%s%s%s", kind, text(t.Name), t.Action, text(t.Args), from, keys(t.Keywords),
		tags(t.AllTags()), conds("when", t.Conditions()), vars("vars", t.Vars), o.rest(t))
	if l := t.Loop; l != nil {
		o.line(depth+1, "loop %s %s var=%s index=%s label=%s pause=%s extended=%s%s", l.Lookup, text(l.Items), text(l.Var), text(l.IndexVar), text(l.Label), text(l.Pause), text(l.Extended), conds("break", l.BreakWhen))
	}
}

func (o *outliner) rest(t *Task) string {
	s := conds("changed", t.ChangedWhen) + conds("failed", t.FailedWhen) + conds("until", t.Until)
	if t.Register != "" {
		s += " register=" + t.Register
	}
	for _, n := range t.AllNotify() {
		s += " notify=" + text(n.Value)
	}
	for _, l := range t.Listen {
		s += " listen=" + text(l)
	}
	return s
}

func keys(k Keywords) string {
	var names []string
	for name := range k {
		names = append(names, name)
	}
	sort.Strings(names)
	s := ""
	for _, name := range names {
		s += " " + name + "=" + text(k[name].Value)
	}
	return s
}

func tags(list []any) string {
	if len(list) == 0 {
		return ""
	}
	return " tags=" + text(value.NewList(list...))
}

func conds(name string, list []*jinja.Cond) string {
	if len(list) == 0 {
		return ""
	}
	var parts []string
	for _, c := range list {
		parts = append(parts, c.Source)
	}
	return " " + name + "=(" + strings.Join(parts, " & ") + ")"
}

func vars(name string, d *value.Dict) string {
	if d.Len() == 0 {
		return ""
	}
	return " " + name + "=" + text(d)
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return fmt.Sprintf("%q", v)
	case *jinja.Template:
		return "<" + v.Source + ">"
	case *value.List:
		var parts []string
		for _, item := range v.Items {
			parts = append(parts, text(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *value.Dict:
		var parts []string
		for k, item := range v.All() {
			key := text(k)
			if s, ok := k.(string); ok {
				key = s
			}
			parts = append(parts, key+": "+text(item))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}
