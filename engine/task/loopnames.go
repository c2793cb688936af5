package task

import "play/modules/value"

// loopNames are the variables a loop sets.
type loopNames struct {
	item, index   string
	extended, all bool // ansible_loop, and its allitems
	items         []any
}

func (r *run) loopNames() (*loopNames, error) {
	l := r.task.Loop
	n := &loopNames{item: "item", all: true}
	for _, k := range []struct {
		raw any
		set func(v any)
	}{
		{l.Var, func(v any) { n.item = text(v) }},
		{l.IndexVar, func(v any) { n.index = text(v) }},
		{l.Extended, func(v any) { n.extended, _ = ToBool(v) }},
		{l.ExtendedAllItems, func(v any) { n.all, _ = ToBool(v) }},
	} {
		v, err := r.jinja.Resolve(k.raw)
		if err != nil {
			return nil, err
		}
		if v != nil {
			k.set(v)
		}
	}
	return n, nil
}

// vars are the loop's variables for the i-th item.
func (n *loopNames) vars(i int) *value.Dict {
	d := value.DictOf(n.item, n.items[i], "ansible_loop_var", n.item)
	if n.index != "" {
		d.Set(n.index, i)
		d.Set("ansible_index_var", n.index)
	}
	if n.extended {
		d.Set("ansible_loop", n.extendedInfo(i))
	}
	return d
}

// describe adds to an item's result which item it is of.
func (n *loopNames) describe(result *value.Dict, item any, i int) {
	result.Set(n.item, item)
	result.Set("ansible_loop_var", n.item)
	if n.index != "" {
		result.Set(n.index, i)
		result.Set("ansible_index_var", n.index)
	}
	if n.extended {
		result.Set("ansible_loop", n.extendedInfo(i))
	}
}

func (n *loopNames) extendedInfo(i int) *value.Dict {
	count := len(n.items)
	d := value.NewDict()
	if n.all {
		d.Set("allitems", value.NewList(n.items...))
	}
	d.Update(value.DictOf("index", i+1, "index0", i, "first", i == 0, "last", i == count-1,
		"length", count, "revindex", count-i, "revindex0", count-i-1))
	if i > 0 {
		d.Set("previtem", n.items[i-1])
	}
	if i < count-1 {
		d.Set("nextitem", n.items[i+1])
	}
	return d
}
