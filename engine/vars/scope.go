package vars

import (
	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

// Layer is one source of variables: a dict, or a function over names.
type Layer struct {
	Name  string // for explanations: "play vars", "role defaults of web"
	Dict  *value.Dict
	Find  func(name string) (any, bool) // used when Dict is nil
	Names func() []string               // all names of Find; nil: not listed
	// Where tells at which place the layer sets a name; nil: it is not known.
	Where func(name string) source.Pos
}

// Lookup finds what the layer sets a name to.
func (l *Layer) Lookup(name string) (any, bool) { return l.lookup(name) }

func (l *Layer) lookup(name string) (any, bool) {
	if l.Find != nil {
		return l.Find(name)
	}
	return l.Dict.Get(name)
}

// Scope is the view of all variables for one host and task: layers from the
// highest precedence to the lowest. It is read concurrently and never copied;
// With puts a layer on top in a new Scope that shares the others.
type Scope struct {
	top   *Layer // checked before layers; nil: none
	base  *Scope // where to go on when layers had nothing; nil: the end
	parts []Layer
}

var (
	_ jinja.Scope = (*Scope)(nil)
	_ jinja.Names = (*Scope)(nil)
)

// NewScope makes a scope of layers, highest first.
func NewScope(layers []Layer) *Scope { return &Scope{parts: layers} }

// With returns a scope with the dict's names on top.
func (s *Scope) With(name string, d *value.Dict) *Scope {
	if d.Len() == 0 {
		return s
	}
	return &Scope{top: &Layer{Name: name, Dict: d}, base: s}
}

// Lookup finds a variable's raw value.
func (s *Scope) Lookup(name string) (any, bool) {
	for ; s != nil; s = s.base {
		if s.top != nil {
			if v, ok := s.top.lookup(name); ok {
				return v, true
			}
		}
		for i := range s.parts {
			if v, ok := s.parts[i].lookup(name); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// Names lists every name once, in no particular order.
func (s *Scope) Names() []string {
	seen := map[string]bool{}
	var all []string
	s.each(func(l *Layer) {
		var names []string
		switch {
		case l.Names != nil:
			names = l.Names()
		case l.Dict != nil:
			names = dictNames(l.Dict)
		}
		for _, n := range names {
			if !seen[n] {
				seen[n] = true
				all = append(all, n)
			}
		}
	})
	return all
}

// Layers returns the layers, the highest precedence first.
func (s *Scope) Layers() []*Layer {
	var all []*Layer
	s.each(func(l *Layer) { all = append(all, l) })
	return all
}

func (s *Scope) each(f func(*Layer)) {
	for ; s != nil; s = s.base {
		if s.top != nil {
			f(s.top)
		}
		for i := range s.parts {
			f(&s.parts[i])
		}
	}
}
