package jinja

import (
	"errors"
	"fmt"
	"strings"

	"play/modules/value"
)

// jsonFilters read and write JSON.
func jsonFilters() []Builtin {
	return []Builtin{
		{Name: "from_json", Doc: "read JSON", Fn: filterFromJSON},
		{Name: "to_json", Params: "**options", Doc: "write JSON on one line", Fn: filterToJSON},
		{Name: "to_nice_json", Params: "indent=4, sort_keys=True, **options", Doc: "write JSON on many lines, sorted", Fn: filterToNiceJSON},
		{Name: "tojson", Params: "indent=None", Doc: "write JSON that is safe inside HTML", Fn: filterTojson},
	}
}

func filterFromJSON(c *Call) (any, error) {
	s, ok := c.Value.(string)
	if !ok {
		if b, isBytes := c.Value.(value.Bytes); isBytes {
			return value.DecodeJSON([]byte(b))
		}
		return nil, fmt.Errorf("the JSON object must be str, bytes or bytearray, not %s", value.TypeName(c.Value))
	}
	return value.DecodeJSON([]byte(s))
}

func filterToJSON(c *Call) (any, error) {
	o := value.JSONOptions{EnsureASCII: true}
	if err := jsonOptions(&o, c.Kwargs); err != nil {
		return nil, err
	}
	return encodeJSON(c.Value, o)
}

func filterToNiceJSON(c *Call) (any, error) {
	o := value.JSONOptions{EnsureASCII: true, SortKeys: value.Truth(c.Args[1]), ItemSep: ",", KeySep: ": "}
	if err := jsonIndent(&o, c.Args[0]); err != nil {
		return nil, err
	}
	if err := jsonOptions(&o, c.Kwargs); err != nil {
		return nil, err
	}
	return encodeJSON(c.Value, o)
}

func encodeJSON(v any, o value.JSONOptions) (any, error) {
	if err := checkDefined(v, 0); err != nil {
		return nil, err
	}
	s, err := value.EncodeJSON(v, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// jsonOptions reads the keyword arguments of json.dumps.
func jsonOptions(o *value.JSONOptions, options *value.Dict) error {
	for k, v := range options.All() {
		var err error
		switch k {
		case "indent":
			err = jsonIndent(o, v)
		case "sort_keys":
			o.SortKeys = value.Truth(v)
		case "ensure_ascii":
			o.EnsureASCII = value.Truth(v)
		case "separators":
			err = jsonSeparators(o, v)
		case "vault_to_text", "preprocess_unsafe", "skipkeys", "check_circular", "allow_nan":
		default:
			err = fmt.Errorf("JSONEncoder.__init__() got an unexpected keyword argument '%s'", value.Str(k))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func jsonIndent(o *value.JSONOptions, v any) error {
	o.Multiline = v != nil
	switch v := v.(type) {
	case nil:
		o.Indent = ""
	case string:
		o.Indent = v
	default:
		n, err := wantInt(v)
		if err != nil {
			return err
		}
		if n > 1000 {
			return errors.New("cannot indent by more than 1000 blanks")
		}
		o.Indent = strings.Repeat(" ", max(n, 0))
	}
	return nil
}

func jsonSeparators(o *value.JSONOptions, v any) error {
	items, _ := value.Items(v)
	if len(items) != 2 {
		return errors.New("separators must be a pair of texts")
	}
	o.ItemSep, o.KeySep = value.Str(items[0]), value.Str(items[1])
	return nil
}

func filterTojson(c *Call) (any, error) {
	o := value.JSONOptions{EnsureASCII: true, SortKeys: true}
	if err := jsonIndent(&o, c.Args[0]); err != nil {
		return nil, err
	}
	s, err := value.EncodeJSON(c.Value, o)
	if err != nil {
		return nil, err
	}
	return strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`).Replace(s), nil
}
