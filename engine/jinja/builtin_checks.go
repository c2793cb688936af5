package jinja

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode"

	"play/modules/value"
)

// typeTests are Jinja2's tests: what a value is, and comparisons.
func typeTests() []Builtin {
	return []Builtin{
		kindTest("boolean", "true or false", func(v any) bool { _, ok := v.(bool); return ok }),
		{Name: "callable", Doc: "can be called", TakesUndefined: true, Fn: func(c *Call) (any, error) {
			_, ok := c.Value.(Callable)
			return ok || isUndefined(c.Value), nil
		}},
		kindTest("defined", "has a value", func(v any) bool { return !isUndefined(v) }),
		{Name: "divisibleby", Params: "num", Doc: "a multiple of a number", Fn: testDivisible},
		kindTest("escaped", "marked as escaped: never, here", func(any) bool { return false }),
		{Name: "even", Doc: "an even number", Fn: func(c *Call) (any, error) { return parity(c.Value, 0) }},
		kindTest("false", "the value false", func(v any) bool { return v == false }),
		{Name: "filter", Doc: "the name of a filter", Fn: func(c *Call) (any, error) {
			s, ok := c.Value.(string)
			_, found := c.Env.builtin("filter", s)
			return ok && found, nil
		}},
		kindTest("float", "a float", func(v any) bool { _, ok := v.(float64); return ok }),
		{Name: "in", Params: "seq", Doc: "contained in a list, dict or text", Fn: func(c *Call) (any, error) { return value.Contains(c.Args[0], c.Value) }},
		kindTest("integer", "an int", isInteger),
		{Name: "iterable", Doc: "can be iterated over", Fn: func(c *Call) (any, error) { _, ok := value.Items(c.Value); return ok, nil }},
		{Name: "lower", Doc: "a text in lower case", Fn: func(c *Call) (any, error) { return isCased(value.Str(c.Value), unicode.IsUpper, unicode.IsLower), nil }},
		kindTest("mapping", "a dict", isMapping),
		kindTest("none", "none", func(v any) bool { return v == nil }),
		kindTest("number", "an int, float, or bool", value.IsNumber),
		{Name: "odd", Doc: "an odd number", Fn: func(c *Call) (any, error) { return parity(c.Value, 1) }},
		{Name: "sameas", Params: "other", Doc: "the very same object", TakesUndefined: true, Fn: func(c *Call) (any, error) { return same(c.Value, c.Args[0]), nil }},
		kindTest("sequence", "has a length and items", isSized),
		kindTest("string", "a text", isString),
		{Name: "test", Doc: "the name of a test", Fn: func(c *Call) (any, error) {
			s, ok := c.Value.(string)
			_, found := c.Env.builtin("test", s)
			return ok && found, nil
		}},
		kindTest("true", "the value true", func(v any) bool { return v == true }),
		kindTest("undefined", "has no value", isUndefined),
		{Name: "upper", Doc: "a text in upper case", Fn: func(c *Call) (any, error) { return isCased(value.Str(c.Value), unicode.IsLower, unicode.IsUpper), nil }},
	}
}

// compareTests are the operators as tests, under all their names.
func compareTests() []Builtin {
	var out []Builtin
	for _, t := range []struct {
		op    string
		names []string
		holds func(n int) bool
	}{
		{">=", []string{"ge", ">="}, func(n int) bool { return n >= 0 }},
		{">", []string{"gt", "greaterthan", ">"}, func(n int) bool { return n > 0 }},
		{"<=", []string{"le", "<="}, func(n int) bool { return n <= 0 }},
		{"<", []string{"lt", "lessthan", "<"}, func(n int) bool { return n < 0 }},
	} {
		for _, name := range t.names {
			out = append(out, Builtin{Name: name, Params: "other", Doc: "the same as " + t.op, Fn: func(c *Call) (any, error) {
				return ordered(t.op, c.Value, c.Args[0])
			}})
		}
	}
	for _, name := range []string{"eq", "equalto", "=="} {
		out = append(out, Builtin{Name: name, Params: "other", Doc: "the same as ==", Fn: func(c *Call) (any, error) { return value.Equal(c.Value, c.Args[0]), nil }})
	}
	for _, name := range []string{"ne", "!="} {
		out = append(out, Builtin{Name: name, Params: "other", Doc: "the same as !=", Fn: func(c *Call) (any, error) { return !value.Equal(c.Value, c.Args[0]), nil }})
	}
	return out
}

