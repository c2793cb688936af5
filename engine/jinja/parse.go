package jinja

import (
	"play/engine/source"
	"play/modules/value"
)

// maxNesting bounds the depth of an expression.
const maxNesting = 150

// parser reads one expression, or the arguments of one tag.
type parser struct {
	text   text
	toks   []token
	i      int
	depth  int
	err    error // the first mistake; then every token reads as the end
	failed token
}

func newParser(t text) *parser {
	p := &parser{text: t}
	toks, err := tokenize(t.src, t.raw)
	if err != nil {
		p.fail(err.(*syntaxError).at, err.Error())
		return p
	}
	p.toks = toks
	return p
}

// parseExpr parses a whole text as one expression (a bare tuple included).
func parseExpr(t text) (node, error) {
	p := newParser(t)
	n := p.tuple(tupleRule{cond: true})
	return n, p.end()
}

// end reports the first mistake, or what is left over.
func (p *parser) end() error {
	if p.err == nil && p.peek().kind != kEOF {
		p.expected(p.text.end())
	}
	return p.err
}

func (p *parser) fail(at int, msg string) {
	if p.err == nil {
		p.err = source.Errorf(p.text.place(at), "%w", errorText("template syntax error: "+msg))
		p.failed = token{kind: kEOF, at: at}
	}
}

func (p *parser) peek() token {
	if p.err != nil {
		return p.failed
	}
	return p.toks[p.i]
}

func (p *parser) look(n int) token {
	if p.err != nil || p.i+n >= len(p.toks) {
		return token{kind: kEOF}
	}
	return p.toks[p.i+n]
}

func (p *parser) next() token {
	t := p.peek()
	if p.err == nil && p.i < len(p.toks)-1 {
		p.i++
	}
	return t
}

func (p *parser) isOp(op string) bool {
	t := p.peek()
	return t.kind == kOp && t.text == op
}

func (p *parser) isName(name string) bool {
	t := p.peek()
	return t.kind == kName && t.text == name
}

// op takes an operator if it is next.
func (p *parser) op(op string) bool {
	if !p.isOp(op) {
		return false
	}
	p.next()
	return true
}

// word takes a keyword if it is next.
func (p *parser) word(name string) bool {
	if !p.isName(name) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expectOp(op string) {
	if !p.op(op) {
		p.expected(op)
	}
}

func (p *parser) expectWord(name string) {
	if !p.word(name) {
		p.expected(name)
	}
}

func (p *parser) expectName() string {
	if p.peek().kind != kName {
		p.expected("name")
		return ""
	}
	return p.next().text
}

func (p *parser) expected(what string) {
	t := p.peek()
	p.fail(t.at, "expected token "+value.Repr(what)+", got "+value.Repr(p.describe(t)))
}

func (p *parser) describe(t token) string {
	switch t.kind {
	case kEOF:
		return p.text.end()
	case kInt:
		return "integer"
	case kFloat:
		return "float"
	case kString:
		return "string"
	}
	return t.text
}

// enter counts the nesting; it is false, with an error, when that is too deep.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxNesting {
		p.fail(p.peek().at, "the expression is nested too deeply")
	}
	return p.err == nil
}

func (p *parser) leave() { p.depth-- }

// expr parses an expression with inline if.
func (p *parser) expr() node {
	if !p.enter() {
		return constNode{}
	}
	defer p.leave()
	n := p.or()
	for p.isName("if") {
		a := at(p.next().at)
		c := condNode{at: a, then: n, test: p.or()}
		if p.word("else") {
			c.other = p.expr()
		}
		n = c
	}
	return n
}

func (p *parser) or() node {
	n := p.and()
	for p.isName("or") {
		a := at(p.next().at)
		n = logicNode{at: a, or: true, x: n, y: p.and()}
	}
	return n
}

func (p *parser) and() node {
	n := p.not()
	for p.isName("and") {
		a := at(p.next().at)
		n = logicNode{at: a, x: n, y: p.not()}
	}
	return n
}

func (p *parser) not() node {
	if !p.isName("not") {
		return p.compare()
	}
	if !p.enter() {
		return constNode{}
	}
	defer p.leave()
	a := at(p.next().at)
	return unaryNode{at: a, op: "not", x: p.not()}
}

func (p *parser) compare() node {
	x := p.math1()
	c := compareNode{at: at(p.peek().at), x: x}
	for {
		op, ok := p.compareOp()
		if !ok {
			break
		}
		c.ops = append(c.ops, op)
		c.ys = append(c.ys, p.math1())
	}
	if len(c.ops) == 0 {
		return x
	}
	return c
}

func (p *parser) compareOp() (string, bool) {
	t := p.peek()
	switch {
	case t.kind == kOp:
		switch t.text {
		case "==", "!=", "<", "<=", ">", ">=":
			p.next()
			return t.text, true
		}
	case p.isName("in"):
		p.next()
		return "in", true
	case p.isName("not") && p.look(1).kind == kName && p.look(1).text == "in":
		p.next()
		p.next()
		return "not in", true
	}
	return "", false
}

