package task

import (
	"context"
	"time"

	"play/engine/event"
	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/vars"
	"play/modules/value"
)

// run is the work on one task for one host.
type run struct {
	x      *Executor
	ctx    context.Context
	host   string
	task   *playbook.Task
	scope  *vars.Scope
	jinja  *jinja.Context
	files  *Files
	event  *event.Task
	over   *value.Dict // variables over all others
	noLog  bool        // of the item that is run
	hidden bool        // of any item so far
	learnt *value.Dict // what earlier attempts registered or set as facts
	out    *Outcome
	looped bool        // a host's data had a part in what is looped over
	sent   bool        // a host's data had a part in the result so far
	names  []string    // handlers to notify if the whole task changed something
	tried  *value.Dict // the arguments of the last attempt
	done   []ended     // results whose effects count if the whole task ends well
}

// ended is one attempt's result and where it was made.
type ended struct {
	target string
	facts  bool // delegate_facts: facts are the target's
	result *value.Dict
}

// Run executes the task for the host. It tells the sink of items and retries;
// the task's own end is in Outcome.Event, for the strategy to send once it has
// told what follows from it. It changes nothing else and never fails: what goes
// wrong is in the outcome.
func (x *Executor) Run(ctx context.Context, host string, t *playbook.Task, ev *event.Task) *Outcome {
	return x.RunWith(ctx, host, t, ev, nil)
}

// RunWith is Run with variables over all others; nil: none.
func (x *Executor) RunWith(ctx context.Context, host string, t *playbook.Task, ev *event.Task, over *value.Dict) *Outcome {
	r := &run{x: x, ctx: ctx, host: host, task: t, event: ev, over: over, out: &Outcome{Host: host, Task: t}}
	start := x.Now()
	e := r.execute()
	r.finish(e)
	r.out.Status, r.out.Changed, r.out.Result = e.status, e.changed, e.result
	r.out.NoLog, r.out.FromHost = r.noLog, r.sent
	r.out.Event = r.eventOf(e, start)
	return r.out
}

// end is how the task or one item ended.
type end struct {
	status    event.Status
	changed   bool
	result    *value.Dict
	pos       source.Pos
	hint      string
	loop      bool
	item      bool
	label     string
	delegated string
	address   string
	// aborts tells that the task itself could not be evaluated: no further
	// item is tried and none is reported.
	aborts bool
	// ignore and ignoreLost are ignore_errors and ignore_unreachable, as they
	// were when the attempt ended badly.
	ignore, ignoreLost bool
}

func (r *run) execute() *end {
	scope, err := r.x.Play.TaskScope(r.host, r.task)
	if err != nil {
		return r.failure(err)
	}
	r.use(scope.With("the debugger", r.over))
	if r.task.Loop != nil {
		return r.loop()
	}
	return r.once(nil)
}

// use sets the variables that are seen from here on.
func (r *run) use(scope *vars.Scope) {
	if r.files == nil {
		r.files = filesOf(r.task, r.x.Playbook)
	}
	r.scope, r.jinja = scope, r.x.Context(scope, r.files)
	r.jinja.Go = r.ctx
	r.jinja.Guard = func(path string) error { return r.x.named(r.task, r.files, path) }
}

// finish settles what follows from the end: ignoring, notifying, effects.
func (r *run) finish(e *end) {
	switch e.status {
	case event.Failed:
		r.out.Ignored = e.ignore
		r.out.Pos = e.pos.String()
	case event.Unreachable:
		r.out.IgnoreUnreachable = e.ignoreLost
	case event.OK:
		if e.changed {
			r.out.Notify = r.names
		}
		for _, d := range r.done {
			r.effects(&d)
		}
	}
	if e.status != event.OK {
		r.out.Includes = nil
	}
}

// ignoring evaluates ignore_errors and ignore_unreachable for an end that needs
// them, while the loop's item is still in sight.
func (r *run) ignoring(e *end) *end {
	switch e.status {
	case event.Failed:
		ignore, err := r.boolKeyword("ignore_errors", r.x.Options.IgnoreErrors)
		e.ignore = ignore && err == nil
	case event.Unreachable:
		ignore, err := r.boolKeyword("ignore_unreachable", false)
		e.ignoreLost = ignore && err == nil
	}
	return e
}

// eventOf tells the end to the world, censored where no_log says so.
func (r *run) eventOf(e *end, start time.Time) *event.Result {
	res := &event.Result{
		Host: r.host, Delegated: e.delegated, DelegatedAddress: e.address, Task: r.event, Status: e.status, Changed: e.changed,
		Ignored: r.out.Ignored || r.out.IgnoreUnreachable, IsItem: e.item, Item: e.label, Loop: e.loop, Result: e.result,
		Start: start, End: r.x.Now(), Pos: e.pos, Hint: e.hint,
	}
	if e.item {
		res.Ignored = false
	}
	if !e.loop && !r.noLog {
		res.Args = r.tried
	}
	if e.status == event.Failed && e.hint == "" {
		res.Hint = r.optionHint(e.result)
	}
	if r.noLog {
		res.Result, res.Hint = censor(e.result), ""
		if r.event != nil && !r.event.NoLog {
			hidden := *r.event // no_log was a template that only now is known
			hidden.NoLog = true
			res.Task = &hidden
		}
		if e.item {
			res.Item = "(censored due to no_log)"
		}
	}
	return res
}

// censoredText stands where a result is hidden; the reference prints the same.
const censoredText = "the output has been hidden due to the fact that 'no_log: true' was specified for this result"

func censor(result *value.Dict) *value.Dict {
	c := value.DictOf("censored", censoredText)
	for _, k := range []string{"changed", "skipped", "failed", "unreachable", "attempts", "retries"} {
		if v, ok := result.Get(k); ok {
			c.Set(k, v)
		}
	}
	if !hasKey(c, "changed") {
		c.Set("changed", false)
	}
	return c
}

func hasKey(d *value.Dict, key string) bool { _, ok := d.Get(key); return ok }
