//go:build !plain

package modules

import (
	"slices"

	"play/modules/value"
)

// dockerMatch tells whether a wanted value and the one that is there are equal
// in the sense of a comparison (strict, ignore or allow_more_present) for its
// kind: value, list, set, set(dict) or dict. nil stands for empty.
func dockerMatch(want, have any, comparison, kind string) bool {
	if comparison == "ignore" {
		return true
	}
	if want == nil || have == nil {
		return dockerMatchNothing(want, have, comparison, kind)
	}
	strict := comparison == "strict"
	switch kind {
	case "list":
		return strict && value.Equal(want, have) || !strict && inOrder(itemsOf(want), itemsOf(have))
	case "dict":
		return strict && value.Equal(want, have) || !strict && holdsAll(want, have)
	case "set":
		return hasEach(itemsOf(want), itemsOf(have), value.Equal) && (!strict || hasEach(itemsOf(have), itemsOf(want), value.Equal))
	case "set(dict)":
		backwards := func(there, wanted any) bool { return holdsAll(wanted, there) }
		return hasEach(itemsOf(want), itemsOf(have), holdsAll) && (!strict || hasEach(itemsOf(have), itemsOf(want), backwards))
	}
	return value.Equal(want, have)
}

func dockerMatchNothing(want, have any, comparison, kind string) bool {
	switch {
	case want == nil && have == nil:
		return true
	case kind == "value":
		return false
	case comparison == "allow_more_present" && want == nil:
		return true
	case want == nil:
		want = have
	}
	n, _ := value.Len(want)
	return n == 0
}

// itemsOf are a list's items or a dict's keys.
func itemsOf(v any) []any {
	items, _ := value.Items(v)
	return items
}

// inOrder tells whether the items of one list are in another, in their order.
func inOrder(want, have []any) bool {
	for _, w := range want {
		at := slices.IndexFunc(have, func(h any) bool { return value.Equal(w, h) })
		if at < 0 {
			return false
		}
		have = have[at+1:]
	}
	return true
}

// hasEach tells whether each item of one list has a like one in another.
func hasEach(want, have []any, like func(a, b any) bool) bool {
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h any) bool { return like(w, h) }) {
			return false
		}
	}
	return true
}

// holdsAll tells whether a dict has every entry of another.
func holdsAll(want, have any) bool {
	w, _ := want.(*value.Dict)
	h, ok := have.(*value.Dict)
	if !ok {
		return false
	}
	for k, v := range w.All() {
		if there, found := h.GetKey(k); !found || !value.Equal(v, there) {
			return false
		}
	}
	return true
}

// differences lists what differs between the arguments and what is there.
type differences struct {
	names        []string
	wants, haves []any
}

func (d *differences) add(name string, want, have any) {
	d.names = append(d.names, name)
	d.wants = append(d.wants, want)
	d.haves = append(d.haves, have)
}

func (d *differences) merge(other *differences) {
	d.names = append(d.names, other.names...)
	d.wants = append(d.wants, other.wants...)
	d.haves = append(d.haves, other.haves...)
}

func (d *differences) empty() bool { return len(d.names) == 0 }

// into sets the before and after of a diff.
func (d *differences) into(diff *value.Dict) {
	before, after := value.NewDict(), value.NewDict()
	for i, name := range d.names {
		before.Set(name, d.haves[i])
		after.Set(name, d.wants[i])
	}
	diff.Set("before", before)
	diff.Set("after", after)
}

// pairs is the list of differences in docker_container's form.
func (d *differences) pairs() *value.List {
	out := value.NewList()
	for i, name := range d.names {
		out.Append(value.DictOf(name, value.DictOf("parameter", d.wants[i], "container", d.haves[i])))
	}
	return out
}
