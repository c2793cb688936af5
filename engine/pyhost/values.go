package pyhost

import (
	"errors"
	"fmt"
	"time"

	"play/engine/jinja"
	"play/modules/value"
)

// pack gives a value the tags that pyhost.py reads.
func pack(v any) (any, error) {
	switch v := v.(type) {
	case *value.List:
		return packed("l", v.Items)
	case value.Tuple:
		return packed("t", v)
	case *value.Dict:
		out := value.NewList("d")
		for k, item := range v.All() {
			key, err := pack(k)
			if err != nil {
				return nil, err
			}
			if item, err = pack(item); err != nil {
				return nil, err
			}
			out.Append(key, item)
		}
		return out, nil
	case *jinja.Template:
		return value.NewList("r", v.Source), nil
	case *jinja.Undefined:
		return value.NewList("u", v.Msg), nil
	}
	if t, aware, ok := jinja.TimeOf(v); ok {
		return value.NewList("m", t.Format(layouts[aware])), nil
	}
	if v, ok := v.(value.JSONValuer); ok {
		plain, err := v.JSONValue()
		if err != nil {
			return nil, err
		}
		return pack(plain)
	}
	return v, nil
}

// layouts are Python's forms of a time, with a zone and without.
var layouts = map[bool]string{true: "2006-01-02T15:04:05.000000-07:00", false: "2006-01-02T15:04:05.000000"}

func packed(tag string, items []any) (any, error) {
	out := value.NewList(tag)
	for _, item := range items {
		p, err := pack(item)
		if err != nil {
			return nil, err
		}
		out.Append(p)
	}
	return out, nil
}

var errTags = errors.New("cannot read what the Python process for plugins sent")

// unpack is the opposite of what pyhost.py does to a value.
func unpack(v any) (any, error) {
	l, ok := v.(*value.List)
	if !ok {
		return v, nil
	}
	if l.Len() == 0 {
		return nil, errTags
	}
	items := l.Items[1:]
	switch l.Items[0] {
	case "d":
		return unpackDict(items)
	case "r":
		return fromFile(textAt(items)), nil
	case "u":
		return &jinja.Undefined{Msg: textAt(items)}, nil
	case "m":
		return unpackTime(textAt(items))
	}
	out := make([]any, len(items))
	for i, item := range items {
		var err error
		if out[i], err = unpack(item); err != nil {
			return nil, err
		}
	}
	if l.Items[0] == "t" {
		return value.Tuple(out), nil
	}
	return value.NewList(out...), nil
}

// fromFile is text of a file that the operator wrote: it may be a template.
type fromFile string

// compiled replaces text of files by what load makes of it.
func compiled(v any, load func(string) (any, error)) (any, error) {
	switch v := v.(type) {
	case fromFile:
		return load(string(v))
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			c, err := compiled(item, load)
			if err != nil {
				return nil, err
			}
			out.Append(c)
		}
		return out, nil
	case *value.Dict:
		out := value.NewDict()
		for k, item := range v.All() {
			c, err := compiled(item, load)
			if err != nil {
				return nil, err
			}
			if name, ok := k.(fromFile); ok {
				k = string(name)
			}
			if err := out.SetKey(k, c); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

func unpackDict(items []any) (any, error) {
	out := value.NewDict()
	for i := 0; i+1 < len(items); i += 2 {
		k, err := unpack(items[i])
		if err != nil {
			return nil, err
		}
		item, err := unpack(items[i+1])
		if err != nil {
			return nil, err
		}
		if err := out.SetKey(k, item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func unpackTime(text string) (any, error) {
	if t, err := time.Parse("2006-01-02T15:04:05.999999", text); err == nil {
		return jinja.DateTime(t), nil
	}
	if t, err := time.Parse("2006-01-02T15:04:05.999999Z07:00", text); err == nil {
		_, offset := t.Zone()
		return jinja.DateTime(t.In(time.FixedZone("", offset))), nil
	}
	return nil, fmt.Errorf("%w: the time %q", errTags, text)
}

func textAt(items []any) string {
	if len(items) == 0 {
		return ""
	}
	return value.Str(items[0])
}
