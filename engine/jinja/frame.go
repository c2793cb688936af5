package jinja

import (
	"context"
	"errors"
	"strings"

	"github.com/flosch/pongo2/v6"

	"play/engine/source"
	"play/modules/value"
)

// frame is what a compiled expression or tag runs in: the context, the names
// in reach and where the text goes.
type frame struct {
	ctx    *Context
	sc     *scope                   // nil: only variables
	out    *output                  // nil in a single expression
	run    *rendering               // the document that is rendered; nil in a single expression
	pongo  *pongo2.ExecutionContext // pongo2's own, handed on from tag to tag
	native bool                     // text of macros and blocks may become a list, dict or boolean
	pins   *scope                   // own copies of variables, for templates that change them
}

// maxDepth bounds macros, includes and variables that lead into each other.
const maxDepth = 400

// evalState counts what one evaluation does, so that it ends. It is shared by
// every context that was made from the same one with With.
type evalState struct {
	steps, maxSteps int64
	maxOutput       int // bytes
	depth           int
	chain           []link
	trace           *trace // nil: nobody asks what is read
}

// link is a variable that is being evaluated.
type link struct {
	tmpl *Template
	name string
}

// frame returns the frame of single expressions.
func (c *Context) frame() *frame {
	if c.root == nil {
		c.root = &frame{ctx: c}
	}
	if c.state == nil {
		c.state = &evalState{maxSteps: defaultMaxSteps, maxOutput: defaultMaxOutput}
	}
	return c.root
}

// With returns a context over other variables that shares the bounds and the
// loop detection of c: hostvars evaluates another host's variables in one.
func (c *Context) With(vars Scope) *Context {
	c.frame()
	d := *c
	d.Vars, d.Locals, d.root = vars, nil, nil
	return &d
}

// sizeLimit bounds, in bytes, what one operator may make.
func (f *frame) sizeLimit() int { return f.ctx.state.maxOutput }

// begin starts an evaluation: unless it is part of another one, the count of
// its steps starts anew.
func (f *frame) begin(e *Env) error {
	if st := f.ctx.state; st.depth == 0 {
		st.steps, st.maxSteps, st.maxOutput = 0, e.maxSteps, e.maxOutput
	}
	return f.step(1)
}

// step counts n units of work; it fails at the limit and when the evaluation
// was cancelled.
func (f *frame) step(n int64) error {
	st := f.ctx.state
	before := st.steps
	st.steps += n
	if st.steps > st.maxSteps {
		return errorText("the template takes too many steps")
	}
	if before>>10 != st.steps>>10 && f.ctx.Go != nil {
		return context.Cause(f.ctx.Go)
	}
	return nil
}

// enter counts one level of macros, includes or variables; leave ends it.
func (f *frame) enter() error {
	st := f.ctx.state
	if st.depth >= maxDepth {
		return errorText("maximum recursion depth exceeded")
	}
	st.depth++
	return nil
}

func (f *frame) leave() { f.ctx.state.depth-- }

// name finds a name. What it returns may be a container in which something
// still waits to be evaluated; a waiting value itself is evaluated.
func (f *frame) name(e *Env, name string) (any, error) {
	if f.sc != nil {
		v, ok, sealed := f.sc.get(name)
		if ok {
			f.ctx.state.sawLocal()
			return v, nil
		}
		if sealed {
			return e.global(name), nil
		}
	}
	v, ok := f.ctx.raw(name)
	if !ok {
		return e.global(name), nil
	}
	if f.pins != nil {
		return f.pinned(name, v)
	}
	return f.force(v, name)
}

// raw finds a variable as it was loaded.
func (c *Context) raw(name string) (any, bool) {
	if c.Locals != nil {
		if v, ok := c.Locals.Get(name); ok {
			if c.state != nil {
				c.state.sawLocal()
			}
			return v, true
		}
	}
	return c.Raw(name)
}

