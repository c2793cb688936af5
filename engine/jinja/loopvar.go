package jinja

import (
	"play/modules/value"
)

// loopVar is the variable "loop" inside a for.
type loopVar struct {
	walker  *walker
	tag     *forTag
	frame   *frame // around the for
	index0  int    // one more than it, between two steps
	started bool
	depth0  int
	before  any // the value of the step before
	current any
	changed []any // what changed() saw last; nil at first
}

// advance moves to the next value.
func (l *loopVar) advance(v any) {
	if l.started {
		l.index0++
		l.before = l.current
	}
	l.started = true
	l.current = v
}

// TypeName is the Python type's name.
func (l *loopVar) TypeName() string { return "LoopContext" }

// Repr shows where the loop stands.
func (l *loopVar) Repr() string {
	n, _ := l.length()
	return "<LoopContext " + itoa(l.index0+1) + "/" + itoa(n) + ">"
}

func (l *loopVar) length() (int, error) {
	rest, err := l.walker.rest()
	return l.index0 + 1 + rest, err
}

// Attr returns loop.index and its kin.
func (l *loopVar) Attr(name string) (any, bool) {
	switch name {
	case "index":
		return l.index0 + 1, true
	case "index0":
		return l.index0, true
	case "first":
		return l.index0 == 0, true
	case "depth":
		return l.depth0 + 1, true
	case "depth0":
		return l.depth0, true
	case "previtem":
		if l.index0 == 0 {
			return &Undefined{Name: name, Msg: "there is no previous item"}, true
		}
		return l.before, true
	case "cycle":
		return &loopMethod{l.cycle}, true
	case "changed":
		return &loopMethod{l.hasChanged}, true
	}
	return l.forward(name)
}

// forward are the attributes that need what is still to come.
func (l *loopVar) forward(name string) (any, bool) {
	switch name {
	case "last":
		_, more, err := l.walker.ahead()
		return failedOr(!more, err), true
	case "nextitem":
		v, more, err := l.walker.ahead()
		if err == nil && !more {
			return &Undefined{Name: name, Msg: "there is no next item"}, true
		}
		return failedOr(v, err), true
	case "length":
		n, err := l.length()
		return failedOr(n, err), true
	case "revindex":
		n, err := l.walker.rest()
		return failedOr(n+1, err), true
	case "revindex0":
		n, err := l.walker.rest()
		return failedOr(n, err), true
	}
	return nil, false
}

// failedOr turns an error of the loop's test into a value that fails when used.
func failedOr(v any, err error) any {
	if err != nil {
		return &Undefined{Msg: err.Error()}
	}
	return v
}

// Len is the number of steps.
func (l *loopVar) Len() int {
	n, _ := l.length()
	return n
}

func (l *loopVar) cycle(args []any) (any, error) {
	if len(args) == 0 {
		return nil, errorText("no items for cycling given")
	}
	return args[l.index0%len(args)], nil
}

func (l *loopVar) hasChanged(args []any) (any, error) {
	same := l.changed != nil && value.Equal(value.Tuple(l.changed), value.Tuple(args))
	l.changed = append(make([]any, 0, len(args)+1), args...)
	return !same, nil
}

// callIn runs a recursive loop over other items.
func (l *loopVar) callIn(f *frame, args []any, _ *value.Dict) (any, error) {
	if !l.tag.recursive {
		return nil, errorText("The loop must have the 'recursive' marker to be called recursively.")
	}
	if len(args) != 1 {
		return nil, errorText("loop() takes one argument")
	}
	s, err := sequence(args[0])
	if err != nil {
		return nil, err
	}
	if err := f.enter(); err != nil {
		return nil, err
	}
	defer f.leave()
	t, err := l.frame.capture(func(g *frame) error { return l.tag.loop(g, s, l) })
	return f.run.doc.env.captured(f, t), err
}

// loopMethod is a method of a loop.
type loopMethod struct {
	fn func(args []any) (any, error)
}

// Call calls the method.
func (m *loopMethod) Call(_ *Context, args []any, kwargs *value.Dict) (any, error) {
	if kwargs.Len() > 0 {
		return nil, errorText("loop's methods take no keyword arguments")
	}
	if err := defined(args...); err != nil {
		return nil, err
	}
	return m.fn(args)
}
