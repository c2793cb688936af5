package jinja

// trace notes whether what is evaluated read data that a host sent. Traces nest:
// what an inner one saw, the outer one saw.
type trace struct {
	outer *trace
	host  bool
}

// Sourced is an optional ability of a Scope: Lookup that also tells whether the
// value is data that a host sent (a fact, a registered result).
type Sourced interface {
	LookupFrom(name string) (v any, fromHost, ok bool)
}

// Traced runs an evaluation over c and tells whether it read data that a host
// sent. It counts what every context sees that was made from the same one with
// With.
func (c *Context) Traced(evaluate func() error) (fromHost bool, err error) {
	c.frame()
	c.state.push()
	err = evaluate()
	return c.state.pop(), err
}

func (s *evalState) push() { s.trace = &trace{outer: s.trace} }

func (s *evalState) pop() (fromHost bool) {
	t := s.trace
	s.trace = t.outer
	s.saw(t.host)
	return t.host
}

// saw notes that a value was read.
func (s *evalState) saw(fromHost bool) {
	if s != nil && s.trace != nil && fromHost {
		s.trace.host = true
	}
}

// sawLocal notes that a name was read that the template itself had set: it may
// hold whatever was read before.
func (s *evalState) sawLocal() {
	for t := s.trace; t != nil; t = t.outer {
		if t.host {
			s.trace.host = true
			return
		}
	}
}

// Raw finds a variable as it was loaded: what it holds may wait to be evaluated.
func (c *Context) Raw(name string) (any, bool) {
	if c.Vars == nil {
		return nil, false
	}
	if c.state != nil && c.state.trace != nil {
		if s, ok := c.Vars.(Sourced); ok {
			v, fromHost, ok := s.LookupFrom(name)
			c.state.saw(fromHost)
			return v, ok
		}
	}
	return c.Vars.Lookup(name)
}

// mayRead asks the context's Guard whether a file may be read whose name came
// out of an evaluation.
func (c *Context) mayRead(path string, fromHost bool) error {
	if !fromHost || c.Guard == nil {
		return nil
	}
	return c.Guard(path)
}