// kindTest makes a test of a predicate that an undefined value just fails.
func kindTest(name, doc string, is func(any) bool) Builtin {
	return Builtin{Name: name, Doc: doc, TakesUndefined: true, Fn: func(c *Call) (any, error) { return is(c.Value), nil }}
}

// isSized reports whether v has a length and items.
func isSized(v any) bool {
	_, sized := value.Len(v)
	_, ok := value.Items(v)
	return sized && ok && !isUndefined(v)
}

func isInteger(v any) bool {
	switch v.(type) {
	case int, *big.Int:
		return true
	}
	return false
}

// isCased is str.islower and str.isupper: some letter of the wanted case, and
// none of the other.
func isCased(s string, unwanted, wanted func(rune) bool) bool {
	return strings.ContainsFunc(s, wanted) && !strings.ContainsFunc(s, unwanted)
}

func parity(v any, want int) (any, error) {
	r, err := opMod(v, 2, maxBuiltinText)
	if err != nil {
		return nil, err
	}
	return value.Equal(r, want), nil
}

func testDivisible(c *Call) (any, error) {
	r, err := opMod(c.Value, c.Args[0], maxBuiltinText)
	if err != nil {
		return nil, err
	}
	return value.Equal(r, 0), nil
}

// same is Python's "is", as far as values here have an identity.
func same(a, b any) bool {
	switch x := a.(type) {
	case value.Tuple:
		y, ok := b.(value.Tuple)
		return ok && len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0])
	case *big.Int:
		return value.Equal(a, b)
	}
	if _, ok := b.(value.Tuple); ok {
		return false
	}
	return a == b
}

// logicTests are Ansible's tests on truth, sets and numbers.
func logicTests() []Builtin {
	return []Builtin{
		{Name: "all", Doc: "every item is true", Fn: func(c *Call) (any, error) { return allTrue(c.Value) }},
		{Name: "any", Doc: "some item is true", Fn: func(c *Call) (any, error) { return anyTrue(c.Value) }},
		{Name: "contains", Params: "value", Doc: "the list, dict or text contains this", Fn: func(c *Call) (any, error) { return value.Contains(c.Value, c.Args[0]) }},
		{Name: "falsy", Params: "convert_bool=False", Doc: "counts as false", Fn: func(c *Call) (any, error) {
			ok, err := truthy(c)
			return !ok, err
		}},
		{Name: "isnan", Doc: "not a number", Fn: testNaN},
		{Name: "issubset", Params: "b", Doc: "all items are in the other list", Fn: func(c *Call) (any, error) { return subset(c.Value, c.Args[0]) }},
		{Name: "issuperset", Params: "b", Doc: "contains all items of the other list", Fn: func(c *Call) (any, error) { return subset(c.Args[0], c.Value) }},
		{Name: "nan", Doc: "not a number", Fn: testNaN},
		{Name: "subset", Params: "b", Doc: "all items are in the other list", Fn: func(c *Call) (any, error) { return subset(c.Value, c.Args[0]) }},
		{Name: "superset", Params: "b", Doc: "contains all items of the other list", Fn: func(c *Call) (any, error) { return subset(c.Args[0], c.Value) }},
		{Name: "truthy", Params: "convert_bool=False", Doc: "counts as true", Fn: func(c *Call) (any, error) { return truthy(c) }},
	}
}

func allTrue(v any) (any, error) {
	items, err := iterate(v)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if err := wantDefined(item); err != nil {
			return nil, err
		}
		if !value.Truth(item) {
			return false, nil
		}
	}
	return true, nil
}

func anyTrue(v any) (any, error) {
	items, err := iterate(v)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if err := wantDefined(item); err != nil {
			return nil, err
		}
		if value.Truth(item) {
			return true, nil
		}
	}
	return false, nil
}

