package action

import (
	"context"
	"io"

	"play/connection"
	"play/engine/event"
	"play/engine/source"
	"play/engine/task"
	"play/modules/value"
	"play/modules/wire"
)

// module runs the task's module on the host, synchronously or not.
func (d *Deps) module(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	if m, err := d.foreignModule(a); m != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return d.foreign(ctx, a, m)
	}
	if a.Settings.Async > 0 && !a.Check {
		return d.async(ctx, a, a.Task.Action, a.Args, nil)
	}
	result, err := d.call(ctx, a, a.Task.Action, a.Args, nil)
	if err == nil && a.Task.Action == "setup" {
		result.Set("_ansible_verbose_override", true)
	}
	return result, err
}

// call runs one module on the attempt's host and waits for its result.
func (d *Deps) call(ctx context.Context, a *task.Attempt, name string, args *value.Dict, body io.Reader) (*value.Dict, error) {
	return d.callWith(ctx, a, name, args, nil, body)
}

// callWith is call with hints for the module.
func (d *Deps) callWith(ctx context.Context, a *task.Attempt, name string, args, extra *value.Dict, body io.Reader) (*value.Dict, error) {
	c, err := d.request(a, name, args)
	if err != nil {
		return nil, err
	}
	if extra != nil {
		if c.Extra, err = value.AppendJSON(nil, extra, value.WireJSON()); err != nil {
			return nil, err
		}
	}
	return d.send(ctx, a, c, body)
}

// receive runs the agent's fetch; the file's content goes to w.
func (d *Deps) receive(ctx context.Context, a *task.Attempt, args *value.Dict, w io.Writer) (*value.Dict, error) {
	c, err := d.request(a, "fetch", args)
	if err != nil {
		return nil, err
	}
	c.Sink = w
	return d.send(ctx, a, c, nil)
}

// request makes the call that the agent gets.
func (d *Deps) request(a *task.Attempt, name string, args *value.Dict) (*wire.Call, error) {
	if name == "shell" {
		args = args.Clone()
		args.Set("_uses_shell", true) // as the result tells it with -vvv
	}
	encoded, err := value.AppendJSON(nil, args, value.WireJSON())
	if err != nil {
		return nil, source.Errorf(a.Task.Pos, "cannot send the arguments of %q: %w", name, err)
	}
	return &wire.Call{Module: name, Args: encoded, Check: a.Check, Diff: a.Diff, NoLog: a.NoLog,
		Verbosity: a.Executor.Options.Verbosity, Env: a.Env, Full: d.Needs != nil && d.Needs(name, args)}, nil
}

// send delivers a call to the host's agent.
func (d *Deps) send(ctx context.Context, a *task.Attempt, c *wire.Call, body io.Reader) (*value.Dict, error) {
	t, err := d.target(a)
	if err != nil {
		return nil, err
	}
	return d.sendTo(ctx, t, c, body, d.lines(a))
}

// lines tells the display what the task's command prints while it runs; nil:
// nobody wants to know, or nobody may.
func (d *Deps) lines(a *task.Attempt) func(line []byte) {
	liner, ok := a.Executor.Sink.(event.Liner)
	if !ok || !d.Live || a.NoLog {
		return nil
	}
	return func(line []byte) { liner.Line(a.Host, a.Event, string(line)) }
}

// sendTo delivers a call to the agent of a target. lines may be nil.
func (d *Deps) sendTo(ctx context.Context, t *connection.Target, c *wire.Call, body io.Reader, lines func(line []byte)) (*value.Dict, error) {
	link, err := d.Links.Get(ctx, t.With(c.Full))
	if err != nil {
		return nil, err
	}
	reply, err := link.Call(ctx, c, body, lines)
	if err != nil {
		return nil, err
	}
	v, err := value.DecodeJSON(reply.Result)
	if err != nil {
		return nil, task.Failf("cannot read the result of %q from %q: %v", c.Module, t.Name, err)
	}
	result, ok := v.(*value.Dict)
	if !ok {
		return nil, task.Failf("cannot read the result of %q from %q: it is no object", c.Module, t.Name)
	}
	return result, nil
}

// gatherFacts runs setup.
func (d *Deps) gatherFacts(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	result, err := d.call(ctx, a, "setup", a.Args, nil)
	if err == nil {
		facts, _ := result.Get("ansible_facts")
		if d, ok := facts.(*value.Dict); ok {
			d.Set(task.Gathered, true)
		}
		result.Set("_ansible_verbose_override", true)
	}
	return result, err
}
