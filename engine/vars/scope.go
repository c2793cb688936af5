package vars

import (
	"slices"

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
	// Tied says that the layer is one with the one above it when dicts are
	// merged (hash_behaviour=merge): a name counts in the upper of them only.
	Tied bool
	// FromHost tells whether what the layer sets a name to is data that a host
	// sent; nil: none is.
	FromHost func(name string) bool
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
	merge bool // hash_behaviour=merge: dicts of the same name in parts are merged
}

var (
	_ jinja.Scope   = (*Scope)(nil)
	_ jinja.Names   = (*Scope)(nil)
	_ jinja.Sourced = (*Scope)(nil)
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

// WithFrom is With for names whose values may be data that hosts sent.
func (s *Scope) WithFrom(name string, d *value.Dict, fromHost bool) *Scope {
	if d.Len() == 0 || !fromHost {
		return s.With(name, d)
	}
	return &Scope{top: &Layer{Name: name, Dict: d, FromHost: always}, base: s}
}

func always(string) bool { return true }

// Lookup finds a variable's raw value.
func (s *Scope) Lookup(name string) (any, bool) {
	v, _, ok := s.LookupFrom(name)
	return v, ok
}

// LookupFrom finds a variable's raw value and tells whether it is data that a
// host sent.
func (s *Scope) LookupFrom(name string) (v any, fromHost, ok bool) {
	for ; s != nil; s = s.base {
		if s.top != nil {
			if v, ok := s.top.lookup(name); ok {
				return v, s.top.sent(name), true
			}
		}
		if s.merge {
			if v, ok := s.merged(name); ok {
				return v, s.anySent(name), true
			}
			continue
		}
		for i := range s.parts {
			if v, ok := s.parts[i].lookup(name); ok {
				return v, s.parts[i].sent(name), true
			}
		}
	}
	return nil, false, false
}

// sent tells whether a host sent what the layer sets the name to.
func (l *Layer) sent(name string) bool { return l.FromHost != nil && l.FromHost(name) }

// anySent tells whether a host sent what any of the parts sets the name to.
func (s *Scope) anySent(name string) bool {
	for i := range s.parts {
		if _, ok := s.parts[i].lookup(name); ok && s.parts[i].sent(name) {
			return true
		}
	}
	return false
}

// merged finds a variable where a dict is merged with the dicts of that name in
// the layers below, down to the first value that is none.
func (s *Scope) merged(name string) (any, bool) {
	var found []*value.Dict // the upper ones first
	done := false           // a tied layer above had the name
	for i := range s.parts {
		l := &s.parts[i]
		done = done && l.Tied
		if done {
			continue
		}
		v, ok := l.lookup(name)
		if !ok {
			continue
		}
		done = true
		d, isDict := v.(*value.Dict)
		if !isDict && found == nil {
			return v, true
		}
		if !isDict {
			break
		}
		found = append(found, d)
	}
	if found == nil {
		return nil, false
	}
	all := found[len(found)-1]
	for _, d := range slices.Backward(found[:len(found)-1]) {
		all = value.Combine(all, d) // from below: a value that is no dict ends what was under it
	}
	return all, true
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
