package strategy

import (
	"errors"

	"play/engine/debugger"
	"play/engine/event"
	"play/engine/task"
	"play/engine/vars"
	"play/modules/value"
)

// ErrQuit says that the person at the debugger ended the run: there is no recap.
var ErrQuit = errors.New("the run was ended at the debugger")

// debugged shows an outcome and lets a person look at it where the debugger
// keyword asks for that, until they go on; it returns the last outcome and
// whether it was shown already.
func (s *settle) debugged(o *task.Outcome) (last *task.Outcome, shown bool) {
	b := s.b
	if b.Debugger == nil || s.err != nil || b.ctx.Err() != nil {
		return o, false
	}
	for s.stops(o) {
		b.Sink.Result(o.Event)
		stop := s.stop(o)
		answer, err := debugger.Talk(stop, b.Debugger)
		switch {
		case err != nil:
			s.err = err
			return o, true
		case answer == debugger.Quit:
			s.err = ErrQuit
			return o, true
		case answer == debugger.Continue:
			return o, true
		}
		again := *s.task
		again.Args, again.ArgsFrom = stop.Args, nil
		o = b.Executor.RunWith(b.ctx, o.Host, &again, s.event, stop.Changed)
		o.Task = s.task
	}
	return o, false
}

// stops reports whether the debugger is to open for an outcome.
func (s *settle) stops(o *task.Outcome) bool {
	b, when := s.b, ""
	if v, err := b.hostKeyword(s.task, o.Host, "debugger"); err == nil && v != nil {
		when = value.Str(v)
	}
	failed := o.Status == event.Failed && (!o.Ignored || b.DebugIgnored)
	lost := o.Status == event.Unreachable
	switch {
	case when == "never":
		return false
	case b.debugging && (failed || lost):
		return true
	}
	return when == "always" || when == "on_failed" && failed || when == "on_unreachable" && lost ||
		when == "on_skipped" && o.Status == event.Skipped
}

// stop describes the outcome for the debugger.
func (s *settle) stop(o *task.Outcome) *debugger.Stop {
	b := s.b
	scope, err := b.view.Scope(o.Host, s.task)
	if err != nil {
		scope = vars.NewScope(nil) // it could not be made for the task either
	}
	args := func(changed *value.Dict) (*value.Dict, error) {
		if s.task.Loop != nil {
			return s.task.Args.Clone(), nil // they differ by item
		}
		a, err := b.Executor.AttemptWith(o.Host, s.task, changed)
		if err != nil {
			return nil, err
		}
		return a.Args, nil
	}
	evaluated, err := args(nil)
	if err != nil {
		evaluated = s.task.Args.Clone() // as written
	}
	return &debugger.Stop{Host: o.Host, Name: s.event.Name, Action: s.task.Action, Args: evaluated, Result: o.Result, Vars: scope,
		Names: scope.Names, Changed: value.NewDict(), Update: args, Env: b.Executor.Jinja,
		Context: b.Executor.Context(scope, nil)}
}
