package jinja

import (
	"errors"
	"unicode/utf8"

	"play/modules/value"
)

// slice is a[start:stop:step] as a subscript.
type slice struct{ part [3]any }

// TypeName is the Python type's name.
func (*slice) TypeName() string { return "slice" }

// Repr shows the slice.
func (s *slice) Repr() string {
	return "slice(" + value.Repr(s.part[0]) + ", " + value.Repr(s.part[1]) + ", " + value.Repr(s.part[2]) + ")"
}

// getAttr is Jinja's base.name: an attribute or method first, then an item.
// What it returns may still wait to be evaluated.
func getAttr(base any, name string) (any, error) {
	switch b := base.(type) {
	case *Undefined:
		return b.within(), nil
	case Attributed:
		if v, ok := b.Attr(name); ok {
			return v, nil
		}
	}
	if m := findMethod(base, name); m != nil {
		return &boundMethod{self: base, fn: m}, nil
	}
	v, ok, err := item(base, name)
	if err != nil || ok {
		return v, err
	}
	return undefinedAttr(base, name), nil
}

// getItem is Jinja's base[key]: an item first, then an attribute or method.
func getItem(base, key any) (any, error) {
	if u, ok := base.(*Undefined); ok {
		return u.within(), nil
	}
	if err := defined(key); err != nil {
		return nil, err
	}
	if s, ok := key.(*slice); ok {
		return sliceOf(base, s)
	}
	v, ok, err := item(base, key)
	if err != nil || ok {
		return v, err
	}
	name, isName := key.(string)
	if !isName {
		return undefinedItem(base, key), nil
	}
	if a, ok := base.(Attributed); ok {
		if v, ok := a.Attr(name); ok {
			return v, nil
		}
	}
	if m := findMethod(base, name); m != nil {
		return &boundMethod{self: base, fn: m}, nil
	}
	return undefinedAttr(base, name), nil
}

// item is Python's base[key]; ok is false where Python raises a LookupError or
// a TypeError.
func item(base, key any) (v any, ok bool, err error) {
	switch b := base.(type) {
	case *value.Dict:
		v, ok = b.GetKey(key)
		return v, ok, nil
	case value.Mapping:
		v, ok, err := b.Get(key)
		var u *UndefinedError
		if errors.As(err, &u) {
			return &Undefined{Name: value.Str(key), Msg: u.Msg, Pos: u.Pos, hinted: u.Near}, true, nil
		}
		return v, ok, err
	}
	i, isInt := value.AsInt(key)
	if !isInt {
		return nil, false, nil
	}
	switch b := base.(type) {
	case *value.List:
		return at0(b.Items, i)
	case value.Tuple:
		return at0(b, i)
	case string:
		return charAt(b, i)
	case value.Bytes:
		if n, ok := index(i, len(b)); ok {
			return int(b[n]), true, nil
		}
	case interface{ Items() []any }:
		return at0(b.Items(), i)
	}
	return nil, false, nil
}

func at0(items []any, i int) (any, bool, error) {
	n, ok := index(i, len(items))
	if !ok {
		return nil, false, nil
	}
	return items[n], true, nil
}

func index(i, size int) (int, bool) {
	if i < 0 {
		i += size
	}
	return i, i >= 0 && i < size
}

func charAt(s string, i int) (any, bool, error) {
	n, ok := index(i, utf8.RuneCountInString(s))
	if !ok {
		return nil, false, nil
	}
	for pos := 0; ; n-- {
		_, size := utf8.DecodeRuneInString(s[pos:])
		if n == 0 {
			return s[pos : pos+size], true, nil
		}
		pos += size
	}
}

// sliceOf returns base[start:stop:step].
func sliceOf(base any, s *slice) (any, error) {
	if isMapping(base) {
		return nil, errorText("unhashable type: 'slice'")
	}
	n, ok := value.Len(base)
	if !ok {
		return undefinedItem(base, s), nil
	}
	start, stop, step, err := s.bounds(n)
	if err != nil {
		return nil, err
	}
	if step == 1 {
		if v, ok := plainSlice(base, start, max(start, stop)); ok {
			return v, nil
		}
	}
	items, _ := value.Items(base)
	var out []any
	for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
		out = append(out, items[i])
	}
	return sameKind(base, out), nil
}

func plainSlice(base any, start, stop int) (any, bool) {
	switch b := base.(type) {
	case *value.List:
		return value.NewList(append([]any(nil), b.Items[start:stop]...)...), true
	case value.Tuple:
		return b[start:stop:stop], true
	case value.Bytes:
		return b[start:stop], true
	case string:
		if utf8.RuneCountInString(b) == len(b) {
			return b[start:stop], true
		}
	}
	return nil, false
}

func sameKind(base any, items []any) any {
	switch base.(type) {
	case string:
		s := ""
		for _, item := range items {
			s += item.(string)
		}
		return s
	case value.Tuple:
		return value.Tuple(items)
	case value.Bytes:
		b := make([]byte, len(items))
		for i, item := range items {
			b[i] = byte(item.(int))
		}
		return value.Bytes(b)
	}
	return &value.List{Items: items}
}

// bounds are the slice's indices for a sequence of n items.
func (s *slice) bounds(n int) (start, stop, step int, err error) {
	var nums [3]int
	var given [3]bool
	for i, v := range s.part {
		if v == nil {
			continue
		}
		if err := defined(v); err != nil {
			return 0, 0, 0, err
		}
		if nums[i], given[i] = value.AsInt(v); !given[i] {
			return 0, 0, 0, errorText("slice indices must be integers or None or have an __index__ method")
		}
	}
	step = 1
	if given[2] {
		step = nums[2]
	}
	if step == 0 {
		return 0, 0, 0, errorText("slice step cannot be zero")
	}
	step = max(min(step, n+1), -n-1)
	low, high := 0, n
	if step < 0 {
		low, high = -1, n-1
	}
	start, stop = low, high
	if step < 0 {
		start, stop = high, low
	}
	if given[0] {
		start = clampIndex(nums[0], n, low, high)
	}
	if given[1] {
		stop = clampIndex(nums[1], n, low, high)
	}
	return start, stop, step, nil
}

func clampIndex(i, n, low, high int) int {
	if i < 0 {
		i = max(i, -n-1) + n
	}
	return max(low, min(i, high))
}
