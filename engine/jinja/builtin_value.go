package jinja

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"play/modules/value"
)

// The largest results that a builtin makes: beyond them the answer is an error
// instead of exhausted memory.
const (
	maxBuiltinItems = 5_000_000
	maxBuiltinText  = 256 << 20 // bytes
)

var errTooMany = errors.New("cannot make a list of more than 5000000 items")

// iterate returns what iterating over v yields.
func iterate(v any) ([]any, error) {
	items, ok := value.Items(v)
	if !ok {
		return nil, fmt.Errorf("'%s' object is not iterable", value.TypeName(v))
	}
	return items, nil
}

// listOf returns a new list of the items of v.
func listOf(v any) (*value.List, error) {
	items, err := iterate(v)
	if err != nil {
		return nil, err
	}
	return value.NewList(append(make([]any, 0, len(items)), items...)...), nil
}

func isString(v any) bool {
	_, ok := v.(string)
	return ok
}

// isMapping reports whether v is a dict or behaves as one.
func isMapping(v any) bool {
	switch v.(type) {
	case *value.Dict, value.Mapping:
		return true
	}
	return false
}

// asDict returns a dict, or a dict-like object turned into one.
func asDict(v any) (*value.Dict, bool) {
	switch v := v.(type) {
	case *value.Dict:
		return v, v != nil
	case value.Mapping:
		d := value.NewDict()
		for _, k := range v.Keys() {
			if item, ok, err := v.Get(k); ok && err == nil {
				_ = d.SetKey(k, item) // a mapping's keys are hashable
			}
		}
		return d, true
	}
	return nil, false
}

// isSequence is Ansible's is_sequence: a list or tuple, but not a string.
func isSequence(v any) bool {
	switch v.(type) {
	case *value.List, value.Tuple:
		return true
	case string, value.Bytes, *value.Dict, value.Mapping:
		return false
	}
	_, ok := v.(interface{ Items() []any })
	return ok
}

// wantInt reads an argument that Python uses as an integer.
func wantInt(v any) (int, error) {
	if n, ok := value.AsInt(v); ok {
		return n, nil
	}
	if _, ok := v.(*big.Int); ok {
		return 0, errors.New("cannot use an integer this large")
	}
	return 0, fmt.Errorf("'%s' object cannot be interpreted as an integer", value.TypeName(v))
}

// optInt reads an integer argument whose default is None.
func optInt(v any, fallback int) (int, error) {
	if v == nil {
		return fallback, nil
	}
	return wantInt(v)
}

// pyFloatText matches what Python's float() reads, with underscores.
var pyFloatText = regexp.MustCompile(`^(?i)[+-]?(?:(?:\d+(?:_\d+)*)?\.?(?:\d+(?:_\d+)*)?(?:e[+-]?\d+(?:_\d+)*)?|inf|infinity|nan)$`)

// parseFloat is Python's float(text).
func parseFloat(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	lower := strings.ToLower(s)
	if strings.ContainsAny(lower, "xp") || !strings.ContainsAny(lower, "0123456789in") {
		return 0, false
	}
	if strings.Contains(s, "_") {
		if !pyFloatText.MatchString(s) {
			return 0, false
		}
		s = strings.ReplaceAll(s, "_", "")
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return f, true
}

// toFloat is Python's float(v).
func toFloat(v any) (float64, error) {
	switch v := v.(type) {
	case string:
		f, ok := parseFloat(v)
		if !ok {
			return 0, fmt.Errorf("could not convert string to float: %s", value.Repr(v))
		}
		return f, nil
	case *big.Int:
		f, ok := value.AsFloat(v)
		if !ok {
			return 0, errors.New("int too large to convert to float")
		}
		return f, nil
	}
	f, ok := value.AsFloat(v)
	if !ok {
		return 0, fmt.Errorf("float() argument must be a string or a real number, not '%s'", value.TypeName(v))
	}
	return f, nil
}

// intOfFloat is Python's int(f).
func intOfFloat(f float64) (any, error) {
	switch {
	case math.IsNaN(f):
		return nil, errors.New("cannot convert float NaN to integer")
	case math.IsInf(f, 0):
		return nil, errors.New("cannot convert float infinity to integer")
	}
	b, _ := big.NewFloat(math.Trunc(f)).Int(nil)
	return value.Int(b), nil
}

// attrGetter returns a function that follows a dotted path; a part made of
// digits is an index.
func attrGetter(attribute, fallback any) func(any) (any, error) {
	var parts []any
	switch a := attribute.(type) {
	case nil:
	case string:
		for _, p := range strings.Split(a, ".") {
			if n, err := strconv.Atoi(p); err == nil && p != "" && p[0] != '+' && p[0] != '-' {
				parts = append(parts, n)
			} else {
				parts = append(parts, p)
			}
		}
	default:
		parts = []any{a}
	}
	return func(v any) (any, error) {
		for _, p := range parts {
			item, err := getItem(v, p)
			if err != nil {
				return nil, err
			}
			if isUndefined(item) && fallback != nil {
				item = fallback
			}
			v = item
		}
		return v, nil
	}
}

// wantDefined turns an undefined value into its error.
func wantDefined(v any) error {
	if u, ok := v.(*Undefined); ok {
		return u.Err()
	}
	return nil
}

func isUndefined(v any) bool {
	_, ok := v.(*Undefined)
	return ok
}

// foldCase lowers strings, and leaves everything else: the key of filters that
// ignore case.
func foldCase(v any) any {
	if s, ok := v.(string); ok {
		return strings.ToLower(s)
	}
	return v
}

// checkText refuses a text that would be too large to make.
func checkText(size int) error {
	if size > maxBuiltinText {
		return fmt.Errorf("cannot make a text of more than %d bytes", maxBuiltinText)
	}
	return nil
}
