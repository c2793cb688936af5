package jinja

import (
	"strings"

	"play/modules/value"
)

// The two compatibility rules besides the default one.
const (
	compat218 = "2.18"
	compat219 = "2.19"
)

// nativeText gives the text of several parts its value: a list, dict or
// boolean literal becomes what it says.
func (e *Env) nativeText(s string) any {
	if e.compat == compat219 || !looksLiteral(s) {
		return s
	}
	v, err := parseLiteral(s)
	if err != nil {
		return s
	}
	return v
}

func looksLiteral(s string) bool {
	return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") || s == "True" || s == "False"
}

// nativeValue gives the value of a single expression its type. asText says
// that it ends with a filter whose text 2.18 leaves alone.
func (e *Env) nativeValue(v any, asText bool) (any, error) {
	in := newInspection()
	if err := in.check(v, 0); err != nil {
		return nil, err
	}
	if u, ok := v.(*Undefined); ok && u.lenient {
		return "", nil
	}
	if in.objects {
		v = plainData(v, 0)
	}
	if e.compat != compat218 {
		return v, nil
	}
	if v == nil {
		return "", nil
	}
	if _, ok := v.(*omit); ok {
		return v, nil
	}
	s, err := printed(v, e.maxOutput)
	if asText {
		return s, err
	}
	return e.nativeText(s), err
}

// keepsText names the filters whose text stays text in 2.18, though it may
// look like a list.
func keepsText(filter string) bool {
	switch filter[strings.LastIndexByte(filter, '.')+1:] {
	case "string", "to_json", "to_nice_json", "to_yaml", "to_nice_yaml", "ppretty", "json":
		return true
	}
	return false
}

// printed is how a value shows in the text of a template; a text that is
// longer than limit bytes is an error.
func printed(v any, limit int) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case nil:
		return "", nil
	case *Undefined:
		return "", defined(v)
	case value.Bytes:
		return string(v), nil
	case int, bool, float64:
		return value.Str(v), nil
	}
	if err := checkDefined(v, 0); err != nil {
		return "", err
	}
	s, ok := value.StrWithin(v, limit)
	if !ok {
		return "", errTooLarge
	}
	return s, nil
}

// plainData turns what is no data into data: a mapping into a dict of what it
// has, bytes and other objects into their text. Omit stays.
func plainData(v any, depth int) any {
	if depth > maxResolveDepth {
		return v
	}
	switch v := v.(type) {
	case *omit:
		return v
	case value.Bytes:
		return string(v)
	case *value.List:
		return &value.List{Items: plainItems(v.Items, depth)}
	case value.Tuple:
		return value.Tuple(plainItems(v, depth))
	case *value.Dict:
		d := v.Clone()
		for i := range d.Len() {
			_, item := d.At(i)
			d.SetAt(i, plainData(item, depth+1))
		}
		return d
	case value.Mapping:
		d := value.NewDict()
		for _, k := range v.Keys() {
			if item, ok, err := v.Get(k); ok && err == nil && !isUndefined(item) {
				_ = d.SetKey(k, plainData(item, depth+1)) // a mapping's keys are hashable
			}
		}
		return d
	case value.Object:
		return value.Str(v)
	}
	return v
}

func plainItems(items []any, depth int) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = plainData(item, depth+1)
	}
	return out
}
