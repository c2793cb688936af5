// Package value holds Python-shaped data: what playbooks, templates, module
// arguments and module results are made of. It is a leaf: both the control
// machine and the agent import it, and it imports nothing of play.
//
// A value is a Go any holding exactly one of
//
//	nil        None
//	bool       True, False
//	int        a Python int that fits 64 bits
//	*big.Int   a Python int that does not fit
//	float64    a Python float
//	string     a Python str; invalid UTF-8 bytes stand for surrogate escapes
//	*List      a Python list (mutable, shared by reference)
//	Tuple      a Python tuple
//	*Dict      a Python dict: any hashable key, insertion order kept
//
// Other packages may store their own types in it (a compiled template, a
// callable); value passes those through untouched and never evaluates them.
package value

// List is a Python list: mutable, and shared by every holder of the pointer.
type List struct {
	Items []any
	// Lazy is set by a loader when something at any depth inside has still to
	// be evaluated (a template). Values made at run time never have it.
	Lazy bool
}

// NewList returns a list of the given items; it keeps the slice.
func NewList(items ...any) *List { return &List{Items: items} }

// Len returns the number of items.
func (l *List) Len() int { return len(l.Items) }

// Append adds items at the end.
func (l *List) Append(items ...any) { l.Items = append(l.Items, items...) }

// Tuple is a Python tuple. It is never changed after it was made.
type Tuple []any
