package task

import (
	"context"

	"play/engine/playbook"
	"play/modules/value"
)

// attempt evaluates everything an action needs.
func (r *run) attempt() (*Attempt, error) {
	a := &Attempt{Host: r.host, Target: r.host, Task: r.task, Scope: r.scope, Jinja: r.jinja,
		NoLog: r.noLog, Event: r.event, Executor: r.x, Files: r.files}
	if err := r.delegate(a); err != nil {
		return nil, err
	}
	var err error
	if a.Settings, err = r.settings(); err != nil {
		return nil, err
	}
	if a.Check, err = r.boolKeyword("check_mode", r.x.Options.Check); err != nil {
		return nil, err
	}
	if a.Diff, err = r.boolKeyword("diff", r.x.Options.Diff); err != nil {
		return nil, err
	}
	if a.Env, err = r.environment(); err != nil {
		return nil, err
	}
	a.Args, a.fromHost, err = r.args(r.x.action(r.task.Action).Raw)
	return a, err
}

// delegate finds the host that the task really acts on. That host is reached by
// its own variables, with the task's over them.
func (r *run) delegate(a *Attempt) error {
	name, err := r.stringKeyword("delegate_to")
	if err != nil {
		return err
	}
	if name == "" {
		a.On, err = r.x.Play.Scope(r.host, r.task)
		return err
	}
	a.Target = r.x.HostNamed(name)
	if a.DelegateFacts, err = r.boolKeyword("delegate_facts", false); err != nil {
		return err
	}
	if a.On, err = r.x.Play.Scope(a.Target, r.task); err != nil {
		return err
	}
	seen, err := r.x.Play.Delegated(r.host, a.Target, r.task, r.jinja)
	if err != nil {
		return err
	}
	r.use(r.scope.With("the delegated host", seen))
	a.Scope, a.Jinja = r.scope, r.jinja
	return nil
}

// address is the ansible_host of the host that the task was delegated to.
func (a *Attempt) address() string {
	for _, name := range []string{"ansible_host", "ansible_ssh_host"} {
		if v, ok := a.On.Lookup(name); ok {
			if v, err := a.Jinja.With(a.On).Resolve(v); err == nil {
				return text(v)
			}
		}
	}
	return ""
}

// Attempt evaluates what an action would get, without running it.
func (x *Executor) Attempt(host string, t *playbook.Task) (*Attempt, error) {
	return x.AttemptWith(host, t, nil)
}

// AttemptWith is Attempt with variables over all others; nil: none.
func (x *Executor) AttemptWith(host string, t *playbook.Task, over *value.Dict) (*Attempt, error) {
	scope, err := x.Play.TaskScope(host, t)
	if err != nil {
		return nil, err
	}
	r := &run{x: x, ctx: context.Background(), host: host, task: t, out: &Outcome{}}
	r.use(scope.With("the debugger", over))
	return r.attempt()
}
