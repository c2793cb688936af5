package playbook

import (
	"play/engine/jinja"
	"play/modules/value"
)

// chain lists the blocks around the task, the outermost first.
func (t *Task) chain() []*Block {
	n := 0
	for b := t.Parent; b != nil; b = b.Parent {
		n++
	}
	blocks := make([]*Block, n)
	for b := t.Parent; b != nil; b = b.Parent {
		n--
		blocks[n] = b
	}
	return blocks
}

// AllTags lists the tags of the task and of everything around it, as loaded:
// strings and templates, the play's first. A tag may repeat.
func (t *Task) AllTags() []any {
	var tags []any
	if t.Play != nil {
		tags = append(tags, t.Play.Tags...)
	}
	for _, b := range t.chain() {
		tags = append(tags, b.Tags...)
	}
	return append(tags, t.Tags...)
}

// Conditions lists every condition that must hold for the task to run: the
// outermost block's first, the task's own last.
func (t *Task) Conditions() []*jinja.Cond {
	var all []*jinja.Cond
	for _, b := range t.chain() {
		all = append(all, b.When...)
	}
	return append(all, t.When...)
}

// VarChain lists the vars of the task and of the blocks around it that hold
// any, the task's own first: the order of precedence.
func (t *Task) VarChain() []*value.Dict {
	var all []*value.Dict
	if t.Vars.Len() > 0 {
		all = append(all, t.Vars)
	}
	for b := t.Parent; b != nil; b = b.Parent {
		if b.Vars.Len() > 0 {
			all = append(all, b.Vars)
		}
	}
	return all
}

// Collect lists a keyword's settings from the outermost (the play's) to the
// task's own, for keywords that add up: environment, module_defaults.
func (t *Task) Collect(name string) []Attr {
	var all []Attr
	if t.Play != nil {
		if a, ok := t.Play.Keywords[name]; ok {
			all = append(all, a)
		}
	}
	for _, b := range t.chain() {
		if a, ok := b.Keywords[name]; ok {
			all = append(all, a)
		}
	}
	if a, ok := t.Keywords[name]; ok {
		all = append(all, a)
	}
	return all
}

// AllNotify lists what the task notifies: its own names and its blocks'.
func (t *Task) AllNotify() []Attr {
	all := append([]Attr(nil), t.Notify...)
	for b := t.Parent; b != nil; b = b.Parent {
		all = append(all, b.Notify...)
	}
	return all
}