// pinned returns this rendering's own copy of a variable, so that a template
// that calls append or update changes nothing of others.
func (f *frame) pinned(name string, v any) (any, error) {
	if p, ok, _ := f.pins.get(name); ok {
		return p, nil
	}
	v, err := f.force(v, name)
	if err == nil {
		v, err = f.settle(v, name)
	}
	if err != nil {
		return nil, err
	}
	v = own(v)
	f.pins.set(name, v)
	return v, nil
}

// own copies containers at every depth; what is shared stays shared.
func own(v any) any {
	switch v := v.(type) {
	case *value.List, *value.Dict, value.Tuple:
		return copier{}.copy(v)
	case value.Mapping:
		return ownedMapping{v}
	}
	return v
}

// ownedMapping hands out copies of what a mapping has.
type ownedMapping struct{ value.Mapping }

// Get returns a copy of the value.
func (m ownedMapping) Get(key any) (any, bool, error) {
	v, ok, err := m.Mapping.Get(key)
	return own(v), ok, err
}

// copier maps containers to their copies.
type copier map[any]any

func (m copier) copy(v any) any {
	switch v := v.(type) {
	case *value.List:
		if c, ok := m[v]; ok {
			return c
		}
		c := &value.List{}
		m[v] = c
		c.Items = m.items(v.Items)
		return c
	case value.Tuple:
		return value.Tuple(m.items(v))
	case *value.Dict:
		if c, ok := m[v]; ok {
			return c
		}
		c := v.Clone()
		m[v] = c
		for i := range c.Len() {
			_, item := c.At(i)
			c.SetAt(i, m.copy(item))
		}
		return c
	case value.Mapping:
		return ownedMapping{v}
	}
	return v
}

func (m copier) items(items []any) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = m.copy(item)
	}
	return out
}

// force evaluates a value that waits; name is how the person calls it.
func (f *frame) force(v any, name string) (any, error) {
	switch v := v.(type) {
	case *Template:
		return f.variable(v, name)
	case Binder:
		return v.Bind(f.ctx), nil
	case Deferred:
		return v.Value(f.ctx)
	}
	return v, nil
}

// variable evaluates a template that is the value of a variable.
func (f *frame) variable(t *Template, name string) (any, error) {
	st := f.ctx.state
	for _, l := range st.chain {
		if l.tmpl == t {
			return nil, source.Errorf(t.Pos, "%w", &LoopError{Chain: chainNames(st.chain, t, name)})
		}
	}
	if err := f.enter(); err != nil {
		return nil, err
	}
	st.chain = append(st.chain, link{t, name})
	v, err := t.Value(f.ctx)
	st.chain = st.chain[:len(st.chain)-1]
	f.leave()
	return asUndefined(v, err, name, t)
}

// asUndefined turns the error about something undefined inside a variable into
// an Undefined: the variable counts as undefined itself, and "default" works.
func asUndefined(v any, err error, name string, t *Template) (any, error) {
	var u *UndefinedError
	if err == nil || !errors.As(err, &u) {
		return v, err
	}
	msg := u.Msg
	if t != nil {
		msg = t.Source + ": " + msg
	}
	return &Undefined{Name: name, Msg: msg, Pos: u.Pos, hinted: u.Near}, nil
}

// LoopError tells that variables lead into each other. Chain names them in
// order; the last one is the first one again.
type LoopError struct{ Chain []string }

// Error shows the chain.
func (e *LoopError) Error() string {
	return "recursive loop detected among variables: " + strings.Join(e.Chain, " → ")
}

func chainNames(chain []link, t *Template, name string) []string {
	var names []string
	for _, l := range chain {
		if l.tmpl == t || len(names) > 0 {
			names = append(names, l.name)
		}
	}
	return append(names, name)
}

// settle evaluates what waits inside a container.
func (f *frame) settle(v any, name string) (any, error) {
	switch x := v.(type) {
	case *value.Dict:
		if !x.Lazy {
			return v, nil
		}
	case *value.List:
		if !x.Lazy {
			return v, nil
		}
	default:
		return v, nil
	}
	r, err := f.ctx.Resolve(v)
	return asUndefined(r, err, name, nil)
}
