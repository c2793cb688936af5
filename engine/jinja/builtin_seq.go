package jinja

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"play/modules/value"
)

// seqFilters are Jinja2's filters on lists and other iterables.
func seqFilters() []Builtin {
	return []Builtin{
		{Name: "batch", Params: "linecount, fill_with=None", Doc: "split into lists of a given length", Fn: filterBatch},
		{Name: "count", Doc: "the number of items", Fn: filterLength},
		{Name: "first", Doc: "the first item", Fn: filterFirst},
		{Name: "groupby", Params: "attribute, default=None, case_sensitive=False", Doc: "group items by an attribute", Fn: filterGroupby},
		{Name: "join", Params: "d='', attribute=None", Doc: "put the items together as text", Fn: filterJoin},
		{Name: "last", Doc: "the last item", Fn: filterLast},
		{Name: "length", Doc: "the number of items", Fn: filterLength},
		{Name: "list", Doc: "the items as a list", Fn: func(c *Call) (any, error) { return listOf(c.Value) }},
		{Name: "max", Params: "case_sensitive=False, attribute=None", Doc: "the greatest item", Fn: func(c *Call) (any, error) { return extreme(c, 1) }},
		{Name: "min", Params: "case_sensitive=False, attribute=None", Doc: "the least item", Fn: func(c *Call) (any, error) { return extreme(c, -1) }},
		{Name: "reverse", Doc: "the items, or characters, from last to first", Fn: filterReverse},
		{Name: "slice", Params: "slices, fill_with=None", Doc: "split into a given number of lists", Fn: filterSlice},
		{Name: "sort", Params: "reverse=False, case_sensitive=False, attribute=None", Doc: "the items in order", Fn: filterSort},
		{Name: "sum", Params: "attribute=None, start=0", Doc: "add the items up", Fn: filterSum},
	}
}

func filterLength(c *Call) (any, error) {
	n, ok := value.Len(c.Value)
	if !ok {
		return nil, fmt.Errorf("object of type '%s' has no len()", value.TypeName(c.Value))
	}
	return n, nil
}

func filterFirst(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return &Undefined{Msg: "No first item, sequence was empty."}, nil
	}
	return items[0], nil
}

func filterLast(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, fmt.Errorf("'%s' object is not reversible", value.TypeName(c.Value))
	}
	if len(items) == 0 {
		return &Undefined{Msg: "No last item, sequence was empty."}, nil
	}
	return items[len(items)-1], nil
}

func filterJoin(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	get := attrGetter(c.Args[1], nil)
	parts := make([]string, len(items))
	size := 0
	sep := value.Str(c.Args[0])
	for i, item := range items {
		v, err := get(item)
		if err == nil {
			err = wantDefined(v)
		}
		if err != nil {
			return nil, err
		}
		parts[i] = value.Str(v)
		size += len(parts[i]) + len(sep)
	}
	if err := checkText(size); err != nil {
		return nil, err
	}
	return strings.Join(parts, sep), nil
}

func filterReverse(c *Call) (any, error) {
	if s, ok := c.Value.(string); ok {
		return reverseText(s), nil
	}
	l, err := listOf(c.Value)
	if err != nil {
		return nil, errors.New("argument must be iterable")
	}
	for i, j := 0, len(l.Items)-1; i < j; i, j = i+1, j-1 {
		l.Items[i], l.Items[j] = l.Items[j], l.Items[i]
	}
	return l, nil
}

func reverseText(s string) string {
	var b strings.Builder
	for s != "" {
		_, size := utf8.DecodeLastRuneInString(s)
		b.WriteString(s[len(s)-size:])
		s = s[:len(s)-size]
	}
	return b.String()
}

func filterBatch(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	n, err := wantInt(c.Args[0])
	if err != nil {
		return nil, err
	}
	if n > maxBuiltinItems {
		return nil, errTooMany
	}
	if n < 1 {
		return value.NewList(listCopy(items)), nil
	}
	out := value.NewList()
	for at := 0; at < len(items); at += n {
		line := listCopy(items[at:min(at+n, len(items))])
		for c.Args[1] != nil && line.Len() < n {
			line.Append(c.Args[1])
		}
		out.Append(line)
	}
	return out, nil
}

func listCopy(items []any) *value.List {
	return value.NewList(append(make([]any, 0, len(items)), items...)...)
}

func filterSlice(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	slices, err := wantInt(c.Args[0])
	switch {
	case err != nil:
		return nil, err
	case slices == 0:
		return nil, errors.New("integer division or modulo by zero")
	case slices > maxBuiltinItems:
		return nil, errTooMany
	}
	out := value.NewList()
	per, extra, at := len(items)/max(slices, 1), len(items)%max(slices, 1), 0
	for i := range max(slices, 0) {
		n := per
		if i < extra {
			n++
		}
		column := listCopy(items[at : at+n])
		at += n
		if c.Args[1] != nil && i >= extra {
			column.Append(c.Args[1])
		}
		out.Append(column)
	}
	return out, nil
}

