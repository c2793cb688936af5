package jinja

import (
	"fmt"
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// signature is a Python parameter list.
type signature struct {
	params []param
	npos   int  // how many of params can be given by position
	rest   bool // "*args"
	kwargs bool // "**kwargs"
}

type param struct {
	name     string
	required bool
	def      any
}

// mustSignature reads the parameter list of a builtin; only source code gives
// one, so a mistake in it panics.
func mustSignature(name, params string) signature {
	s, err := newSignature(params)
	if err != nil {
		panic(fmt.Sprintf("parameters of %q: %v", name, err))
	}
	return s
}

func newSignature(params string) (signature, error) {
	s := signature{npos: -1}
	p := newParser(text{src: params, pos: source.Pos{Line: 1, Col: 1}})
	for p.err == nil && p.peek().kind != kEOF {
		s.read(p)
		if p.peek().kind != kEOF {
			p.expectOp(",")
		}
	}
	if s.npos < 0 {
		s.npos = len(s.params)
	}
	return s, p.end()
}

func (s *signature) read(p *parser) {
	switch {
	case p.op("**"):
		p.expectName()
		s.kwargs = true
	case p.op("*"):
		s.npos = len(s.params)
		if p.peek().kind == kName {
			p.next()
			s.rest = true
		}
	default:
		prm := param{name: p.expectName(), required: true}
		if p.op("=") {
			prm.required = false
			prm.def = literalValue(p, p.expr())
		}
		s.params = append(s.params, prm)
	}
}

// literalValue returns the value of a default: a literal or an empty container.
func literalValue(p *parser, n node) any {
	switch n := n.(type) {
	case constNode:
		return n.val
	case unaryNode:
		if c, ok := n.x.(constNode); ok && n.op == "-" {
			if v, err := unaryOp("-", c.val); err == nil {
				return v
			}
		}
	case listNode:
		if len(n.items) == 0 && n.tuple {
			return value.Tuple{}
		}
		if len(n.items) == 0 {
			return value.NewList()
		}
	case dictNode:
		if len(n.keys) == 0 {
			return value.NewDict()
		}
	}
	p.fail(n.offset(), "a default must be a literal")
	return nil
}

// bind fills the arguments of a call in.
func (s *signature) bind(name string, c *Call, args []any, kwargs *value.Dict) error {
	c.Kwargs = &c.ownKwargs
	if len(args) > s.npos {
		if !s.rest {
			return fmt.Errorf("%s() takes %d positional %s but %d %s given", name, s.npos, plural("argument", s.npos), len(args), were(len(args)))
		}
		c.Rest = args[s.npos:]
		args = args[:s.npos]
	}
	if len(args) == len(s.params) && kwargs.Len() == 0 {
		c.Args = args
		return nil
	}
	return s.fill(name, c, args, kwargs)
}

func (s *signature) fill(name string, c *Call, args []any, kwargs *value.Dict) error {
	c.Args = make([]any, len(s.params))
	copy(c.Args, args)
	for i, p := range s.params {
		if i < len(args) {
			continue
		}
		v, given := kwargs.Get(p.name)
		switch {
		case given:
			c.Args[i] = v
		case p.required:
			return fmt.Errorf("%s() missing 1 required positional argument: '%s'", name, p.name)
		default:
			c.Args[i] = ownDefault(p.def)
		}
	}
	for k, v := range kwargs.All() {
		if err := s.takeKeyword(name, c, len(args), k, v); err != nil {
			return err
		}
	}
	return nil
}

// takeKeyword judges one keyword argument that was given.
func (s *signature) takeKeyword(name string, c *Call, given int, k, v any) error {
	key, ok := k.(string)
	if !ok {
		return fmt.Errorf("%s() keywords must be strings", name)
	}
	for i, p := range s.params {
		if p.name != key {
			continue
		}
		if i < given {
			return fmt.Errorf("%s() got multiple values for argument '%s'", name, key)
		}
		return nil
	}
	if !s.kwargs {
		return fmt.Errorf("%s() got an unexpected keyword argument '%s'", name, key)
	}
	c.Kwargs.Set(key, v)
	return nil
}

// ownDefault gives each call its own list or dict.
func ownDefault(v any) any {
	switch v.(type) {
	case *value.List, *value.Dict:
		return own(v)
	}
	return v
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return strings.TrimSpace(word) + "s"
}

func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
