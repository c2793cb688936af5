package task

import (
	"play/engine/event"
	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/vars"
	"play/modules/value"
)

// loopItem is the loop's part of one item.
type loopItem struct {
	vars  *value.Dict
	label string
}

// handed are the loop's variables that an included file sees.
func (l *loopItem) handed() *value.Dict {
	d := l.vars.Clone()
	d.Delete("ansible_loop_var")
	d.Delete("ansible_index_var")
	return d
}

func isOmit(v any) bool { return v == any(jinja.Omit) }

func skipped() *end {
	return &end{status: event.Skipped, result: value.DictOf(
		"changed", false, "skipped", true, "skip_reason", "Conditional result was False")}
}

// once runs the task without a loop, or for one item of it.
func (r *run) once(item *loopItem) *end {
	noLog, err := r.boolKeyword("no_log", false)
	r.noLog = noLog || err != nil
	r.hidden = r.hidden || r.noLog
	if err != nil {
		return r.abort(err)
	}
	r.tried = nil
	ok, err := r.conditions()
	if err != nil {
		return r.abort(err)
	}
	if !ok {
		return skipped()
	}
	if isInclude(r.task.Action) {
		return r.include(item)
	}
	a, err := r.attempt()
	if err != nil {
		return r.abort(err)
	}
	r.tried = a.Args
	act := r.x.action(r.task.Action)
	var e *end
	read, _ := r.jinja.Traced(func() error { e = r.retry(a, act); return nil })
	r.sent = r.sent || r.looped || read || len(a.fromHost) > 0 || !act.Here && !vars.ControlMachine(a.Target)
	if e.aborts {
		return e
	}
	if e.status == event.OK || e.status == event.Failed {
		r.done = append(r.done, ended{a.Target, a.DelegateFacts, e.result})
		if err := r.notifications(); err != nil {
			return r.abort(err)
		}
	}
	return r.ignoring(e)
}

// action finds the action of a name; every other name is a module.
func (x *Executor) action(name string) *Action {
	if a := x.Actions[name]; a != nil {
		return a
	}
	return x.Module
}

// conditions evaluates when, the outermost block's first.
func (r *run) conditions() (bool, error) {
	for _, c := range r.task.Conditions() {
		ok, err := c.Eval(r.jinja)
		if err != nil {
			return false, NewConditionError(c, err)
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}

func isInclude(action string) bool {
	switch action {
	case "include_tasks", "include_role", "include":
		return true
	}
	return false
}

// include evaluates a dynamic include; the strategy loads the files.
func (r *run) include(item *loopItem) *end {
	args, fromHost, err := r.args([]string{"apply"})
	if err != nil {
		return r.abortPlain(err)
	}
	inc := Include{Args: args, Vars: value.NewDict(), ArgsFromHost: len(fromHost) > 0, VarsFromHost: r.looped}
	if item != nil {
		inc.Vars, inc.Label = item.handed(), item.label
	}
	r.out.Includes = append(r.out.Includes, inc)
	given := args.Clone()
	given.Delete("_raw_params")
	result := value.DictOf("changed", false, "include_args", given)
	for _, k := range []string{"_raw_params", "file"} {
		if v, ok := args.Get(k); ok {
			result.Set("include", v)
		}
	}
	return &end{status: event.OK, pos: r.task.Pos, result: result}
}

// Name is the task's name as the reference prints it: role and name, or the
// action's written name.
func Name(t *playbook.Task, evaluated string) string {
	name := evaluated
	if name == "" {
		name = t.Written
	}
	if t.Role != nil && !hasPrefix(name, t.Role.Name+" : ") {
		return t.Role.Name + " : " + name
	}
	return name
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }
