package jinja

import (
	"errors"
	"fmt"

	"play/modules/value"
)

// dictFilters are the filters on dicts and lists of dicts.
func dictFilters() []Builtin {
	return []Builtin{
		{Name: "combine", Params: "*terms, **options", Doc: "merge dicts, the last one wins", Fn: filterCombine},
		{Name: "dict2items", Params: "key_name='key', value_name='value'", Doc: "a dict as a list of key and value", Fn: filterDict2items},
		{Name: "dictsort", Params: "case_sensitive=False, by='key', reverse=False", Doc: "the entries of a dict in order", Fn: filterDictsort},
		{Name: "extract", Params: "container, morekeys=None", Doc: "the item of a container that has this key", Fn: filterExtract},
		{Name: "items", Doc: "the entries of a mapping", TakesUndefined: true, Fn: filterItems},
		{Name: "items2dict", Params: "key_name='key', value_name='value'", Doc: "a list of key and value as a dict", Fn: filterItems2dict},
		{Name: "rekey_on_member", Params: "key, duplicates='error'", Doc: "a dict of dicts, keyed by one of their members", Fn: filterRekey},
		{Name: "subelements", Params: "subelements, skip_missing=False", Doc: "pairs of an item and each element of its list", Fn: filterSubelements},
	}
}

// option takes a named option out of **kwargs.
func option(kwargs *value.Dict, name string, fallback any) any {
	v, ok := kwargs.Get(name)
	if !ok {
		return fallback
	}
	kwargs.Delete(name)
	return v
}

// optionsOf copies the keyword arguments, so that they can be taken one by one.
func optionsOf(c *Call) *value.Dict { return c.Kwargs.Clone() }

func filterCombine(c *Call) (any, error) {
	options := optionsOf(c)
	recursive := value.Truth(option(options, "recursive", false))
	merge, _ := option(options, "list_merge", "replace").(string)
	if options.Len() > 0 {
		return nil, errors.New("'recursive' and 'list_merge' are the only valid keyword arguments")
	}
	terms, err := flattened(append([]any{c.Value}, c.Rest...), 1, true)
	if err != nil {
		return nil, err
	}
	if len(terms) == 0 {
		return value.NewDict(), nil
	}
	result := terms[len(terms)-1]
	for i := len(terms) - 2; i >= 0; i-- {
		if result, err = mergeDicts(terms[i], result, recursive, merge); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// mergeDicts puts high over low; a list in both is treated as mode says.
func mergeDicts(low, high any, recursive bool, mode string) (any, error) {
	switch mode {
	case "replace", "keep", "append", "prepend", "append_rp", "prepend_rp":
	default:
		return nil, errors.New("merge_hash: 'list_merge' argument can only be equal to " +
			"'replace', 'keep', 'append', 'prepend', 'append_rp' or 'prepend_rp'")
	}
	x, xok := asDict(low)
	y, yok := asDict(high)
	if !xok || !yok {
		return nil, fmt.Errorf("failed to combine variables, expected dicts but got a '%s' and a '%s': \n%s\n%s",
			value.TypeName(low), value.TypeName(high), dumpForError(low), dumpForError(high))
	}
	out := x.Clone()
	for k, yv := range y.All() {
		xv, ok := x.GetKey(k)
		merged := yv
		if ok {
			var err error
			if merged, err = mergeValues(xv, yv, recursive, mode); err != nil {
				return nil, err
			}
		}
		_ = out.SetKey(k, merged) // k is a key already
	}
	return out, nil
}

func dumpForError(v any) string {
	text, err := value.EncodeJSON(v, value.JSONOptions{EnsureASCII: true})
	if err != nil {
		return value.Repr(v)
	}
	return text
}

func mergeValues(xv, yv any, recursive bool, mode string) (any, error) {
	if recursive && isMapping(xv) && isMapping(yv) {
		return mergeDicts(xv, yv, recursive, mode)
	}
	x, xok := xv.(*value.List)
	y, yok := yv.(*value.List)
	if xok && yok {
		return mergeLists(x, y, mode), nil
	}
	return yv, nil
}

func mergeLists(x, y *value.List, mode string) *value.List {
	switch mode {
	case "keep":
		return x
	case "append":
		return value.NewList(concat(x.Items, y.Items)...)
	case "prepend":
		return value.NewList(concat(y.Items, x.Items)...)
	case "append_rp":
		return value.NewList(concat(without(x.Items, y.Items), y.Items)...)
	case "prepend_rp":
		return value.NewList(concat(y.Items, without(x.Items, y.Items))...)
	}
	return y
}

func concat(a, b []any) []any {
	out := make([]any, 0, len(a)+len(b))
	return append(append(out, a...), b...)
}

// flattened takes lists within a list apart, down to a number of levels (a
// negative number: all). With skipNulls, None and the texts "None" and "null"
// are left out.
func flattened(items []any, levels int, skipNulls bool) ([]any, error) {
	return flattenInto(nil, items, levels, skipNulls, 0)
}

func flattenInto(out, items []any, levels int, skipNulls bool, depth int) ([]any, error) {
	if depth > 500 {
		return nil, errors.New("maximum recursion depth exceeded")
	}
	for _, item := range items {
		if skipNulls && (item == nil || item == "None" || item == "null") {
			continue
		}
		if levels == 0 || !isSequence(item) {
			out = append(out, item)
			continue
		}
		inner, _ := value.Items(item)
		var err error
		if out, err = flattenInto(out, inner, levels-1, skipNulls, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func filterDict2items(c *Call) (any, error) {
	d, ok := asDict(c.Value)
	if !ok {
		return nil, fmt.Errorf("dict2items requires a dictionary, got <class '%s'> instead.", value.TypeName(c.Value))
	}
	out := value.NewList()
	for k, v := range d.All() {
		row := value.NewDict()
		if err := setBoth(row, c.Args[0], k, c.Args[1], v); err != nil {
			return nil, err
		}
		out.Append(row)
	}
	return out, nil
}

func setBoth(d *value.Dict, k1, v1, k2, v2 any) error {
	if err := d.SetKey(k1, v1); err != nil {
		return err
	}
	return d.SetKey(k2, v2)
}

func filterItems2dict(c *Call) (any, error) {
	if !isSequence(c.Value) {
		return nil, fmt.Errorf("items2dict requires a list, got <class '%s'> instead.", value.TypeName(c.Value))
	}
	items, _ := value.Items(c.Value)
	out := value.NewDict()
	for _, item := range items {
		row, ok := asDict(item)
		if !ok {
			return nil, fmt.Errorf("items2dict requires a list of dictionaries, got %s instead.", value.Str(c.Value))
		}
		k, kok := row.GetKey(c.Args[0])
		v, vok := row.GetKey(c.Args[1])
		if !kok || !vok {
			return nil, fmt.Errorf("items2dict requires each dictionary in the list to contain the keys '%s' and '%s', got %s instead.",
				value.Str(c.Args[0]), value.Str(c.Args[1]), value.Str(c.Value))
		}
		if err := out.SetKey(k, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func pairs(d *value.Dict) *value.List {
	out := value.NewList()
	for k, v := range d.All() {
		out.Append(value.Tuple{k, v})
	}
	return out
}

func filterItems(c *Call) (any, error) {
	if isUndefined(c.Value) {
		return value.NewList(), nil
	}
	d, ok := asDict(c.Value)
	if !ok {
		return nil, errors.New("Can only get item pairs from a mapping.")
	}
	return pairs(d), nil
}

func filterDictsort(c *Call) (any, error) {
	by := 0
	switch c.Args[1] {
	case "key":
	case "value":
		by = 1
	default:
		return nil, errors.New(`You can only sort by either "key" or "value"`)
	}
	d, ok := asDict(c.Value)
	if !ok {
		return nil, fmt.Errorf("'%s object' has no attribute 'items'", value.TypeName(c.Value))
	}
	get := func(pair any) (any, error) { return pair.(value.Tuple)[by], nil }
	rows, err := withKeys(pairs(d).Items, get, value.Truth(c.Args[0]))
	if err != nil {
		return nil, err
	}
	if err := sortKeyed(rows, value.Truth(c.Args[2])); err != nil {
		return nil, err
	}
	out := value.NewList()
	for _, r := range rows {
		out.Append(r.item)
	}
	return out, nil
}

func filterExtract(c *Call) (any, error) {
	keys := []any{c.Value}
	switch more := c.Args[1].(type) {
	case nil:
	case *value.List:
		keys = append(keys, more.Items...)
	default:
		keys = append(keys, more)
	}
	v := c.Args[0]
	for _, k := range keys {
		item, err := getItem(v, k)
		if err != nil {
			return nil, err
		}
		v = item
	}
	return v, nil
}

func filterRekey(c *Call) (any, error) {
	duplicates := value.Str(c.Args[1])
	if duplicates != "error" && duplicates != "overwrite" {
		return nil, fmt.Errorf("duplicates parameter to rekey_on_member has unknown value: %s", duplicates)
	}
	rows := c.Value
	if d, ok := asDict(c.Value); ok {
		rows = value.NewList(d.Values()...)
	}
	items, ok := value.Items(rows)
	if !ok || isString(rows) {
		return nil, errors.New("Type is not a valid list, set, or dict")
	}
	out := value.NewDict()
	for _, item := range items {
		row, ok := asDict(item)
		if !ok {
			return nil, errors.New("List item is not a valid dict")
		}
		key, ok := row.GetKey(c.Args[0])
		if !ok {
			return nil, fmt.Errorf("Key %s was not found", value.Str(c.Args[0]))
		}
		if _, taken := out.GetKey(key); taken && duplicates == "error" {
			return nil, fmt.Errorf("Key %s is not unique, cannot correctly turn into dict", value.Str(key))
		}
		if err := out.SetKey(key, item); err != nil {
			return nil, err
		}
	}
	return out, nil
}