// binary parses a left-associative level of operators.
func (p *parser) binary(sub func() node, ops ...string) node {
	n := sub()
	for {
		t := p.peek()
		found := false
		for _, op := range ops {
			if t.kind == kOp && t.text == op {
				found = true
			}
		}
		if !found {
			return n
		}
		p.next()
		n = binaryNode{at: at(t.at), op: t.text, x: n, y: sub()}
	}
}

func (p *parser) math1() node { return p.binary(p.concat, "+", "-") }

func (p *parser) concat() node {
	n := p.math2()
	if !p.isOp("~") {
		return n
	}
	c := concatNode{at: at(p.peek().at), parts: []node{n}}
	for p.op("~") {
		c.parts = append(c.parts, p.math2())
	}
	return c
}

func (p *parser) math2() node { return p.binary(p.pow, "*", "/", "//", "%") }

func (p *parser) pow() node {
	return p.binary(func() node { return p.unary(true) }, "**")
}

func (p *parser) unary(filters bool) node {
	t := p.peek()
	var n node
	if t.kind == kOp && (t.text == "-" || t.text == "+") {
		if !p.enter() {
			return constNode{}
		}
		p.next()
		n = unaryNode{at: at(t.at), op: t.text, x: p.unary(false)}
		p.leave()
	} else {
		n = p.primary()
	}
	n = p.postfix(n)
	if filters {
		n = p.filters(n)
	}
	return n
}

func (p *parser) primary() node {
	t := p.peek()
	a := at(t.at)
	switch t.kind {
	case kName:
		p.next()
		return nameOrConst(a, t.text)
	case kString:
		return p.stringLiteral()
	case kInt, kFloat:
		p.next()
		return constNode{a, t.val}
	case kOp:
		if n, ok := p.bracketed(t); ok {
			return n
		}
	}
	p.fail(t.at, "unexpected "+value.Repr(p.describe(t)))
	return constNode{at: a}
}

func nameOrConst(a at, name string) node {
	switch name {
	case "true", "True":
		return constNode{a, true}
	case "false", "False":
		return constNode{a, false}
	case "none", "None":
		return constNode{a, nil}
	}
	return nameNode{a, name}
}

func (p *parser) stringLiteral() node {
	t := p.next()
	s := t.val.(string)
	for p.peek().kind == kString {
		s += p.next().val.(string)
	}
	return constNode{at(t.at), s}
}

func (p *parser) bracketed(t token) (node, bool) {
	if !p.enter() {
		return constNode{}, true
	}
	defer p.leave()
	switch t.text {
	case "(":
		p.next()
		n := p.tuple(tupleRule{cond: true, parens: true})
		p.expectOp(")")
		return n, true
	case "[":
		p.next()
		return p.listLiteral(at(t.at)), true
	case "{":
		p.next()
		return p.dictLiteral(at(t.at)), true
	}
	return nil, false
}

func (p *parser) listLiteral(a at) node {
	n := listNode{at: a}
	for p.err == nil && !p.isOp("]") {
		if len(n.items) > 0 {
			p.expectOp(",")
		}
		if p.isOp("]") {
			break
		}
		n.items = append(n.items, p.expr())
	}
	p.expectOp("]")
	return n
}

func (p *parser) dictLiteral(a at) node {
	n := dictNode{at: a}
	for p.err == nil && !p.isOp("}") {
		if len(n.keys) > 0 {
			p.expectOp(",")
		}
		if p.isOp("}") {
			break
		}
		n.keys = append(n.keys, p.expr())
		p.expectOp(":")
		n.vals = append(n.vals, p.expr())
	}
	p.expectOp("}")
	return n
}

// tupleRule says how tuple reads on.
type tupleRule struct {
	cond   bool     // inline if is allowed
	parens bool     // inside parentheses: may be empty
	stop   []string // keywords that end it, though they could begin an item
}

// tuple parses one expression, or several with commas between as a tuple.
func (p *parser) tuple(r tupleRule) node {
	a := at(p.peek().at)
	var items []node
	isTuple := false
	for p.err == nil {
		if len(items) > 0 {
			if !p.op(",") {
				break
			}
			isTuple = true
		}
		if p.tupleEnds(r) {
			break
		}
		if r.cond {
			items = append(items, p.expr())
		} else {
			items = append(items, p.or())
		}
	}
	if !isTuple && len(items) == 1 {
		return items[0]
	}
	if len(items) == 0 && !r.parens {
		p.fail(p.peek().at, "Expected an expression, got "+value.Repr(p.describe(p.peek())))
	}
	return listNode{at: a, items: items, tuple: true}
}

func (p *parser) tupleEnds(r tupleRule) bool {
	t := p.peek()
	if t.kind == kEOF || t.kind == kOp && t.text == ")" {
		return true
	}
	for _, w := range r.stop {
		if p.isName(w) {
			return true
		}
	}
	return false
}
