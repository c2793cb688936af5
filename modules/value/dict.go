package value

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
)

// ErrUnhashable is wrapped by errors about a list or dict used as a dict key.
var ErrUnhashable = errors.New("unhashable type")

// indexFrom is the size from which a Dict keeps a hash index; a smaller one is
// searched in order, which is faster and allocates less.
const indexFrom = 9

// Dict is a Python dict: insertion order is kept, keys are any hashable value,
// and 1, 1.0 and True are the same key. The zero Dict is empty and ready.
// It is not safe for concurrent writes.
type Dict struct {
	keys  []any
	vals  []any
	index map[any]int // nil while small; hash key to position
	// Lazy is set by a loader when something at any depth inside has still to
	// be evaluated (a template). Values made at run time never have it.
	Lazy bool
}

// NewDict returns an empty dict.
func NewDict() *Dict { return &Dict{} }

// DictOf builds a dict from alternating string keys and values; it panics when
// the arguments are not pairs, since only source code calls it.
func DictOf(pairs ...any) *Dict {
	d := &Dict{}
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i].(string), pairs[i+1])
	}
	return d
}

// Len returns the number of entries; a nil Dict has none.
func (d *Dict) Len() int {
	if d == nil {
		return 0
	}
	return len(d.keys)
}

// Get returns the value under a string key.
func (d *Dict) Get(key string) (any, bool) {
	if d == nil {
		return nil, false
	}
	i := d.find(key)
	if i < 0 {
		return nil, false
	}
	return d.vals[i], true
}

// GetKey returns the value under any hashable key; it is false for an absent
// or unhashable one.
func (d *Dict) GetKey(key any) (any, bool) {
	if d == nil {
		return nil, false
	}
	h, err := hashKey(key)
	if err != nil {
		return nil, false
	}
	i := d.find(h)
	if i < 0 {
		return nil, false
	}
	return d.vals[i], true
}

// Set stores v under a string key, keeping the place of an existing key.
func (d *Dict) Set(key string, v any) { d.put(key, key, v) }

// SetKey stores v under any hashable key. The error wraps ErrUnhashable.
func (d *Dict) SetKey(key, v any) error {
	h, err := hashKey(key)
	if err != nil {
		return err
	}
	d.put(h, key, v)
	return nil
}

// Delete removes a key, keeping the order of the others; it reports whether
// the key was there.
func (d *Dict) Delete(key any) bool {
	h, err := hashKey(key)
	if err != nil || d == nil {
		return false
	}
	i := d.find(h)
	if i < 0 {
		return false
	}
	d.keys = append(d.keys[:i], d.keys[i+1:]...)
	d.vals = append(d.vals[:i], d.vals[i+1:]...)
	d.reindex()
	return true
}

// Keys returns the keys in order; the slice is the caller's own.
func (d *Dict) Keys() []any {
	if d == nil {
		return nil
	}
	return append([]any(nil), d.keys...)
}

// Values returns the values in order; the slice is the caller's own.
func (d *Dict) Values() []any {
	if d == nil {
		return nil
	}
	return append([]any(nil), d.vals...)
}

// At returns the i-th entry in order.
func (d *Dict) At(i int) (key, v any) { return d.keys[i], d.vals[i] }

// SetAt replaces the value of the i-th entry.
func (d *Dict) SetAt(i int, v any) { d.vals[i] = v }

// All ranges over the entries in order. The dict must not change meanwhile.
func (d *Dict) All() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		if d == nil {
			return
		}
		for i := range d.keys {
			if !yield(d.keys[i], d.vals[i]) {
				return
			}
		}
	}
}

// Clone returns a shallow copy.
func (d *Dict) Clone() *Dict {
	c := &Dict{}
	if d == nil {
		return c
	}
	c.Lazy = d.Lazy
	c.keys = append([]any(nil), d.keys...)
	c.vals = append([]any(nil), d.vals...)
	c.reindex()
	return c
}

// Update stores every entry of other, as Python's dict.update does.
func (d *Dict) Update(other *Dict) {
	for k, v := range other.All() {
		// A key that is in a dict is hashable, so this cannot fail.
		_ = d.SetKey(k, v)
	}
}

func (d *Dict) put(h, key, v any) {
	if i := d.find(h); i >= 0 {
		d.vals[i] = v
		return
	}
	d.keys = append(d.keys, key)
	d.vals = append(d.vals, v)
	switch {
	case d.index != nil:
		d.index[h] = len(d.keys) - 1
	case len(d.keys) >= indexFrom:
		d.reindex()
	}
}

// find returns the position of a hash key, or -1.
func (d *Dict) find(h any) int {
	if d.index != nil {
		if i, ok := d.index[h]; ok {
			return i
		}
		return -1
	}
	if s, ok := h.(string); ok {
		for i, k := range d.keys {
			if t, ok := k.(string); ok && t == s {
				return i
			}
		}
		return -1
	}
	for i, k := range d.keys {
		if kh, err := hashKey(k); err == nil && kh == h {
			return i
		}
	}
	return -1
}

func (d *Dict) reindex() {
	if len(d.keys) < indexFrom {
		d.index = nil
		return
	}
	d.index = make(map[any]int, len(d.keys))
	for i, k := range d.keys {
		if h, err := hashKey(k); err == nil {
			d.index[h] = i
		}
	}
}

type (
	noneKey  struct{}
	bigKey   string
	tupleKey string
)

// hashKey maps a key to a comparable Go value such that keys which Python
// calls equal map to the same one.
func hashKey(key any) (any, error) {
	switch k := key.(type) {
	case string, int:
		return k, nil
	case nil:
		return noneKey{}, nil
	case bool:
		if k {
			return 1, nil
		}
		return 0, nil
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<62 {
			return int(k), nil
		}
		return k, nil
	case *big.Int:
		return bigKey(k.String()), nil
	case Tuple:
		s := ""
		for _, item := range k {
			h, err := hashKey(item)
			if err != nil {
				return nil, err
			}
			s += fmt.Sprintf("%T:%v\x00", h, h)
		}
		return tupleKey(s), nil
	case *List:
		return nil, fmt.Errorf("%w: 'list'", ErrUnhashable)
	case *Dict:
		return nil, fmt.Errorf("%w: 'dict'", ErrUnhashable)
	}
	return key, nil
}
