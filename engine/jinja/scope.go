package jinja

// scope holds the names that a template itself has set. Scopes form a chain
// from the innermost block out; below the last one come the variables.
type scope struct {
	parent *scope
	names  []string
	vals   []any
	index  map[string]int  // nil while there are few names
	hidden map[string]bool // names that an import of this file does not see
	sealed bool            // no variables below: an import without context
}

// scopeIndexFrom is the number of names from which a scope keeps an index.
const scopeIndexFrom = 12

func (s *scope) find(name string) int {
	if s.index != nil {
		if i, ok := s.index[name]; ok {
			return i
		}
		return -1
	}
	for i, n := range s.names {
		if n == name {
			return i
		}
	}
	return -1
}

func (s *scope) set(name string, v any) {
	if i := s.find(name); i >= 0 {
		s.vals[i] = v
		return
	}
	s.names = append(s.names, name)
	s.vals = append(s.vals, v)
	switch {
	case s.index != nil:
		s.index[name] = len(s.names) - 1
	case len(s.names) >= scopeIndexFrom:
		s.index = make(map[string]int, 2*scopeIndexFrom)
		for i, n := range s.names {
			s.index[n] = i
		}
	}
}

// hide keeps a name from those who import the file.
func (s *scope) hide(name string) {
	if s.hidden == nil {
		s.hidden = map[string]bool{}
	}
	s.hidden[name] = true
}

// reset empties the scope but keeps its first n names, for the next step of a loop.
func (s *scope) reset(n int) {
	clear(s.vals[n:])
	s.names, s.vals = s.names[:n], s.vals[:n]
	if s.index != nil {
		s.index = nil
	}
}

// get finds a name in this scope or those around it; sealed tells that the
// variables are out of reach.
func (s *scope) get(name string) (v any, ok, sealed bool) {
	for ; s != nil; s = s.parent {
		if i := s.find(name); i >= 0 && s.vals[i] != (unset{}) {
			return s.vals[i], true, false
		}
		sealed = sealed || s.sealed
	}
	return nil, false, sealed
}

// unset marks a name that a scope knows but that has no value.
type unset struct{}
