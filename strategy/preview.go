package strategy

import (
	"slices"

	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/task"
	"play/engine/vars"
	"play/modules/value"
)

// Preview says what a play would run without running it.
type Preview struct {
	batch *batchRun
	eval  *playEval
}

// PreviewTask is one task of a preview: its name as listed, its sorted tags.
type PreviewTask struct {
	Name string
	Tags []string
}

// NewPreview looks at a play with the given tags.
func NewPreview(b *vars.Builder, context func(*vars.Scope, *task.Files) *jinja.Context, p *playbook.Play, only, skip []string) *Preview {
	run := &Run{Builder: b, OnlyTags: only, SkipTags: skip, Executor: &task.Executor{Context: context}}
	view := b.Play(p, value.NewDict(), value.NewDict())
	batch := &batchRun{Run: run, play: p, gone: map[string]bool{}, view: view, hosts: []string{"localhost"}, selected: map[*playbook.Task]bool{}}
	return &Preview{batch: batch, eval: &playEval{run: run, view: view, play: p}}
}

// Heading returns the play's host patterns and its name.
func (v *Preview) Heading() (patterns []string, name string, err error) {
	hosts, err := v.eval.hosts()
	if err != nil {
		return nil, "", err
	}
	if l, ok := hosts.(*value.List); ok {
		for _, h := range l.Items {
			patterns = append(patterns, value.Str(h))
		}
	} else {
		patterns = []string{value.Str(hosts)}
	}
	joined, err := v.eval.pattern()
	if err != nil {
		return nil, "", err
	}
	return patterns, v.eval.name(joined), nil
}

// PlayTags are the play's own tags, sorted.
func (v *Preview) PlayTags() []string {
	var tags []string
	for _, t := range v.batch.play.Tags {
		if resolved, err := v.eval.resolve(t); err == nil {
			tags = appendTags(tags, resolved)
		}
	}
	return sortedSet(tags)
}

// Tasks lists the tasks that the tags select, outside rescue and always parts.
func (v *Preview) Tasks() []PreviewTask {
	var list []PreviewTask
	var walk func(nodes []playbook.Node)
	walk = func(nodes []playbook.Node) {
		for _, n := range nodes {
			switch n := n.(type) {
			case *playbook.Block:
				walk(n.Body)
			case *playbook.Task:
				if v.batch.wanted(n) {
					list = append(list, PreviewTask{v.name(n), sortedSet(v.batch.tags(n))})
				}
			}
		}
	}
	p := v.batch.play
	walk(p.PreTasks)
	for _, r := range p.Roles {
		walk([]playbook.Node{r})
	}
	walk(p.Tasks)
	walk(p.PostTasks)
	return list
}

func (v *Preview) name(t *playbook.Task) string {
	if t.Name == nil {
		return t.Written
	}
	if t.Action == "include_role" {
		return sourceOf(t.Name)
	}
	return task.Name(t, sourceOf(t.Name))
}

func sortedSet(items []string) []string {
	slices.Sort(items)
	return slices.Compact(items)
}