// keyed pairs items with what they are compared by.
type keyed struct{ item, key any }

// withKeys works out the comparison key of each item.
func withKeys(items []any, get func(any) (any, error), caseSensitive bool) ([]keyed, error) {
	out := make([]keyed, len(items))
	for i, item := range items {
		key, err := get(item)
		if err == nil {
			err = wantDefined(key)
		}
		if err != nil {
			return nil, err
		}
		if !caseSensitive {
			key = foldCase(key)
		}
		out[i] = keyed{item, key}
	}
	return out, nil
}

// sortKeyed sorts in place; equal items keep their order, in reverse too.
func sortKeyed(items []keyed, reverse bool) error {
	var failed error
	sort.SliceStable(items, func(i, j int) bool {
		if reverse {
			i, j = j, i
		}
		n, err := value.Compare(items[i].key, items[j].key, "<")
		if err != nil && failed == nil {
			failed = err
		}
		return n < 0
	})
	return failed
}

// multiGetter follows several paths, separated by commas; with more than one
// the key is a list.
func multiGetter(attribute any, fold bool) func(any) (any, error) {
	s, ok := attribute.(string)
	if !ok || !strings.Contains(s, ",") {
		return attrGetter(attribute, nil)
	}
	var getters []func(any) (any, error)
	for _, path := range strings.Split(s, ",") {
		getters = append(getters, attrGetter(path, nil))
	}
	return func(v any) (any, error) {
		keys := value.NewList()
		for _, get := range getters {
			key, err := get(v)
			if err == nil {
				err = wantDefined(key)
			}
			if err != nil {
				return nil, err
			}
			if fold {
				key = foldCase(key)
			}
			keys.Append(key)
		}
		return keys, nil
	}
}

func filterSort(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	caseSensitive := value.Truth(c.Args[1])
	rows, err := withKeys(items, multiGetter(c.Args[2], !caseSensitive), caseSensitive)
	if err != nil {
		return nil, err
	}
	if err := sortKeyed(rows, value.Truth(c.Args[0])); err != nil {
		return nil, err
	}
	out := value.NewList()
	for _, r := range rows {
		out.Append(r.item)
	}
	return out, nil
}

func extreme(c *Call, sign int) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return &Undefined{Msg: "No aggregated item, sequence was empty."}, nil
	}
	rows, err := withKeys(items, attrGetter(c.Args[1], nil), value.Truth(c.Args[0]))
	if err != nil {
		return nil, err
	}
	op := "<"
	if sign > 0 {
		op = ">"
	}
	best := rows[0]
	for _, r := range rows[1:] {
		n, err := value.Compare(r.key, best.key, op)
		if err != nil {
			return nil, err
		}
		if n*sign > 0 {
			best = r
		}
	}
	return best.item, nil
}

func filterSum(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	get := attrGetter(c.Args[0], nil)
	total := c.Args[1]
	if isString(total) {
		return nil, errors.New("sum() can't sum strings [use ''.join(seq) instead]")
	}
	for _, item := range items {
		v, err := get(item)
		if err == nil {
			err = wantDefined(v)
		}
		if err != nil {
			return nil, err
		}
		if total, err = opAdd(total, v, maxBuiltinText); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// group is one result of groupby: a tuple of the key and the items, which are
// also its attributes grouper and list.
type group struct {
	key  any
	list *value.List
}

var (
	_ value.Object     = (*group)(nil)
	_ value.JSONValuer = (*group)(nil)
)

// TypeName is the type's name in Jinja2.
func (g *group) TypeName() string { return "_GroupTuple" }

// Repr prints a plain tuple.
func (g *group) Repr() string { return value.Repr(value.Tuple(g.Items())) }

// Items are the key and the list.
func (g *group) Items() []any { return []any{g.key, g.list} }

// JSONValue is the plain tuple.
func (g *group) JSONValue() (any, error) { return value.Tuple(g.Items()), nil }

// Attr returns grouper or list.
func (g *group) Attr(name string) (any, bool) {
	switch name {
	case "grouper":
		return g.key, true
	case "list":
		return g.list, true
	}
	return nil, false
}

func filterGroupby(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	get := attrGetter(c.Args[0], c.Args[1])
	rows, err := withKeys(items, get, value.Truth(c.Args[2]))
	if err != nil {
		return nil, err
	}
	if err := sortKeyed(rows, false); err != nil {
		return nil, err
	}
	out := value.NewList()
	for i := 0; i < len(rows); {
		key, err := get(rows[i].item)
		if err != nil {
			return nil, err
		}
		g := &group{key: key, list: value.NewList()}
		for first := rows[i].key; i < len(rows) && value.Equal(rows[i].key, first); i++ {
			g.list.Append(rows[i].item)
		}
		out.Append(g)
	}
	return out, nil
}
