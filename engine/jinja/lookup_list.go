package jinja

import (
	"errors"
	"fmt"
	"strings"

	"play/modules/pyre"
	"play/modules/value"
)

// listLookups make lists of their terms.
func listLookups() []Builtin {
	const params = "*terms, **options"
	return []Builtin{
		{Name: "cartesian", Params: params, Doc: "every combination of one item of each list", Fn: lookupNested("each list")},
		{Name: "dict", Params: params, Doc: "key and value of each entry of dicts", Fn: lookupDict},
		{Name: "flattened", Params: params, Doc: "the items of lists in lists", Fn: lookupFlattened},
		{Name: "indexed_items", Params: params, Doc: "every item with its number", Fn: lookupIndexed},
		{Name: "items", Params: params, Doc: "the items of the terms, one level deep", Fn: func(c *Call) (any, error) { return value.NewList(termsOf(c.Rest)...), nil }},
		{Name: "list", Params: params, Doc: "the terms", Fn: func(c *Call) (any, error) { return listCopy(c.Rest), nil }},
		{Name: "nested", Params: params, Doc: "every combination of one item of each list", Fn: lookupNested("the nested list")},
		{Name: "random_choice", Params: params, Doc: "one of the terms, at random", Fn: lookupRandomChoice},
		{Name: "sequence", Params: params, Doc: "a sequence of numbers as text", Fn: lookupSequence},
		{Name: "subelements", Params: params, Doc: "pairs of an item and each element of its list", Fn: lookupSubelements},
		{Name: "together", Params: params, Doc: "the first items together, the second ones, and so on", Fn: lookupTogether},
	}
}

func lookupDict(c *Call) (any, error) {
	out := value.NewList()
	for _, term := range c.Rest {
		d, ok := asDict(term)
		if !ok {
			return nil, errors.New("with_dict expects a dict")
		}
		for k, v := range d.All() {
			out.Append(value.DictOf("key", k, "value", v))
		}
	}
	return out, nil
}

func lookupFlattened(c *Call) (any, error) {
	items, err := flattened(c.Rest, -1, true)
	if err != nil {
		return nil, err
	}
	return value.NewList(items...), nil
}

func lookupIndexed(c *Call) (any, error) {
	out := value.NewList()
	for i, item := range termsOf(c.Rest) {
		out.Append(value.Tuple{i, item})
	}
	return out, nil
}

// lookupNested makes nested and cartesian, which differ in one message only.
func lookupNested(where string) func(*Call) (any, error) {
	return func(c *Call) (any, error) {
		var pools [][]any
		for _, term := range c.Rest {
			pools = append(pools, termsOf([]any{term}))
		}
		if len(pools) == 0 {
			return nil, fmt.Errorf("with_%s requires at least one element in %s", c.Name, where)
		}
		rows, err := product(pools)
		if err != nil {
			return nil, err
		}
		for i, row := range rows.Items {
			rows.Items[i] = value.NewList(termsOf(row.(value.Tuple))...)
		}
		return rows, nil
	}
}

func lookupRandomChoice(c *Call) (any, error) {
	terms := c.Rest
	if len(terms) == 0 {
		return value.NewList(), nil
	}
	return value.NewList(terms[newRandom(nil).below(len(terms))]), nil
}

func lookupTogether(c *Call) (any, error) {
	if len(c.Rest) == 0 {
		return nil, errors.New("with_together requires at least one element in each list")
	}
	n := 0
	var columns [][]any
	for _, term := range c.Rest {
		columns = append(columns, termsOf([]any{term}))
		n = max(n, len(columns[len(columns)-1]))
	}
	rows := zipColumns(columns, n, nil)
	for i, row := range rows.Items {
		rows.Items[i] = value.NewList(termsOf(row.(value.Tuple))...)
	}
	return rows, nil
}

func lookupSubelements(c *Call) (any, error) {
	const usage = "subelements lookup expects a list of two or three items, "
	if len(c.Rest) < 2 || len(c.Rest) > 3 {
		return nil, errors.New(usage + "first a dict or a list, second a string pointing to the subkey")
	}
	key, ok := c.Rest[1].(string)
	if !ok {
		return nil, errors.New(usage + "first a dict or a list, second a string pointing to the subkey")
	}
	skip := false
	if len(c.Rest) == 3 {
		flags, ok := asDict(c.Rest[2])
		if !ok {
			return nil, errors.New(usage + "the optional third item must be a dict with flags skip_missing")
		}
		v, _ := flags.Get("skip_missing")
		skip = pyBool(v)
	}
	rows := termsOf([]any{c.Rest[0]})
	if d, ok := asDict(c.Rest[0]); ok {
		rows = d.Values()
	}
	out := value.NewList()
	for _, row := range rows {
		d, ok := asDict(row)
		if !ok {
			return nil, fmt.Errorf("%sfirst a dict or a list: %s is not a dict", usage, value.Repr(row))
		}
		if v, _ := d.Get("skipped"); value.Truth(v) {
			continue
		}
		path := strings.Split(key, ".")
		items, err := subelementList(row, path, skip)
		if err != nil {
			return nil, err
		}
		rest := withoutPath(d, path)
		for _, item := range items {
			out.Append(value.Tuple{rest, item})
		}
	}
	return out, nil
}

