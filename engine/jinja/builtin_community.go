package jinja

import (
	"encoding/csv"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"golang.org/x/text/unicode/norm"

	"play/modules/value"
)

// communityFilters are those of community.general that playbooks use.
func communityFilters() []Builtin {
	return []Builtin{
		{Name: "counter", Doc: "how often each item occurs", Fn: filterCounter},
		{Name: "crc32", Doc: "the CRC32 of a text", Fn: filterCRC32},
		{Name: "dict", Doc: "a dict of pairs", Fn: filterDict},
		{Name: "dict_kv", Params: "key", Doc: "a dict with this one value", Fn: filterDictKV},
		{Name: "from_csv", Params: "dialect='excel', fieldnames=None, delimiter=None, skipinitialspace=None, strict=None", Doc: "read CSV into a list of dicts", Fn: filterFromCSV},
		{Name: "groupby_as_dict", Params: "attribute", Doc: "a dict of dicts by one of their members", Fn: filterGroupbyAsDict},
		{Name: "json_query", Params: "expr", Doc: "the answer to a JMESPath query", Fn: filterJSONQuery},
		{Name: "lists_mergeby", Params: "*terms, **options", Doc: "merge lists of dicts that share a key", Fn: filterListsMergeby},
		{Name: "unicode_normalize", Params: "form='NFC'", Doc: "a Unicode normal form", Fn: filterNormalize},
		{Name: "version_sort", Params: "reverse=False", Doc: "version numbers in order", Fn: filterVersionSort},
	}
}

func filterCounter(c *Call) (any, error) {
	items, ok := value.Items(c.Value)
	if !ok {
		return nil, fmt.Errorf("Argument for community.general.counter must be a sequence (string or list). %s is <class '%s'>", value.Str(c.Value), value.TypeName(c.Value))
	}
	out := value.NewDict()
	for _, item := range items {
		n, _ := out.GetKey(item)
		count, _ := n.(int)
		if err := out.SetKey(item, count+1); err != nil {
			return nil, fmt.Errorf("community.general.counter needs a sequence with hashable elements (int, float or str) - %w", err)
		}
	}
	return out, nil
}

func filterCRC32(c *Call) (any, error) {
	s, ok := c.Value.(string)
	if !ok {
		return nil, fmt.Errorf("Invalid value type (<class '%s'>) for crc32 (%s)", value.TypeName(c.Value), value.Str(c.Value))
	}
	return fmt.Sprintf("%x", crc32.ChecksumIEEE([]byte(s))), nil
}

func filterDict(c *Call) (any, error) {
	d := value.NewDict()
	if err := fillDict(d, c.Value); err != nil {
		return nil, err
	}
	return d, nil
}

func filterDictKV(c *Call) (any, error) {
	d := value.NewDict()
	if err := d.SetKey(c.Args[0], c.Value); err != nil {
		return nil, err
	}
	return d, nil
}

