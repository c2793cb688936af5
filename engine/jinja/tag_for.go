package jinja

import (
	"errors"

	"play/modules/value"
)

var (
	errBreak    = errors.New("break outside of a loop")
	errContinue = errors.New("continue outside of a loop")
)

func parseBreak(*tag) (stmt, error)    { return func(*frame) error { return errBreak }, nil }
func parseContinue(*tag) (stmt, error) { return func(*frame) error { return errContinue }, nil }

// forTag is a compiled for statement.
type forTag struct {
	name      string // of a target that is one name; else assign does it
	assign    assignFn
	items     exprFn
	counts    []exprFn // the arguments of range(), when that is what is iterated over
	test      exprFn   // nil without "if"
	body      *body
	orElse    *body // nil without else
	recursive bool
	extended  bool // the body reads "loop"
	keeps     bool // the body holds on to its scope: each step needs its own
}

func parseFor(t *tag) (stmt, error) {
	p := newParser(t.text)
	ft := &forTag{}
	if p.peek().kind == kName && p.look(1).kind == kName && p.look(1).text == "in" {
		ft.name = p.peek().text
	}
	ft.assign = t.target(p, "in")
	p.expectWord("in")
	seq := p.tuple(tupleRule{stop: []string{"recursive"}})
	var test node
	if p.word("if") {
		test = p.expr()
	}
	ft.recursive = p.word("recursive")
	if err := p.end(); err != nil {
		return nil, err
	}
	c := t.compiler()
	ft.items = c.expr(seq)
	ft.counts = c.rangeArgs(seq)
	if test != nil {
		ft.test = c.expr(test)
	}
	return ft.run, t.forBody(ft)
}

// rangeArgs compiles the arguments of a plain range(…) so that its numbers
// need no list.
func (c *compiler) rangeArgs(n node) []exprFn {
	call, ok := n.(callNode)
	if !ok || len(call.args.names) > 0 || call.args.star != nil || call.args.dbl != nil {
		return nil
	}
	if name, ok := call.fn.(nameNode); !ok || name.name != "range" || len(call.args.pos) == 0 || len(call.args.pos) > 3 {
		return nil
	}
	return c.exprs(call.args.pos)
}

// forBody parses the body and finds out what it needs of the loop.
func (t *tag) forBody(ft *forTag) error {
	outer, keeps := t.use.names["loop"], t.keeps
	t.use.names["loop"] = false
	var end string
	var err error
	if ft.body, end, _, err = t.body("else", "endfor"); err != nil {
		return err
	}
	ft.extended = t.use.names["loop"] || ft.recursive
	ft.keeps = t.keeps > keeps
	t.use.names["loop"] = outer || t.use.names["loop"]
	if end == "else" {
		ft.orElse, _, _, err = t.body("endfor")
	}
	return err
}

func (ft *forTag) run(f *frame) error {
	if ft.counts != nil {
		if r, ok, err := ft.countRange(f); ok || err != nil {
			if err != nil {
				return err
			}
			return ft.loop(f, r, nil)
		}
	}
	v, err := ft.items(f)
	if err != nil {
		return err
	}
	items, err := sequence(v)
	if err != nil {
		return err
	}
	return ft.loop(f, items, nil)
}

// sequence is what a for statement walks over.
func sequence(v any) (steps, error) {
	if err := defined(v); err != nil {
		return steps{}, err
	}
	items, err := iterate(v)
	return steps{items: items, n: len(items)}, err
}

// steps are the values of a loop: items, or the numbers of a range.
type steps struct {
	items              []any // nil for a range
	n                  int
	rangeFrom, rangeBy int
}

func (s *steps) at(i int) any {
	if s.items != nil {
		return s.items[i]
	}
	return s.rangeFrom + i*s.rangeBy
}

// countRange works out the numbers of range(…); ok is false when the name is
// not the function.
func (ft *forTag) countRange(f *frame) (s steps, ok bool, err error) {
	if f.sc != nil {
		if _, hidden, _ := f.sc.get("range"); hidden {
			return s, false, nil
		}
	}
	if _, hidden := f.ctx.raw("range"); hidden {
		return s, false, nil
	}
	bounds := [3]int{0, 0, 1}
	for i, fn := range ft.counts {
		v, err := fn(f)
		if err != nil {
			return s, false, err
		}
		n, isInt := value.AsInt(v)
		if !isInt {
			return s, false, nil // the function itself tells the mistake
		}
		bounds[i] = n
	}
	if len(ft.counts) == 1 {
		bounds[0], bounds[1] = 0, bounds[0]
	}
	if bounds[2] == 0 {
		return s, false, nil
	}
	s.rangeFrom, s.rangeBy = bounds[0], bounds[2]
	s.n = rangeLen(bounds[0], bounds[1], bounds[2])
	return s, true, nil
}

