package jinja

import "play/modules/value"

// postfix parses attributes, subscripts and calls after a primary.
func (p *parser) postfix(n node) node {
	for p.err == nil {
		t := p.peek()
		switch {
		case t.kind != kOp:
			return n
		case t.text == ".":
			n = p.attribute(n)
		case t.text == "[":
			n = p.subscript(n)
		case t.text == "(":
			n = callNode{at: at(t.at), fn: n, args: p.callArgs()}
		default:
			return n
		}
	}
	return n
}

func (p *parser) attribute(base node) node {
	a := at(p.next().at)
	t := p.next()
	switch t.kind {
	case kName:
		return attrNode{at: a, base: base, name: t.text}
	case kInt:
		return itemNode{at: a, base: base, key: constNode{at(t.at), t.val}}
	}
	p.fail(t.at, "expected name or number")
	return base
}

func (p *parser) subscript(base node) node {
	a := at(p.next().at)
	var keys []node
	isTuple := false
	for p.err == nil && !p.isOp("]") {
		if len(keys) > 0 {
			p.expectOp(",")
			isTuple = true
		}
		if !p.isOp("]") {
			keys = append(keys, p.subscribed())
		}
	}
	p.expectOp("]")
	switch {
	case len(keys) == 0:
		return itemNode{at: a, base: base, key: listNode{at: a, tuple: true}}
	case len(keys) == 1 && !isTuple:
		return itemNode{at: a, base: base, key: keys[0]}
	}
	return itemNode{at: a, base: base, key: listNode{at: a, items: keys, tuple: true}}
}

// subscribed parses what stands in brackets: an expression or a slice.
func (p *parser) subscribed() node {
	s := sliceNode{at: at(p.peek().at)}
	if !p.isOp(":") {
		n := p.expr()
		if !p.isOp(":") {
			return n
		}
		s.start = n
	}
	p.expectOp(":")
	s.stop = p.slicePart()
	if p.op(":") {
		s.step = p.slicePart()
	}
	return s
}

func (p *parser) slicePart() node {
	if p.isOp(":") || p.isOp("]") || p.isOp(",") {
		return nil
	}
	return p.expr()
}

// callArgs parses "(…)".
func (p *parser) callArgs() argList {
	a := argList{parenthese: true}
	p.expectOp("(")
	for first := true; p.err == nil && !p.isOp(")"); first = false {
		if !first {
			p.expectOp(",")
			if p.isOp(")") {
				break
			}
		}
		p.argument(&a)
	}
	p.expectOp(")")
	return a
}

func (p *parser) argument(a *argList) {
	t := p.peek()
	ok := true
	switch {
	case p.op("*"):
		ok = a.star == nil && a.dbl == nil
		a.star = p.expr()
	case p.op("**"):
		ok = a.dbl == nil
		a.dbl = p.expr()
	case t.kind == kName && p.look(1).kind == kOp && p.look(1).text == "=":
		ok = a.dbl == nil
		p.next()
		p.next()
		a.names = append(a.names, t.text)
		a.named = append(a.named, p.expr())
	default:
		ok = a.star == nil && a.dbl == nil && len(a.names) == 0
		a.pos = append(a.pos, p.expr())
	}
	if !ok {
		p.fail(t.at, "invalid syntax for function call expression")
	}
}

// filters parses what follows an expression: filters, tests and calls.
func (p *parser) filters(n node) node {
	for p.err == nil {
		switch {
		case p.isOp("|"):
			a := at(p.next().at)
			n = p.filter(a, n)
		case p.isName("is"):
			a := at(p.next().at)
			n = p.test(a, n)
		case p.isOp("("):
			a := at(p.peek().at)
			n = callNode{at: a, fn: n, args: p.callArgs()}
		default:
			return n
		}
	}
	return n
}

func (p *parser) filter(a at, base node) node {
	f := filterNode{at: a, base: base, name: p.dottedName()}
	if p.isOp("(") {
		f.args = p.callArgs()
	}
	return f
}

func (p *parser) dottedName() string {
	name := p.expectName()
	for p.op(".") {
		name += "." + p.expectName()
	}
	return name
}

func (p *parser) test(a at, base node) node {
	t := testNode{at: a, base: base, not: p.word("not")}
	t.name = p.dottedName()
	switch next := p.peek(); {
	case p.isOp("("):
		t.args = p.callArgs()
	case p.startsTestArg(next):
		if p.isName("is") {
			p.fail(next.at, "You cannot chain multiple tests with is")
		}
		arg := p.postfix(p.primary())
		t.args.pos = []node{arg}
	}
	return t
}

// startsTestArg tells whether an argument without parentheses follows a test.
func (p *parser) startsTestArg(t token) bool {
	switch t.kind {
	case kString, kInt, kFloat:
		return true
	case kName:
		return t.text != "else" && t.text != "or" && t.text != "and" && t.text != "if" && t.text != "in" && t.text != "not"
	case kOp:
		return t.text == "[" || t.text == "{"
	}
	return false
}

// constant returns the value of a literal.
func constant(n node) (any, bool) {
	c, ok := n.(constNode)
	if !ok {
		return nil, false
	}
	switch c.val.(type) {
	case *value.List, *value.Dict:
		return nil, false
	}
	return c.val, true
}
