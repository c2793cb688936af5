package jinja

import (
	"strings"

	"play/modules/value"
)

func (c *compiler) unary(n unaryNode) exprFn {
	x, op := c.expr(n.x), n.op
	return func(f *frame) (any, error) {
		v, err := x(f)
		if err != nil {
			return nil, err
		}
		if op == "not" {
			var t bool
			if t, err = truth(v); err == nil {
				return !t, nil
			}
		} else if v, err = unaryOp(op, v); err == nil {
			return v, nil
		}
		return nil, c.wrap(n, err)
	}
}

func (c *compiler) binary(n binaryNode) exprFn {
	x, y := c.expr(n.x), c.expr(n.y)
	op := binaryOps[n.op]
	return func(f *frame) (any, error) {
		a, err := x(f)
		if err != nil {
			return nil, err
		}
		b, err := y(f)
		if err != nil {
			return nil, err
		}
		v, err := op(a, b, f.sizeLimit())
		if err != nil {
			return nil, c.wrap(n, undefinedFirst(err, a, b))
		}
		return v, nil
	}
}

func (c *compiler) compare(n compareNode) exprFn {
	x, ys := c.expr(n.x), c.exprs(n.ys)
	ops := make([]compareFn, len(ys))
	for i, op := range n.ops {
		ops[i] = compareOps(op)
	}
	return func(f *frame) (any, error) {
		a, err := x(f)
		if err != nil {
			return nil, err
		}
		for i, y := range ys {
			b, err := y(f)
			if err != nil {
				return nil, err
			}
			if err := defined(a, b); err != nil {
				return nil, c.wrap(n, err)
			}
			ok, err := ops[i](a, b)
			if err != nil {
				return nil, c.wrap(n, undefinedFirst(err, a, b))
			}
			if !ok {
				return false, nil
			}
			a = b
		}
		return true, nil
	}
}

func (c *compiler) concat(n concatNode) exprFn {
	parts := c.exprs(n.parts)
	return func(f *frame) (any, error) {
		var b strings.Builder
		for i, p := range parts {
			v, err := p(f)
			if err != nil {
				return nil, err
			}
			if err := defined(v); err != nil {
				return nil, c.wrap(n.parts[i], err)
			}
			s, ok := value.StrWithin(v, f.sizeLimit())
			if !ok || b.Len()+len(s) > f.sizeLimit() {
				return nil, c.wrap(n, errTooLarge)
			}
			b.WriteString(s)
		}
		return b.String(), nil
	}
}

func (c *compiler) logic(n logicNode) exprFn {
	x, y, or := c.expr(n.x), c.expr(n.y), n.or
	return func(f *frame) (any, error) {
		v, err := x(f)
		if err != nil {
			return nil, err
		}
		t, err := truth(v)
		if err != nil {
			return nil, c.wrap(n, err)
		}
		if t == or {
			return v, nil
		}
		return y(f)
	}
}

func (c *compiler) cond(n condNode) exprFn {
	test, then := c.expr(n.test), c.expr(n.then)
	line := c.text.place(n.offset()).Line
	other := func(*frame) (any, error) { return inlineIfUndefined(line), nil }
	if n.other != nil {
		other = c.expr(n.other)
	}
	return func(f *frame) (any, error) {
		v, err := test(f)
		if err != nil {
			return nil, err
		}
		t, err := truth(v)
		if err != nil {
			return nil, c.wrap(n, err)
		}
		if t {
			return then(f)
		}
		return other(f)
	}
}

// inlineIfUndefined is the value of an inline if without else that is false.
func inlineIfUndefined(line int) any {
	return &Undefined{lenient: true, Msg: "the inline if-expression on line " + itoa(line) + " evaluated to false and no else section was defined."}
}