func rangeLen(start, stop, step int) int {
	switch {
	case step > 0 && start < stop:
		return int((uint(stop)-uint(start)-1)/uint(step)) + 1
	case step < 0 && start > stop:
		return int((uint(start)-uint(stop)-1)/(-uint(step))) + 1
	}
	return 0
}

// walker hands out a loop's values, those that pass its test.
type walker struct {
	steps
	i    int // of the next value to look at
	test func(v any) (bool, error)
	peek []any // values found ahead of time
}

func (w *walker) next() (v any, ok bool, err error) {
	if len(w.peek) > 0 {
		v = w.peek[0]
		w.peek = w.peek[1:]
		return v, true, nil
	}
	return w.search()
}

func (w *walker) search() (v any, ok bool, err error) {
	for w.i < w.n {
		v = w.at(w.i)
		w.i++
		if w.test == nil {
			return v, true, nil
		}
		fits, err := w.test(v)
		if err != nil {
			return nil, false, err
		}
		if fits {
			return v, true, nil
		}
	}
	return nil, false, nil
}

// ahead returns the next value without taking it.
func (w *walker) ahead() (v any, ok bool, err error) {
	if len(w.peek) == 0 {
		v, ok, err := w.search()
		if !ok || err != nil {
			return nil, false, err
		}
		w.peek = append(w.peek, v)
	}
	return w.peek[0], true, nil
}

// rest counts the values that are still to come.
func (w *walker) rest() (int, error) {
	if w.test == nil {
		return len(w.peek) + w.n - w.i, nil
	}
	for {
		v, ok, err := w.search()
		if err != nil {
			return 0, err
		}
		if !ok {
			return len(w.peek), nil
		}
		w.peek = append(w.peek, v)
	}
}

// loop runs the body for each value; outer is the loop that called this one
// again, in a recursive one.
func (ft *forTag) loop(f *frame, s steps, outer *loopVar) error {
	w := &walker{steps: s}
	if ft.test != nil {
		tf := f.inner()
		w.test = func(v any) (bool, error) { return ft.passes(tf, v) }
	}
	g := f.inner()
	var lv *loopVar
	if ft.extended {
		lv = &loopVar{walker: w, tag: ft, frame: f}
		if outer != nil {
			lv.depth0 = outer.depth0 + 1
		}
	}
	ft.fixedNames(g.sc, lv)
	ran := false
	for {
		v, ok, err := w.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		ran = true
		switch err := ft.once(g, lv, v); err {
		case nil, errContinue:
		case errBreak:
			return nil
		default:
			return err
		}
	}
	if !ran && ft.orElse != nil {
		return ft.orElse.run(f.inner())
	}
	return nil
}

func (ft *forTag) passes(f *frame, v any) (bool, error) {
	f.sc.reset(0)
	if err := ft.assign(f, v); err != nil {
		return false, err
	}
	r, err := ft.test(f)
	if err != nil {
		return false, err
	}
	return truth(r)
}

// once runs the body for one value.
func (ft *forTag) once(g *frame, lv *loopVar, v any) error {
	if err := g.step(1); err != nil {
		return err
	}
	if ft.keeps {
		g.sc = &scope{parent: g.sc.parent}
		ft.fixedNames(g.sc, lv)
	}
	if fixed := ft.fixed(lv); len(g.sc.names) > fixed {
		g.sc.reset(fixed)
	}
	if lv != nil {
		lv.advance(v)
		g.sc.vals[0] = lv
	}
	if ft.name != "" {
		g.sc.vals[len(g.sc.vals)-1] = v
	} else if err := ft.assign(g, v); err != nil {
		return err
	}
	return ft.body.run(g)
}

// fixed is the number of names that a step's scope always begins with: "loop"
// if the body reads it, and a target that is one name.
func (ft *forTag) fixed(lv *loopVar) int {
	n := 0
	if lv != nil {
		n++
	}
	if ft.name != "" {
		n++
	}
	return n
}

func (ft *forTag) fixedNames(sc *scope, lv *loopVar) {
	if lv != nil {
		sc.set("loop", lv)
	}
	if ft.name != "" {
		sc.names = append(sc.names, ft.name)
		sc.vals = append(sc.vals, nil)
	}
}
