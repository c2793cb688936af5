package jinja

import (
	"play/modules/value"
)

// boundArgs are the arguments of a call as compiled.
type boundArgs struct {
	pos, named []exprFn
	names      []string
	star, dbl  exprFn
}

func (c *compiler) args(a argList) boundArgs {
	b := boundArgs{pos: c.exprs(a.pos), named: c.exprs(a.named), names: a.names}
	if a.star != nil {
		b.star = c.expr(a.star)
	}
	if a.dbl != nil {
		b.dbl = c.expr(a.dbl)
	}
	return b
}

// eval evaluates the arguments; kwargs is nil without keyword arguments.
func (b *boundArgs) eval(f *frame) (args []any, kwargs *value.Dict, err error) {
	if len(b.pos) > 0 {
		if args, err = evalAll(f, b.pos); err != nil {
			return nil, nil, err
		}
	}
	for i, fn := range b.named {
		v, err := fn(f)
		if err != nil {
			return nil, nil, err
		}
		if kwargs == nil {
			kwargs = value.NewDict()
		}
		kwargs.Set(b.names[i], v)
	}
	if b.star == nil && b.dbl == nil {
		return args, kwargs, nil
	}
	return b.unpack(f, args, kwargs)
}

func (b *boundArgs) unpack(f *frame, args []any, kwargs *value.Dict) ([]any, *value.Dict, error) {
	if b.star != nil {
		v, err := b.star(f)
		if err != nil {
			return nil, nil, err
		}
		items, err := iterate(v)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, items...)
	}
	if b.dbl == nil {
		return args, kwargs, nil
	}
	v, err := b.dbl(f)
	if err != nil {
		return nil, nil, err
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, nil, errorText("argument after ** must be a mapping, not " + value.TypeName(v))
	}
	all := kwargs.Clone()
	all.Update(d)
	return args, all, nil
}

func (c *compiler) call(n callNode) exprFn {
	args := c.args(n.args)
	if a, ok := n.fn.(attrNode); ok {
		return c.methodCall(n, a, args)
	}
	fn := c.expr(n.fn)
	return func(f *frame) (any, error) {
		v, err := fn(f)
		if err != nil {
			return nil, err
		}
		v, err = args.call(f, v)
		if err != nil {
			return nil, c.wrap(n, err)
		}
		return v, nil
	}
}

// call evaluates the arguments and calls fn. A global function, such as lookup,
// learns whether a host's data had a part in them.
func (b *boundArgs) call(f *frame, fn any) (any, error) {
	_, isGlobal := fn.(*global)
	traced := isGlobal && f.ctx.state.trace != nil
	if traced {
		f.ctx.state.push()
	}
	pos, kw, err := b.eval(f)
	fromHost := traced && f.ctx.state.pop()
	if err != nil {
		return nil, err
	}
	return f.callValue(fn, pos, kw, fromHost)
}

// methodCall compiles base.name(…): a method of a Python type is called
// without making a bound method first.
func (c *compiler) methodCall(n callNode, a attrNode, args boundArgs) exprFn {
	base, attr := c.expr(a.base), c.attr(a)
	name := a.name
	if mutators[name] {
		c.use.mutates = true
	}
	return func(f *frame) (any, error) {
		b, err := base(f)
		if err != nil {
			return nil, err
		}
		m := findMethod(b, name)
		var fn any
		if m == nil {
			if fn, err = attr(f); err != nil {
				return nil, err
			}
		}
		pos, kw, err := args.eval(f)
		if err != nil {
			return nil, c.wrap(n, err)
		}
		var v any
		if m != nil {
			v, err = f.callMethod(m, b, pos, kw)
		} else {
			v, err = f.callValue(fn, pos, kw, false)
		}
		if err != nil {
			return nil, c.wrap(n, err)
		}
		return v, nil
	}
}

// Callable is a value that a template can call: a macro, a bound method, a
// function of a global object such as cycler.
type Callable interface {
	Call(c *Context, args []any, kwargs *value.Dict) (any, error)
}

// Attributed is a value with attributes of its own: a loop, a namespace.
type Attributed interface {
	Attr(name string) (v any, ok bool)
}

func (f *frame) callValue(fn any, args []any, kwargs *value.Dict, fromHost bool) (any, error) {
	if err := f.step(1); err != nil {
		return nil, err
	}
	switch fn := fn.(type) {
	case *Undefined:
		return nil, fn.err()
	case *global:
		v, err := fn.callFrom(f, args, kwargs, fromHost)
		if f.pins != nil && err == nil {
			v = own(v)
		}
		return v, err
	case inFrame:
		return fn.callIn(f, args, kwargs)
	case Callable:
		return fn.Call(f.ctx, args, kwargs)
	}
	return nil, errorText("'" + value.TypeName(fn) + "' object is not callable")
}

// inFrame is a callable that needs the frame of its caller.
type inFrame interface {
	callIn(f *frame, args []any, kwargs *value.Dict) (any, error)
}

func (c *compiler) filter(n filterNode) exprFn {
	b, ok := c.env.builtin("filter", n.name)
	if !ok {
		return c.missing(n, "No filter named '"+n.name+"'.")
	}
	base := c.expr(n.base)
	run := c.builtin(b, n, n.args)
	return func(f *frame) (any, error) {
		v, err := base(f)
		if err != nil {
			return nil, err
		}
		return run(f, v)
	}
}

func (c *compiler) missing(n node, msg string) exprFn {
	err := c.wrap(n, errorText(msg))
	return func(*frame) (any, error) { return nil, err }
}

// builtin compiles the call of a filter or test with its arguments.
func (c *compiler) builtin(b *builtin, n node, a argList) func(f *frame, v any) (any, error) {
	args := c.args(a)
	pos := c.text.place(n.offset())
	return func(f *frame, v any) (any, error) {
		args, kwargs, err := args.eval(f)
		if err != nil {
			return nil, c.wrap(n, err)
		}
		call := Call{Ctx: f.ctx, Env: c.env, Name: b.Name, Value: v, Pos: pos}
		v, err = b.invoke(&call, args, kwargs)
		if err != nil {
			return nil, c.wrap(n, err)
		}
		return v, nil
	}
}

func (c *compiler) test(n testNode) exprFn {
	b, ok := c.env.builtin("test", n.name)
	if !ok {
		return c.missing(n, "No test named '"+n.name+"'.")
	}
	base := c.expr(n.base)
	if b.Name == "defined" || b.Name == "undefined" {
		base = c.path(n.base)
	}
	run, not := c.builtin(b, n, n.args), n.not
	return func(f *frame) (any, error) {
		v, err := base(f)
		if err != nil {
			return nil, err
		}
		v, err = run(f, v)
		if err != nil {
			return nil, err
		}
		if !not {
			return v, nil
		}
		t, err := truth(v)
		return !t, err
	}
}
