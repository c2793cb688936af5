package jinja

import (
	"play/modules/value"
)

// assignFn stores a value under a target's names.
type assignFn func(f *frame, v any) error

// target parses what can be assigned to: a name, names with commas between, or
// an attribute of a namespace.
func (t *tag) target(p *parser, stop ...string) assignFn {
	start := p.peek().at
	var parts []assignFn
	isTuple := false
	for p.err == nil {
		if len(parts) > 0 {
			if !p.op(",") {
				break
			}
			isTuple = true
		}
		if p.isOp("=") || p.isOp(")") || p.peek().kind == kEOF || len(stop) > 0 && p.isName(stop[0]) {
			break
		}
		parts = append(parts, t.targetItem(p))
	}
	if len(parts) == 0 {
		p.fail(start, "Expected an expression, got "+value.Repr(p.describe(p.peek())))
		return nil
	}
	if !isTuple {
		return parts[0]
	}
	return unpackTo(parts)
}

func (t *tag) targetItem(p *parser) assignFn {
	tok := p.peek()
	if p.op("(") {
		fn := t.target(p)
		p.expectOp(")")
		return fn
	}
	if tok.kind == kInt || tok.kind == kFloat || tok.kind == kString || tok.kind == kName && isConstant(tok.text) {
		p.fail(tok.at, "can't assign to 'const'")
	}
	name := p.expectName()
	t.use.sets[name] = true
	return func(f *frame, v any) error {
		f.sc.set(name, v)
		return nil
	}
}

// setTarget parses the target of a set statement, which may also be an
// attribute of a namespace.
func (t *tag) setTarget(p *parser) assignFn {
	if p.peek().kind == kName && p.look(1).kind == kOp && p.look(1).text == "." {
		name := p.next().text
		p.next()
		return assignAttr(t.env, name, p.expectName())
	}
	return t.target(p)
}

func isConstant(name string) bool {
	_, ok := nameOrConst(0, name).(constNode)
	return ok
}

func assignAttr(e *Env, name, attr string) assignFn {
	return func(f *frame, v any) error {
		ns, err := f.name(e, name)
		if err != nil {
			return err
		}
		n, ok := ns.(*Namespace)
		if !ok {
			return errorText("cannot assign attribute on non-namespace object")
		}
		n.Attrs.Set(attr, v)
		return nil
	}
}

// unpackTo stores the items of a sequence one by one.
func unpackTo(parts []assignFn) assignFn {
	return func(f *frame, v any) error {
		if err := defined(v); err != nil {
			return err
		}
		items, ok := value.Items(v)
		if !ok {
			return errorText("cannot unpack non-iterable " + value.TypeName(v) + " object")
		}
		if len(items) > len(parts) {
			return errorText("too many values to unpack (expected " + itoa(len(parts)) + ")")
		}
		if len(items) < len(parts) {
			return errorText("not enough values to unpack (expected " + itoa(len(parts)) + ", got " + itoa(len(items)) + ")")
		}
		for i, assign := range parts {
			if err := assign(f, items[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// Namespace is what namespace() makes: an object whose attributes any scope
// can set.
type Namespace struct{ Attrs *value.Dict }

// Attr returns an attribute.
func (n *Namespace) Attr(name string) (any, bool) { return n.Attrs.Get(name) }

// TypeName is the Python type's name.
func (n *Namespace) TypeName() string { return "Namespace" }

// Repr shows the attributes.
func (n *Namespace) Repr() string { return "<Namespace " + value.Repr(n.Attrs) + ">" }

func parseSet(t *tag) (stmt, error) {
	p := newParser(t.text)
	assign := t.setTarget(p)
	if p.peek().kind != kEOF {
		p.expectOp("=")
	}
	n := p.tuple(tupleRule{cond: true})
	if err := p.end(); err != nil {
		return nil, err
	}
	fn := t.compiler().expr(n)
	return func(f *frame) error {
		v, err := fn(f)
		if err != nil {
			return err
		}
		return assign(f, v)
	}, nil
}

// parseSetBlock is "set name | filter" up to "endset".
func parseSetBlock(t *tag) (stmt, error) {
	p := newParser(t.text)
	assign := t.setTarget(p)
	n := p.filters(nameNode{name: blockText})
	if err := p.end(); err != nil {
		return nil, err
	}
	fn := t.compiler().expr(n)
	b, _, _, err := t.body("endsetblock")
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		s, err := f.inner().capture(b.run)
		if err != nil {
			return err
		}
		v, err := f.withText(t.env.captured(f, s), fn)
		if err != nil {
			return err
		}
		return assign(f, v)
	}, nil
}

// parseWith is "with a = 1, b = 2": the values see only the names outside.
func parseWith(t *tag) (stmt, error) {
	p := newParser(t.text)
	var targets []assignFn
	var nodes []node
	for p.err == nil && p.peek().kind != kEOF {
		if len(nodes) > 0 {
			p.expectOp(",")
		}
		targets = append(targets, t.targetItem(p))
		p.expectOp("=")
		nodes = append(nodes, p.expr())
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	fns := t.compiler().exprs(nodes)
	b, _, _, err := t.body("endwith")
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		vals, err := evalAll(f, fns)
		if err != nil {
			return err
		}
		g := f.inner()
		for i, assign := range targets {
			if err := assign(g, vals[i]); err != nil {
				return err
			}
		}
		return b.run(g)
	}, nil
}
