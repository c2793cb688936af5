package task

import (
	"errors"
	"time"

	"play/engine/event"
	"play/engine/jinja"
	"play/engine/vars"
	"play/modules/value"
)

// retry makes attempts until one satisfies until, or none is left.
func (r *run) retry(a *Attempt, act *Action) *end {
	attempts, delay, err := r.retryKeywords()
	if err != nil {
		return r.abort(err)
	}
	base := r.scope
	defer r.use(base)
	for n := 1; ; n++ {
		start := r.x.Now()
		e := r.act(a, act)
		if e.status == event.Unreachable {
			return e
		}
		if r.task.Until != nil {
			e.result.Set("attempts", n)
		}
		r.learn(base, e.result)
		r.judge(e)
		if attempts <= 1 {
			return e
		}
		done, err := r.satisfied()
		if err != nil {
			return r.abort(err)
		}
		if done {
			return e
		}
		if n >= attempts || r.ctx.Err() != nil {
			e.result.Set("attempts", attempts-1)
			e.result.Set("failed", true)
			e.status = event.Failed
			return e
		}
		r.tellRetry(e, attempts, start)
		if err := r.sleep(delay); err != nil {
			return r.abort(err)
		}
	}
}

// retryKeywords returns how many attempts there are in all, and the pause.
func (r *run) retryKeywords() (attempts int, delay time.Duration, err error) {
	if r.task.Until == nil {
		return 1, 0, nil
	}
	if attempts, err = r.intKeyword("retries", 3); err != nil {
		return 0, 0, err
	}
	delay, err = r.secondsKeyword("delay", 5*time.Second)
	if delay < 0 {
		delay = time.Second
	}
	return max(attempts, 0) + 1, delay, err
}

// tellRetry reports an attempt that will be tried again.
func (r *run) tellRetry(e *end, attempts int, start time.Time) {
	shown := *e
	shown.result = e.result.Clone()
	shown.result.Set("retries", attempts)
	ev := r.eventOf(&shown, start)
	ev.Retrying = true
	r.x.Sink.Result(ev)
}

// learn makes what the attempt brought known to the conditions after it and to
// the later items: the registered result and facts.
func (r *run) learn(base *vars.Scope, result *value.Dict) {
	facts, _ := result.Get("ansible_facts")
	d, _ := facts.(*value.Dict)
	if r.task.Register == "" && d == nil {
		return
	}
	known := r.learnt.Clone()
	own := r.task.Action == "set_fact" || r.task.Action == "include_vars"
	for k, v := range d.All() {
		if name, ok := k.(string); ok && (own || !vars.Reserved(name)) {
			known.Set(name, v)
		}
	}
	known.Lazy = own && (known.Lazy || d != nil && d.Lazy)
	if r.task.Register != "" {
		known.Set(r.task.Register, result)
	}
	r.learnt = known
	r.use(base.WithFrom("the task's own results", known, true))
}

// judge applies changed_when and failed_when. A condition that cannot be
// evaluated fails the task and says so in changed_when_result or
// failed_when_result.
func (r *run) judge(e *end) {
	if e.status == event.Skipped || e.aborts {
		return
	}
	if r.task.ChangedWhen != nil {
		changed, err := r.all(r.task.ChangedWhen)
		if err != nil {
			r.unjudged(e, "changed_when_result", err)
			return
		}
		e.changed = changed
		e.result.Set("changed", changed)
	}
	if r.task.FailedWhen == nil {
		return
	}
	failed, err := r.all(r.task.FailedWhen)
	if err != nil {
		r.unjudged(e, "failed_when_result", err)
		return
	}
	e.result.Set("failed_when_result", failed)
	e.result.Set("failed", failed)
	e.status = event.OK
	if failed {
		e.status = event.Failed
	}
}

func (r *run) unjudged(e *end, key string, err error) {
	e.status = event.Failed
	e.result.Set("failed", true)
	var ce *ConditionError
	if errors.As(err, &ce) {
		e.result.Set(key, ce.Msg)
		e.pos = ce.Pos
	}
}

// satisfied reports whether until holds.
func (r *run) satisfied() (bool, error) { return r.all(r.task.Until) }

func (r *run) all(conds []*jinja.Cond) (bool, error) {
	for _, c := range conds {
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
