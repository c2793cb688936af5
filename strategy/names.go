package strategy

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"play/engine/event"
	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/task"
	"play/modules/value"
)

// event describes the task for the outputs, its name evaluated for a host.
func (b *batchRun) event(t *playbook.Task, host string) *event.Task {
	ev := &event.Task{ID: b.id(t), Name: b.hostTaskName(t, host), Own: b.ownName(t, host), Action: t.Action,
		Tags: b.tags(t), Pos: absolute(t.Pos), Handler: t.Handler, Free: b.free, Check: b.Executor.Options.Check, Diff: b.Executor.Options.Diff}
	if v, err := b.hostKeyword(t, host, "no_log"); err == nil {
		ev.NoLog, _ = toBool(v)
	}
	for name, field := range map[string]*bool{"check_mode": &ev.Check, "diff": &ev.Diff} {
		if v, err := b.hostKeyword(t, host, name); err == nil && v != nil {
			*field, _ = toBool(v)
		}
	}
	if b.ShowUses {
		uses(ev, t)
	}
	if b.ShowWritten {
		written(ev, t)
	}
	if _, censored := t.Inherit("no_log"); b.ShowArgs && !censored {
		ev.Args = writtenArgs(t)
	}
	return ev
}

// id is unique for every step of the run; hosts that go on each in their own
// time share a task's.
func (b *batchRun) id(t *playbook.Task) string {
	if id := b.ids[t]; id != "" {
		return id
	}
	b.IDs.tasks++
	id := strconv.Itoa(b.IDs.tasks)
	if b.free {
		b.ids[t] = id
	}
	return id
}

// absolute gives a position its file's full path, as people are shown it.
func absolute(pos source.Pos) source.Pos {
	if abs, err := filepath.Abs(pos.File); err == nil && pos.File != "" {
		pos.File = abs
	}
	return pos
}

// written tells an event what stands in the task.
func written(ev *event.Task, t *playbook.Task) {
	if _, censored := t.Inherit("no_log"); !censored {
		ev.Written = t.Args
	}
	ev.Vars = t.Vars
	for block := t.Parent; block != nil; block = block.Parent {
		under := block.Vars.Clone()
		under.Update(ev.Vars)
		ev.Vars = under
	}
	for _, c := range t.FailedWhen {
		ev.FailedWhen = append(ev.FailedWhen, c.Source)
	}
}

// writtenArgs is "name=value, name=value" as the task's arguments were written.
func writtenArgs(t *playbook.Task) string {
	var parts []string
	for k, v := range t.Args.All() {
		parts = append(parts, value.Str(k)+"="+sourceOf(v))
	}
	return strings.Join(parts, ", ")
}

// taskName is the task's name with its role, evaluated for the first host.
func (b *batchRun) taskName(t *playbook.Task) string { return b.hostTaskName(t, b.hosts[0]) }

func (b *batchRun) hostTaskName(t *playbook.Task, host string) string {
	name := b.ownName(t, host)
	if name != "" && t.Action == "include_role" {
		return name
	}
	if t.Action == "include_role" {
		role, _ := t.Args.Get("name")
		if role == nil {
			role, _ = t.Args.Get("role")
		}
		return t.Written + " : " + b.evaluated(role, t, host)
	}
	return task.Name(t, name)
}

// ownName is the name that was given to the task, evaluated; "" for none.
func (b *batchRun) ownName(t *playbook.Task, host string) string {
	if t.Name == nil {
		return ""
	}
	return b.evaluated(t.Name, t, host)
}

// evaluated is a name for people: evaluated where that is possible, else as it
// was written.
func (b *batchRun) evaluated(name any, t *playbook.Task, host string) string {
	if s, ok := name.(string); ok {
		return s
	}
	scope, err := b.view.Scope(host, t)
	if err == nil {
		if v, err := b.Executor.Context(scope, nil).Resolve(name); err == nil {
			return value.Str(v)
		}
	}
	return sourceOf(name)
}

// sourceOf is a value as it was written, for when it cannot be evaluated.
func sourceOf(v any) string {
	if t, ok := v.(*jinja.Template); ok {
		return t.Source
	}
	return value.Str(v)
}

func plays(n int) string { return fmt.Sprintf("%d plays", n) }
