package task

import (
	"context"
	"errors"
	"fmt"

	"play/engine/event"
	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

// failure turns an action's error into a failed or unreachable end.
func (r *run) failure(err error) *end {
	var u Unreachable
	if errors.As(err, &u) && u.Unreachable() {
		return &end{status: event.Unreachable, pos: r.task.Pos, result: value.DictOf(
			"changed", false, "msg", u.Error(), "unreachable", true)}
	}
	if r.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = context.Cause(r.ctx) // it says what happened
	}
	e := &end{status: event.Failed, pos: r.task.Pos}
	msg := err.Error()
	var se *source.Error
	if errors.As(err, &se) {
		if !se.Pos.IsZero() {
			e.pos = se.Pos
		}
		e.hint, msg = se.Hint, se.Msg
	}
	var undef *jinja.UndefinedError
	if errors.As(err, &undef) {
		msg = "The task includes an option with an undefined variable. The error was: " + undef.Msg
		if !undef.Pos.IsZero() {
			e.pos = undef.Pos
		}
	}
	var cond *ConditionError
	if errors.As(err, &cond) {
		e.aborts = true
		e.pos, e.hint = cond.Pos, r.undefinedHint(cond.Msg, cond.Near)
		e.result = value.DictOf("failed", true, "msg", cond.Msg)
		return e
	}
	var fail *Fail
	if errors.As(err, &fail) {
		e.result = fail.Result
		if !hasKey(e.result, "changed") {
			e.result.Set("changed", false)
		}
		changed, _ := e.result.Get("changed")
		e.changed = value.Truth(changed)
		e.result.Set("failed", true)
		return e
	}
	if e.hint == "" {
		near := ""
		if undef != nil {
			near = undef.Near
		}
		e.hint = r.undefinedHint(msg, near)
	}
	e.result = value.DictOf("changed", false, "failed", true, "msg", msg)
	return e
}

// abort is the end of a task that could not be evaluated: the reference gives
// such a result no "changed", and tries no further item.
func (r *run) abort(err error) *end {
	e := r.failure(err)
	if e.status == event.Failed {
		e.result.Delete("changed")
		e.aborts = true
	}
	return r.ignoring(e)
}

// abortPlain is abort for a loop's items and an include's name, which the
// reference words without naming an option.
func (r *run) abortPlain(err error) *end {
	e := r.abort(err)
	var undef *jinja.UndefinedError
	if errors.As(err, &undef) {
		e.result.Set("msg", undef.Msg)
	}
	return e
}

// Fail is an action's failure with its full result.
type Fail struct{ Result *value.Dict }

// Error returns the result's msg.
func (f *Fail) Error() string {
	msg, _ := f.Result.Get("msg")
	s, _ := msg.(string)
	return s
}

// Failf makes a failure with only a msg.
func Failf(format string, args ...any) *Fail {
	return &Fail{value.DictOf("changed", false, "failed", true, "msg", fmt.Sprintf(format, args...))}
}

// ConditionError says that a condition could not be judged: the task fails
// whatever else it would have done.
type ConditionError struct {
	Msg  string
	Pos  source.Pos
	Near string // the entry of a dict that may have been meant; "" for none
}

// Error names the condition and the reason.
func (e *ConditionError) Error() string { return e.Msg }

// NewConditionError names the condition that could not be judged.
func NewConditionError(c *jinja.Cond, err error) error {
	msg := err.Error()
	var se *source.Error
	pos := c.Pos
	if errors.As(err, &se) {
		msg = se.Msg
		if !se.Pos.IsZero() {
			pos = se.Pos
		}
	}
	var undef *jinja.UndefinedError
	near := ""
	if errors.As(err, &undef) {
		msg, near = fmt.Sprintf("error while evaluating conditional (%s): %s", c.Source, undef.Msg), undef.Near
	}
	return &ConditionError{Pos: pos, Near: near, Msg: fmt.Sprintf("The conditional check '%s' failed. The error was: %s", c.Source, msg)}
}

func isUndefined(err error) bool {
	var u *jinja.UndefinedError
	return errors.As(err, &u)
}