func truthy(c *Call) (bool, error) {
	if !value.Truth(c.Args[0]) {
		return value.Truth(c.Value), nil
	}
	if b, ok := boolWord(c.Value); ok {
		return b, nil
	}
	return value.Truth(c.Value), nil
}

// boolWord reads what module arguments accept as a bool; ok is false for
// anything else.
func boolWord(v any) (b, ok bool) {
	switch v := v.(type) {
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "y", "yes", "on", "1", "true", "t", "1.0":
			return true, true
		case "n", "no", "off", "0", "false", "f", "0.0":
			return false, true
		}
		return false, false
	case nil:
		return false, false
	}
	return value.Equal(v, 1), value.Equal(v, 1) || value.Equal(v, 0)
}

// pyBool is boolWord with false for anything else.
func pyBool(v any) bool {
	b, _ := boolWord(v)
	return b
}

func testNaN(c *Call) (any, error) {
	f, ok := value.AsFloat(c.Value)
	return ok && math.IsNaN(f), nil
}

func subset(a, b any) (any, error) {
	x, err := iterate(a)
	if err != nil {
		return nil, err
	}
	y, err := iterate(b)
	if err != nil {
		return nil, err
	}
	all := newItemSet(y)
	for _, item := range x {
		if !all.has(item) {
			return false, nil
		}
	}
	return true, nil
}

// resultTests judge the result of a task.
func resultTests() []Builtin {
	flag := func(key string, want bool) func(test string) func(*Call) (any, error) {
		return func(test string) func(*Call) (any, error) {
			return func(c *Call) (any, error) {
				d, ok := asDict(c.Value)
				if !ok {
					return nil, fmt.Errorf("The '%s' test expects a dictionary", test)
				}
				v, ok := d.Get(key)
				switch {
				case !want:
					return !value.Truth(v), nil
				case !ok:
					return false, nil
				}
				return v, nil
			}
		}
	}
	failed, fine := flag("failed", true)("failed"), flag("failed", false)("failed")
	skipped := flag("skipped", true)("skipped")
	return []Builtin{
		{Name: "change", Doc: "the task changed something", Fn: testChanged},
		{Name: "changed", Doc: "the task changed something", Fn: testChanged},
		{Name: "failed", Doc: "the task failed", Fn: failed},
		{Name: "failure", Doc: "the task failed", Fn: failed},
		{Name: "finished", Doc: "the background task has ended", Fn: func(c *Call) (any, error) { return asyncState(c, "finished") }},
		{Name: "reachable", Doc: "the host answered", Fn: flag("unreachable", false)("unreachable")},
		{Name: "skip", Doc: "the task was skipped", Fn: skipped},
		{Name: "skipped", Doc: "the task was skipped", Fn: skipped},
		{Name: "started", Doc: "the background task has begun", Fn: func(c *Call) (any, error) { return asyncState(c, "started") }},
		{Name: "succeeded", Doc: "the task did not fail", Fn: fine},
		{Name: "success", Doc: "the task did not fail", Fn: fine},
		{Name: "successful", Doc: "the task did not fail", Fn: fine},
		{Name: "unreachable", Doc: "the host did not answer", Fn: flag("unreachable", true)("unreachable")},
	}
}

func testChanged(c *Call) (any, error) {
	d, ok := asDict(c.Value)
	if !ok {
		return nil, errors.New("The 'changed' test expects a dictionary")
	}
	if v, ok := d.Get("changed"); ok {
		return v, nil
	}
	results, _ := d.Get("results")
	list, ok := results.(*value.List)
	if !ok {
		return false, nil
	}
	for _, item := range list.Items {
		row, _ := asDict(item)
		if v, _ := row.Get("changed"); value.Truth(v) {
			return true, nil
		}
	}
	return false, nil
}

func asyncState(c *Call, key string) (any, error) {
	d, ok := asDict(c.Value)
	if !ok {
		return nil, fmt.Errorf("The '%s' test expects a dictionary", key)
	}
	v, ok := d.Get(key)
	if !ok {
		// A task that did not run in the background began and ended.
		return true, nil
	}
	return value.Equal(v, 1), nil
}