func filterGroupbyAsDict(c *Call) (any, error) {
	if !isSequence(c.Value) {
		return nil, errors.New("Input is not a sequence")
	}
	items, _ := value.Items(c.Value)
	out := value.NewDict()
	for i, item := range items {
		d, ok := asDict(item)
		if !ok {
			return nil, fmt.Errorf("Sequence element #%d is not a mapping", i)
		}
		key, ok := d.GetKey(c.Args[0])
		if !ok {
			return nil, fmt.Errorf("Attribute not contained in element #%d of sequence", i)
		}
		if _, taken := out.GetKey(key); taken {
			return nil, fmt.Errorf("Multiple sequence entries have attribute value %s", value.Repr(key))
		}
		if err := out.SetKey(key, item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func filterNormalize(c *Call) (any, error) {
	s, ok := c.Value.(string)
	if !ok {
		return nil, fmt.Errorf("<class '%s'> is not a valid input type", value.TypeName(c.Value))
	}
	switch form := value.Str(c.Args[0]); form {
	case "NFC":
		return norm.NFC.String(s), nil
	case "NFD":
		return norm.NFD.String(s), nil
	case "NFKC":
		return norm.NFKC.String(s), nil
	case "NFKD":
		return norm.NFKD.String(s), nil
	default:
		return nil, fmt.Errorf("%s is not a valid form for unicode_normalize", form)
	}
}

func filterVersionSort(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	rows, err := withKeys(items, func(v any) (any, error) { return looseVersion(value.Str(v)) }, true)
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

// filterListsMergeby merges by the last term: index='name', or by position.
func filterListsMergeby(c *Call) (any, error) {
	options := optionsOf(c)
	recursive := value.Truth(option(options, "recursive", false))
	merge := value.Str(option(options, "list_merge", "replace"))
	terms := append([]any{c.Value}, c.Rest...)
	index := option(options, "index", nil)
	if options.Len() > 0 {
		return nil, errors.New("'recursive' and 'list_merge' are the only valid keyword arguments")
	}
	if index == nil {
		if len(terms) < 2 {
			return nil, errors.New("The last argument must be the name of the key to merge by")
		}
		index, terms = terms[len(terms)-1], terms[:len(terms)-1]
	}
	if !isString(index) {
		return nil, fmt.Errorf("First argument after the lists for community.general.lists_mergeby must be string. %s is <class '%s'>", value.Str(index), value.TypeName(index))
	}
	rows, err := flattened(terms, 2, false)
	if err != nil {
		return nil, err
	}
	return mergeRows(rows, index, recursive, merge)
}

// mergeRows merges the dicts with the same member, in the order of that member.
func mergeRows(rows []any, index any, recursive bool, merge string) (any, error) {
	merged := value.NewDict()
	for _, row := range rows {
		d, ok := asDict(row)
		if !ok {
			return nil, fmt.Errorf("Elements of list arguments for lists_mergeby must be dictionaries. %s is <class '%s'>", value.Str(row), value.TypeName(row))
		}
		key, ok := d.GetKey(index)
		if !ok {
			continue
		}
		low, seen := merged.GetKey(key)
		if !seen {
			low = value.NewDict()
		}
		both, err := mergeDicts(low, d, recursive, merge)
		if err != nil {
			return nil, err
		}
		if err := merged.SetKey(key, both); err != nil {
			return nil, err
		}
	}
	pairs := pairs(merged).Items
	sorted, err := withKeys(pairs, func(p any) (any, error) { return p.(value.Tuple)[0], nil }, true)
	if err != nil {
		return nil, err
	}
	if err := sortKeyed(sorted, false); err != nil {
		return nil, err
	}
	out := value.NewList()
	for _, r := range sorted {
		out.Append(r.item.(value.Tuple)[1])
	}
	return out, nil
}

func filterFromCSV(c *Call) (any, error) {
	text := value.Str(c.Value)
	comma := ','
	if dialect := value.Str(c.Args[0]); dialect == "excel-tab" {
		comma = '\t'
	} else if dialect != "excel" && dialect != "unix" {
		return nil, fmt.Errorf("Dialect '%s' is not supported by your version of python.", dialect)
	}
	if c.Args[2] != nil {
		comma = []rune(value.Str(c.Args[2]) + ",")[0]
	}
	rows, err := readCSV(text, comma, value.Truth(c.Args[3]), value.Truth(c.Args[4]))
	if err != nil {
		return nil, err
	}
	var names []string
	if c.Args[1] == nil {
		if len(rows) > 0 {
			names, rows = rows[0], rows[1:]
		}
	} else {
		items, err := iterate(c.Args[1])
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			names = append(names, value.Str(item))
		}
	}
	out := value.NewList()
	for _, row := range rows {
		out.Append(csvDict(names, row))
	}
	return out, nil
}

func csvDict(names, row []string) *value.Dict {
	d := value.NewDict()
	for i, name := range names {
		if i < len(row) {
			d.Set(name, row[i])
		} else {
			d.Set(name, nil)
		}
	}
	if len(row) > len(names) {
		rest := value.NewList()
		for _, cell := range row[len(names):] {
			rest.Append(cell)
		}
		_ = d.SetKey(nil, rest) // None is hashable
	}
	return d
}

func readCSV(text string, comma rune, trim, strict bool) ([][]string, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = comma
	r.FieldsPerRecord = -1
	r.LazyQuotes = !strict
	r.TrimLeadingSpace = trim
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("Unable to process file: %w", err)
	}
	return rows, nil
}
