package xmldoc

import (
	"cmp"
	"errors"
	"slices"
)

// Errors of XPath, in libxml2's words.
var (
	ErrExpression = errors.New("Invalid expression")
	ErrPredicate  = errors.New("Invalid predicate")
	ErrLiteral    = errors.New("Unfinished literal")
	ErrPrefix     = errors.New("Undefined namespace prefix")
	ErrFunction   = errors.New("Unregistered function")
	ErrArity      = errors.New("Invalid number of arguments")
	ErrVariable   = errors.New("Undefined variable")
	ErrType       = errors.New("Invalid type")
)

// XPath is a compiled expression, safe for concurrent use.
type XPath struct{ run expr }

// Value is what an expression gives: []*Node in document order, float64, string
// or bool.
type Value any

// expr computes a value in a context.
type expr func(*context) (Value, error)

type context struct {
	node      *Node
	pos, size int
	*shared
}

// shared is the same in all of one evaluation.
type shared struct {
	spaces map[string]string
	order  map[*Node]int
}

func (c *context) with(n *Node, pos, size int) *context {
	return &context{n, pos, size, c.shared}
}

// Compile reads an XPath 1.0 expression.
func Compile(text string) (*XPath, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &compiler{tokens: tokens}
	run, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.peek().kind != tokenEnd {
		return nil, ErrExpression
	}
	return &XPath{run}, nil
}

// Eval evaluates at a node. spaces maps the expression's prefixes to namespaces.
func (x *XPath) Eval(at *Node, spaces map[string]string) (Value, error) {
	top := at
	for top.Parent != nil {
		top = top.Parent
	}
	s := &shared{spaces: spaces, order: map[*Node]int{}}
	s.number(top)
	return x.run(&context{at, 1, 1, s})
}

func (s *shared) number(n *Node) {
	s.order[n] = len(s.order)
	for _, a := range n.Attrs {
		s.order[a] = len(s.order)
	}
	for _, c := range n.Children {
		s.number(c)
	}
}

// sorted puts nodes in document order, each once.
func (s *shared) sorted(nodes []*Node) []*Node {
	slices.SortFunc(nodes, func(a, b *Node) int { return cmp.Compare(s.order[a], s.order[b]) })
	return slices.Compact(nodes)
}

// nodeTest tells whether a node counts.
type nodeTest func(*context, *Node) (bool, error)

// step goes from each node along an axis.
type step struct {
	axis       axis
	test       nodeTest
	predicates []expr
}

func (s *step) run(c *context, from []*Node) ([]*Node, error) {
	var out []*Node
	for _, n := range from {
		found, err := s.from(c, n)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return c.sorted(out), nil
}

func (s *step) from(c *context, n *Node) ([]*Node, error) {
	var found []*Node
	var failed error
	s.axis(n, func(m *Node) {
		ok, err := s.test(c, m)
		if err != nil {
			failed = err
		}
		if ok {
			found = append(found, m)
		}
	})
	if failed != nil {
		return nil, failed
	}
	return filtered(c, found, s.predicates)
}

func filtered(c *context, nodes []*Node, predicates []expr) ([]*Node, error) {
	for _, predicate := range predicates {
		var kept []*Node
		for i, n := range nodes {
			v, err := predicate(c.with(n, i+1, len(nodes)))
			if err != nil {
				return nil, err
			}
			at, isNumber := v.(float64)
			if isNumber && at == float64(i+1) || !isNumber && truth(v) {
				kept = append(kept, n)
			}
		}
		nodes = kept
	}
	return nodes, nil
}

// axis visits nodes, nearest first.
type axis func(n *Node, visit func(*Node))

var axes = map[string]axis{
	"self":               func(n *Node, visit func(*Node)) { visit(n) },
	"child":              func(n *Node, visit func(*Node)) { each(n.Children, visit) },
	"attribute":          func(n *Node, visit func(*Node)) { each(n.Attrs, visit) },
	"parent":             parent,
	"ancestor":           ancestors,
	"ancestor-or-self":   func(n *Node, visit func(*Node)) { visit(n); ancestors(n, visit) },
	"descendant":         func(n *Node, visit func(*Node)) { below(n.Children, visit) },
	"descendant-or-self": func(n *Node, visit func(*Node)) { visit(n); below(n.Children, visit) },
	"following-sibling":  func(n *Node, visit func(*Node)) { each(n.after(), visit) },
	"preceding-sibling":  func(n *Node, visit func(*Node)) { each(n.before(), visit) },
	"following":          following,
	"preceding":          preceding,
}

func each(nodes []*Node, visit func(*Node)) {
	for _, n := range nodes {
		visit(n)
	}
}

func below(nodes []*Node, visit func(*Node)) {
	for _, n := range nodes {
		visit(n)
		below(n.Children, visit)
	}
}

func parent(n *Node, visit func(*Node)) {
	if n.Parent != nil {
		visit(n.Parent)
	}
}

func ancestors(n *Node, visit func(*Node)) {
	for e := n.Parent; e != nil; e = e.Parent {
		visit(e)
	}
}

// after are the siblings behind a node.
func (n *Node) after() []*Node {
	if n.Parent == nil || n.Kind == Attribute {
		return nil
	}
	return n.Parent.Children[slices.Index(n.Parent.Children, n)+1:]
}

// before are the siblings in front of a node, nearest first.
func (n *Node) before() []*Node {
	if n.Parent == nil || n.Kind == Attribute {
		return nil
	}
	nodes := slices.Clone(n.Parent.Children[:slices.Index(n.Parent.Children, n)])
	slices.Reverse(nodes)
	return nodes
}

func following(n *Node, visit func(*Node)) {
	if n.Kind == Attribute {
		below(n.Parent.Children, visit)
		n = n.Parent
	}
	for e := n; e != nil; e = e.Parent {
		below(e.after(), visit)
	}
}

func preceding(n *Node, visit func(*Node)) {
	for e := n; e != nil; e = e.Parent {
		for _, s := range e.before() {
			var nodes []*Node
			below([]*Node{s}, func(m *Node) { nodes = append(nodes, m) })
			slices.Reverse(nodes)
			each(nodes, visit)
		}
	}
}
