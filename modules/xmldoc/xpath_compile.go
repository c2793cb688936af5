package xmldoc

import (
	"math"
	"strconv"
)

// compiler turns tokens into closures, by recursive descent.
type compiler struct {
	tokens []token
	depth  int
}

func (p *compiler) peek() token { return p.tokens[0] }

// take reads a token of this kind and text, if it is next.
func (p *compiler) take(kind tokenKind, text string) bool {
	if t := p.tokens[0]; t.kind != kind || t.text != text {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

// levels are the operators from the loosest to the tightest.
var levels = [][]string{{"or"}, {"and"}, {"=", "!="}, {"<=", "<", ">=", ">"}, {"+", "-"}, {"*", "div", "mod"}}

func (p *compiler) or() (expr, error) {
	const deepest = 100
	if p.depth++; p.depth > deepest {
		return nil, ErrExpression
	}
	defer func() { p.depth-- }()
	return p.binary(0)
}

func (p *compiler) binary(level int) (expr, error) {
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		op := p.operator(levels[level])
		if op == "" {
			return left, nil
		}
		var right expr
		if right, err = p.binary(level + 1); err == nil {
			left = operation(op, left, right)
		}
	}
	return nil, err
}

func (p *compiler) operator(of []string) string {
	for _, op := range of {
		if p.take(tokenOperator, op) {
			return op
		}
	}
	return ""
}

func (p *compiler) unary() (expr, error) {
	if !p.take(tokenOperator, "-") {
		return p.union()
	}
	inner, err := p.unary()
	return func(c *context) (Value, error) {
		v, err := inner(c)
		return -toNumber(v), err
	}, err
}

func (p *compiler) union() (expr, error) {
	left, err := p.path()
	for err == nil && p.take(tokenOperator, "|") {
		var right expr
		if right, err = p.path(); err == nil {
			left = united(left, right)
		}
	}
	return left, err
}

func united(left, right expr) expr {
	return func(c *context) (Value, error) {
		a, err := nodesOf(left, c)
		if err != nil {
			return nil, err
		}
		b, err := nodesOf(right, c)
		return c.sorted(append(append([]*Node{}, a...), b...)), err
	}
}

func nodesOf(e expr, c *context) ([]*Node, error) {
	v, err := e(c)
	if err != nil {
		return nil, err
	}
	nodes, ok := v.([]*Node)
	if !ok {
		return nil, ErrType
	}
	return nodes, nil
}

// path is a location path, or a filter with steps behind it.
func (p *compiler) path() (expr, error) {
	start := func(c *context) (Value, error) { return []*Node{c.node}, nil }
	var steps []*step
	switch {
	case p.take(tokenOperator, "//"):
		start = fromTop
		steps = append(steps, anywhere())
	case p.take(tokenOperator, "/"):
		start = fromTop
		if !p.atStep() {
			return start, nil
		}
	case p.atPrimary():
		filter, err := p.filter()
		if err != nil {
			return nil, err
		}
		switch {
		case p.take(tokenOperator, "//"):
			steps = append(steps, anywhere())
		case !p.take(tokenOperator, "/"):
			return filter, nil
		}
		start = filter
	}
	steps, err := p.steps(steps)
	return walk(start, steps), err
}

func fromTop(c *context) (Value, error) {
	n := c.node
	for n.Parent != nil {
		n = n.Parent
	}
	return []*Node{n}, nil
}

func anywhere() *step {
	return &step{axis: axes["descendant-or-self"], test: anyNode}
}

func anyNode(_ *context, n *Node) (bool, error) { return n.Kind != Doctype, nil }

func walk(start expr, steps []*step) expr {
	return func(c *context) (Value, error) {
		nodes, err := nodesOf(start, c)
		for i := 0; i < len(steps) && err == nil; i++ {
			nodes, err = steps[i].run(c, nodes)
		}
		return nodes, err
	}
}

func (p *compiler) steps(steps []*step) ([]*step, error) {
	for {
		s, err := p.step()
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
		switch {
		case p.take(tokenOperator, "//"):
			steps = append(steps, anywhere())
		case !p.take(tokenOperator, "/"):
			return steps, nil
		}
	}
}

func (p *compiler) atStep() bool {
	t := p.peek()
	return t.kind == tokenName || t.kind == tokenMark && (t.text == "." || t.text == ".." || t.text == "@")
}

// atPrimary tells of a literal, a number, parentheses, a variable or a call.
func (p *compiler) atPrimary() bool {
	t := p.peek()
	switch t.kind {
	case tokenLiteral, tokenNumber:
		return true
	case tokenMark:
		return t.text == "(" || t.text == "$"
	}
	return t.kind == tokenName && p.tokens[1] == token{tokenMark, "("} && !nodeTypes[t.text]
}

var nodeTypes = map[string]bool{"node": true, "text": true, "comment": true, "processing-instruction": true}

func (p *compiler) step() (*step, error) {
	switch {
	case p.take(tokenMark, "."):
		return &step{axis: axes["self"], test: anyNode}, nil
	case p.take(tokenMark, ".."):
		return &step{axis: axes["parent"], test: anyNode}, nil
	}
	s, kind := &step{axis: axes["child"]}, Element
	if p.take(tokenMark, "@") {
		s.axis, kind = axes["attribute"], Attribute
	} else if t := p.peek(); t.kind == tokenName && p.tokens[1] == (token{tokenMark, "::"}) {
		if s.axis = axes[t.text]; s.axis == nil {
			return nil, ErrExpression
		}
		if t.text == "attribute" {
			kind = Attribute
		}
		p.tokens = p.tokens[2:]
	}
	var err error
	if s.test, err = p.test(kind); err != nil {
		return nil, err
	}
	s.predicates, err = p.predicates()
	return s, err
}

func (p *compiler) predicates() (predicates []expr, err error) {
	for p.take(tokenMark, "[") {
		e, err := p.or()
		if err != nil {
			return nil, err
		}
		if !p.take(tokenMark, "]") {
			return nil, ErrPredicate
		}
		predicates = append(predicates, e)
	}
	return predicates, nil
}

// test reads a name, a wildcard or a node type.
func (p *compiler) test(kind Kind) (nodeTest, error) {
	t := p.peek()
	if t.kind != tokenName {
		return nil, ErrExpression
	}
	p.tokens = p.tokens[1:]
	if nodeTypes[t.text] && p.take(tokenMark, "(") {
		return p.typeTest(t.text)
	}
	prefix, local := cutName(t.text)
	return func(c *context, n *Node) (bool, error) {
		if n.Kind != kind {
			return false, nil
		}
		space := ""
		if prefix != "" {
			if space = c.space(prefix); space == "" {
				return false, ErrPrefix
			}
		} else if local == "*" {
			return true, nil
		}
		return (local == "*" || n.Local == local) && n.Space == space, nil
	}, nil
}

func (c *context) space(prefix string) string {
	if prefix == "xml" {
		return (&Node{}).spaceOf(prefix)
	}
	return c.spaces[prefix]
}

func (p *compiler) typeTest(name string) (nodeTest, error) {
	target := ""
	if t := p.peek(); name == "processing-instruction" && t.kind == tokenLiteral {
		p.tokens = p.tokens[1:]
		target = t.text
	}
	if !p.take(tokenMark, ")") {
		return nil, ErrExpression
	}
	return func(c *context, n *Node) (bool, error) {
		switch name {
		case "text":
			return n.isText(), nil
		case "comment":
			return n.Kind == Comment, nil
		case "processing-instruction":
			return n.Kind == Instruction && (target == "" || n.Local == target), nil
		}
		return anyNode(c, n)
	}, nil
}

// filter is a primary expression with predicates.
func (p *compiler) filter() (expr, error) {
	primary, err := p.primary()
	if err != nil {
		return nil, err
	}
	predicates, err := p.predicates()
	if len(predicates) == 0 {
		return primary, err
	}
	return func(c *context) (Value, error) {
		nodes, err := nodesOf(primary, c)
		if err != nil {
			return nil, err
		}
		return filtered(c, nodes, predicates)
	}, err
}

func (p *compiler) primary() (expr, error) {
	t := p.peek()
	p.tokens = p.tokens[1:]
	switch t.kind {
	case tokenLiteral:
		return func(*context) (Value, error) { return t.text, nil }, nil
	case tokenNumber:
		n, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			n = math.Inf(1)
		}
		return func(*context) (Value, error) { return n, nil }, nil
	case tokenName:
		return p.call(t.text)
	}
	if t.text == "$" {
		return nil, ErrVariable
	}
	inner, err := p.or()
	if err == nil && !p.take(tokenMark, ")") {
		err = ErrExpression
	}
	return inner, err
}

func (p *compiler) call(name string) (expr, error) {
	p.tokens = p.tokens[1:] // the parenthesis
	var args []expr
	for !p.take(tokenMark, ")") {
		if len(args) > 0 && !p.take(tokenMark, ",") {
			return nil, ErrExpression
		}
		arg, err := p.or()
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	f, known := functions[name]
	return func(c *context) (Value, error) {
		switch {
		case !known:
			return nil, ErrFunction
		case len(args) < f.least || len(args) > f.most:
			return nil, ErrArity
		}
		values := make([]Value, len(args))
		for i, arg := range args {
			var err error
			if values[i], err = arg(c); err != nil {
				return nil, err
			}
		}
		return f.run(c, values)
	}, nil
}
