package value

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode/utf8"
)

// maxCompareDepth bounds comparisons of containers that hold themselves.
const maxCompareDepth = 500

// Truth returns Python's bool(v).
func Truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int:
		return v != 0
	case float64:
		return v != 0
	case *big.Int:
		return v.Sign() != 0
	}
	n, ok := Len(v)
	return !ok || n > 0
}

// Len returns Python's len(v) (a str counts code points); ok is false for a
// value without a length.
func Len(v any) (n int, ok bool) {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v), true
	case Bytes:
		return len(v), true
	case *List:
		return len(v.Items), true
	case Tuple:
		return len(v), true
	case *Dict:
		return v.Len(), true
	case Mapping:
		return len(v.Keys()), true
	case interface{ Len() int }:
		return v.Len(), true
	}
	return 0, false
}

// Items returns what iterating over v yields: items, keys of a dict, or
// characters of a str; ok is false for a value that cannot be iterated. The
// slice of a list is its own: do not change it.
func Items(v any) (items []any, ok bool) {
	switch v := v.(type) {
	case *List:
		return v.Items, true
	case Tuple:
		return v, true
	case *Dict:
		return v.Keys(), true
	case string:
		return chars(v), true
	case Bytes:
		items = make([]any, len(v))
		for i := range len(v) {
			items[i] = int(v[i])
		}
		return items, true
	case Mapping:
		return v.Keys(), true
	case interface{ Items() []any }:
		return v.Items(), true
	}
	return nil, false
}

func chars(s string) []any {
	items := make([]any, 0, len(s))
	for i := 0; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		items = append(items, s[i:i+size])
		i += size
	}
	return items
}

// IsNumber reports whether v is a bool, int or float.
func IsNumber(v any) bool {
	switch v.(type) {
	case bool, int, float64, *big.Int:
		return true
	}
	return false
}

// Equal is Python's ==: numbers compare across types, containers by content.
// Containers inside each other so often that the comparison would not end are
// unequal.
func Equal(a, b any) bool {
	c := comparer{left: maxComparisons}
	return c.equal(a, b, 0)
}

// maxComparisons bounds the work of one comparison.
const maxComparisons = 100_000_000

// comparer is one comparison; left is the work that it may still do.
type comparer struct{ left int }

func (c *comparer) equal(a, b any, depth int) bool {
	if c.left--; c.left < 0 {
		return false
	}
	switch x := a.(type) {
	case nil:
		return b == nil
	case string:
		y, ok := b.(string)
		return ok && x == y
	case Bytes:
		y, ok := b.(Bytes)
		return ok && x == y
	case *List:
		y, ok := b.(*List)
		return ok && (x == y || c.equalItems(x.Items, y.Items, depth))
	case Tuple:
		y, ok := b.(Tuple)
		return ok && c.equalItems(x, y, depth)
	case *Dict:
		y, ok := b.(*Dict)
		return ok && (x == y || c.equalDicts(x, y, depth))
	}
	if IsNumber(a) {
		if !IsNumber(b) || isNaN(a) || isNaN(b) {
			return false
		}
		return compareNumbers(a, b) == 0
	}
	switch b.(type) {
	case nil, string, Bytes, *List, Tuple, *Dict, bool, int, float64, *big.Int:
		return false
	}
	if x, ok := a.(Ordered); ok {
		n, same := x.Compare(b)
		return same && n == 0
	}
	return a == b
}

func isNaN(v any) bool {
	f, ok := v.(float64)
	return ok && math.IsNaN(f)
}

func (c *comparer) equalItems(a, b []any, depth int) bool {
	if len(a) != len(b) || depth > maxCompareDepth {
		return false
	}
	for i := range a {
		if !c.equal(a[i], b[i], depth+1) {
			return false
		}
	}
	return true
}

func (c *comparer) equalDicts(a, b *Dict, depth int) bool {
	if a.Len() != b.Len() || depth > maxCompareDepth {
		return false
	}
	for k, v := range a.All() {
		w, ok := b.GetKey(k)
		if !ok || !c.equal(v, w, depth+1) {
			return false
		}
	}
	return true
}

// Compare orders a and b as Python's < does: negative, zero or positive. The
// error says that the types have no order; op ("<", ">=", …) stands in it.
func Compare(a, b any, op string) (int, error) { return compare(a, b, op, 0) }

func compare(a, b any, op string, depth int) (int, error) {
	if IsNumber(a) && IsNumber(b) {
		return compareNumbers(a, b), nil
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), nil
		}
	case Bytes:
		if y, ok := b.(Bytes); ok {
			return strings.Compare(string(x), string(y)), nil
		}
	case *List:
		if y, ok := b.(*List); ok {
			return compareItems(x.Items, y.Items, op, depth)
		}
	case Tuple:
		if y, ok := b.(Tuple); ok {
			return compareItems(x, y, op, depth)
		}
	}
	if x, ok := a.(Ordered); ok {
		if n, ok := x.Compare(b); ok {
			return n, nil
		}
	}
	return 0, fmt.Errorf("'%s' not supported between instances of '%s' and '%s'", op, TypeName(a), TypeName(b))
}

func compareItems(a, b []any, op string, depth int) (int, error) {
	if depth > maxCompareDepth {
		return 0, fmt.Errorf("maximum recursion depth exceeded in comparison")
	}
	for i := range min(len(a), len(b)) {
		if Equal(a[i], b[i]) {
			continue
		}
		return compare(a[i], b[i], op, depth+1)
	}
	return len(a) - len(b), nil
}

// compareNumbers orders two numbers of any type exactly.
func compareNumbers(a, b any) int {
	x, xok := smallInt(a)
	y, yok := smallInt(b)
	if xok && yok {
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	f, fok := a.(float64)
	g, gok := b.(float64)
	switch {
	case fok && gok:
		return compareFloats(f, g)
	case fok:
		return compareFloatInt(f, b)
	case gok:
		return -compareFloatInt(g, a)
	}
	return BigInt(a).Cmp(BigInt(b))
}

func compareFloats(f, g float64) int {
	switch {
	case f < g:
		return -1
	case f > g:
		return 1
	}
	return 0
}

func compareFloatInt(f float64, i any) int {
	switch {
	case math.IsInf(f, 1), math.IsNaN(f):
		return 1
	case math.IsInf(f, -1):
		return -1
	}
	return new(big.Float).SetFloat64(f).Cmp(new(big.Float).SetInt(BigInt(i)))
}

func smallInt(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// Contains is Python's "item in v". The error says that v is no container.
func Contains(v, item any) (bool, error) {
	switch v := v.(type) {
	case string:
		s, ok := item.(string)
		if !ok {
			return false, fmt.Errorf("'in <string>' requires string as left operand, not %s", TypeName(item))
		}
		return strings.Contains(v, s), nil
	case *Dict:
		if _, err := hashKey(item); err != nil {
			return false, err
		}
		_, ok := v.GetKey(item)
		return ok, nil
	case Mapping:
		_, ok, err := v.Get(item)
		return ok, err
	}
	items, ok := Items(v)
	if !ok {
		return false, fmt.Errorf("argument of type '%s' is not iterable", TypeName(v))
	}
	for _, x := range items {
		if Equal(x, item) {
			return true, nil
		}
	}
	return false, nil
}
