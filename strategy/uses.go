package strategy

import (
	"slices"

	"play/engine/event"
	"play/engine/jinja"
	"play/engine/playbook"
	"play/modules/value"
)

// uses tells an event which variable the task sets and which ones it reads.
func uses(ev *event.Task, t *playbook.Task) {
	ev.Register = t.Register
	for _, conds := range conditions(t) {
		for _, c := range conds {
			ev.Conditions = append(ev.Conditions, jinja.NamesIn(c.Source, true)...)
		}
	}
	ev.Reads = slices.Clone(ev.Conditions)
	if t.Loop != nil {
		ev.Reads = reads(ev.Reads, t.Loop.Items)
	}
	ev.Reads = reads(ev.Reads, t.Args)
	ev.Reads = reads(ev.Reads, t.Vars)
	ev.Reads = reads(ev.Reads, t.ArgsFrom)
}

// conditions are those of the task and of the blocks around it.
func conditions(t *playbook.Task) [][]*jinja.Cond {
	all := [][]*jinja.Cond{t.When}
	for b := t.Parent; b != nil; b = b.Parent {
		all = append(all, b.When)
	}
	return all
}

// reads adds the names that the templates of a loaded value read.
func reads(names []string, v any) []string {
	switch v := v.(type) {
	case *jinja.Template:
		names = append(names, jinja.NamesIn(v.Source, false)...)
	case *value.List:
		for _, item := range v.Items {
			names = reads(names, item)
		}
	case *value.Dict:
		if v == nil {
			return names
		}
		for _, item := range v.All() {
			names = reads(names, item)
		}
	}
	return names
}