// withoutPath copies a dict without the entry at the end of a path.
func withoutPath(d *value.Dict, path []string) *value.Dict {
	out := d.Clone()
	if len(path) == 1 {
		out.Delete(path[0])
		return out
	}
	if inner, ok := out.Get(path[0]); ok {
		if next, ok := asDict(inner); ok {
			out.Set(path[0], withoutPath(next, path[1:]))
		}
	}
	return out
}

// numberRange is what a term of the sequence lookup asks for.
type numberRange struct {
	start, end, stride int
	count              int
	hasEnd, hasCount   bool
	hasStride          bool
	format             string
}

func lookupSequence(c *Call) (any, error) {
	out := value.NewList()
	for _, term := range c.Rest {
		r := numberRange{start: 1, stride: 1, format: "%d"}
		if err := r.read(value.Str(term)); err != nil {
			return nil, err
		}
		if err := r.options(c.Kwargs); err != nil {
			return nil, err
		}
		if err := r.fill(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// read understands "5", "5-10/2:format" and "start=… end=…".
func (r *numberRange) read(term string) error {
	re, err := pyre.Compile(`^(?:([+-]?(?:0x[0-9a-f]+|\d+))-)?([+-]?(?:0x[0-9a-f]+|\d+))(?:/([+-]?(?:0x[0-9a-f]+|\d+)))?(?::(.+))?$`, pyre.IgnoreCase)
	if err != nil {
		return err
	}
	m, err := re.Match(term)
	if err != nil {
		return err
	}
	if m == nil {
		words := value.NewDict()
		for _, word := range splitWords(term) {
			k, v, ok := strings.Cut(word, "=")
			if !ok {
				return fmt.Errorf("can't parse sequence term %s: %q is no name=value", value.Repr(term), word)
			}
			words.Set(k, v)
		}
		return r.options(words)
	}
	for i, name := range []string{"start", "end", "stride", "format"} {
		if s, ok := m.Group(i + 1); ok {
			if err := r.set(name, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *numberRange) options(options *value.Dict) error {
	for k, v := range options.All() {
		if err := r.set(value.Str(k), v); err != nil {
			return err
		}
	}
	return nil
}

func (r *numberRange) set(name string, v any) error {
	if name == "format" {
		r.format = value.Str(v)
		return nil
	}
	number, ok := value.ParseInt(value.Str(v), 0)
	if s := value.Str(v); !ok && strings.Trim(s, "0123456789") == "" {
		number, ok = value.ParseInt(s, 8)
	}
	n, small := number.(int)
	if !ok || !small {
		return fmt.Errorf("can't parse %s=%s as integer", name, value.Str(v))
	}
	switch name {
	case "start":
		r.start = n
	case "end":
		r.end, r.hasEnd = n, true
	case "count":
		r.count, r.hasCount = n, true
	case "stride":
		r.stride, r.hasStride = n, true
	default:
		return fmt.Errorf("unrecognized arguments to with_sequence: %s", value.Repr(value.NewList(name)))
	}
	return nil
}

func (r *numberRange) fill(out *value.List) error {
	switch {
	case !r.hasEnd && !r.hasCount:
		return errors.New("must specify count or end in with_sequence")
	case r.hasEnd && r.hasCount:
		return errors.New("can't specify both count and end in with_sequence")
	case r.hasCount && r.count == 0:
		return nil
	case r.hasCount:
		r.end = r.start + r.count*r.stride - r.stride
	}
	switch {
	case r.stride > 0 && r.end < r.start:
		return errors.New("to count backwards make stride negative")
	case r.stride < 0 && r.end > r.start:
		return errors.New("to count forward don't make stride negative")
	case strings.Count(r.format, "%") != 1:
		return fmt.Errorf("bad formatting string: %s", r.format)
	case r.stride == 0:
		return nil
	}
	stop := r.end + 1
	if r.stride < 0 {
		stop = r.end - 1
	}
	all, err := numbers(r.start, stop, r.stride)
	if err != nil {
		return err
	}
	for _, n := range all.Items {
		s, err := percentFormat(r.format, n, maxBuiltinText)
		if err != nil {
			return fmt.Errorf("problem formatting %d with %s", n, value.Repr(r.format))
		}
		out.Append(s)
	}
	return nil
}

// splitWords splits at blanks outside of quotes, and removes the quotes.
func splitWords(s string) []string {
	var words []string
	var word strings.Builder
	quote, open := byte(0), false
	for i := range len(s) {
		c := s[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '"' || c == '\'':
			quote, open = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if open || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}
