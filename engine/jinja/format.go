package jinja

import (
	"strings"

	"play/modules/value"
)

func strFormatMethods() []method {
	return []method{
		{name: "format", params: "*args, **kwargs", run: strFormat},
		{name: "format_map", params: "mapping", run: strFormatMap},
	}
}

func strFormat(c *Call) (any, error) {
	w := &formatter{args: c.Rest, kwargs: c.Kwargs}
	err := w.write(c.Value.(string), 2)
	return w.b.String(), err
}

func strFormatMap(c *Call) (any, error) {
	d, err := readDict(c.Args[0])
	if err != nil {
		return nil, err
	}
	w := &formatter{kwargs: d, mapOnly: true}
	err = w.write(c.Value.(string), 2)
	return w.b.String(), err
}

// formatter is one run of str.format.
type formatter struct {
	b       strings.Builder
	args    []any
	kwargs  *value.Dict
	mapOnly bool
	auto    int  // the next automatic field number
	manual  bool // a field was numbered by hand
}

// write formats a text; depth bounds the fields inside format specs.
func (w *formatter) write(s string, depth int) error {
	if depth < 0 {
		return errorText("Max string recursion exceeded")
	}
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			w.b.WriteString(s)
			return nil
		}
		w.b.WriteString(s[:i])
		if i+1 < len(s) && s[i+1] == s[i] {
			w.b.WriteByte(s[i])
			s = s[i+2:]
			continue
		}
		if s[i] == '}' {
			return errorText("Single '}' encountered in format string")
		}
		end := fieldEnd(s[i+1:])
		if end < 0 {
			if i+1 == len(s) {
				return errorText("Single '{' encountered in format string")
			}
			return errorText("expected '}' before end of string")
		}
		if err := w.field(s[i+1:i+1+end], depth); err != nil {
			return err
		}
		if err := checkText(w.b.Len()); err != nil {
			return err
		}
		s = s[i+2+end:]
	}
	return nil
}

// fieldEnd finds the brace that closes a field.
func fieldEnd(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// field writes one "{name!conversion:spec}".
func (w *formatter) field(f string, depth int) error {
	name, spec := f, ""
	if i := strings.IndexByte(f, ':'); i >= 0 && !inBrackets(f, i) {
		name, spec = f[:i], f[i+1:]
	}
	conv := byte(0)
	if i := strings.IndexByte(name, '!'); i >= 0 && !inBrackets(name, i) {
		if len(name) != i+2 {
			return errorText("expected ':' after conversion specifier")
		}
		name, conv = name[:i], name[i+1]
	}
	v, err := w.lookup(name)
	if err != nil {
		return err
	}
	if v, err = convert(v, conv); err != nil {
		return err
	}
	if strings.Contains(spec, "{") || strings.Contains(spec, "}") {
		if spec, err = w.nested(spec, depth); err != nil {
			return err
		}
	}
	s, err := formatValue(v, spec)
	w.b.WriteString(s)
	return err
}

func inBrackets(s string, i int) bool {
	open := strings.IndexByte(s, '[')
	return open >= 0 && open < i && strings.IndexByte(s[open:], ']')+open > i
}

// nested formats the fields inside a format spec.
func (w *formatter) nested(spec string, depth int) (string, error) {
	inner := &formatter{args: w.args, kwargs: w.kwargs, mapOnly: w.mapOnly, auto: w.auto, manual: w.manual}
	err := inner.write(spec, depth-1)
	w.auto, w.manual = inner.auto, inner.manual
	return inner.b.String(), err
}

func convert(v any, conv byte) (any, error) {
	switch conv {
	case 0:
		return v, nil
	case 's':
		return value.Str(v), nil
	case 'r':
		return value.Repr(v), nil
	case 'a':
		return asciiRepr(v), nil
	}
	return nil, errorText("Unknown conversion specifier " + string(conv))
}

func asciiRepr(v any) string {
	var b strings.Builder
	for _, r := range value.Repr(v) {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			b.WriteString(value.EscapeRune(r))
		}
	}
	return b.String()
}

// lookup finds a field by its name: "0", "name", "0.attr", "name[key]".
func (w *formatter) lookup(name string) (any, error) {
	i := strings.IndexAny(name, ".[")
	first, path := name, ""
	if i >= 0 {
		first, path = name[:i], name[i:]
	}
	v, err := w.first(first)
	for err == nil && path != "" {
		v, path, err = w.follow(v, path)
	}
	if err == nil {
		err = defined(v)
	}
	return v, err
}

func (w *formatter) first(name string) (any, error) {
	if name == "" {
		if w.manual {
			return nil, errorText("cannot switch from manual field specification to automatic field numbering")
		}
		w.auto++
		return w.arg(w.auto - 1)
	}
	n, isInt := value.ParseInt(name, 10)
	if i, ok := n.(int); isInt && ok && name[0] != '-' && name[0] != '+' {
		if w.auto > 0 {
			return nil, errorText("cannot switch from automatic field numbering to manual field specification")
		}
		w.manual = true
		return w.arg(i)
	}
	v, ok := w.kwargs.Get(name)
	if !ok {
		return nil, errorText(value.Repr(name))
	}
	return v, nil
}

func (w *formatter) arg(i int) (any, error) {
	if w.mapOnly {
		return nil, errorText("Format string contains positional fields")
	}
	if i >= len(w.args) {
		return nil, errorText("Replacement index " + itoa(i) + " out of range for positional args tuple")
	}
	return w.args[i], nil
}

// formatAttr is Python's v.name: attributes only, no items.
func formatAttr(v any, name string) (any, error) {
	if a, ok := v.(Attributed); ok {
		if x, ok := a.Attr(name); ok {
			return x, nil
		}
	}
	if m := findMethod(v, name); m != nil {
		return &boundMethod{self: v, fn: m}, nil
	}
	return nil, errorText("'" + value.TypeName(v) + "' object has no attribute '" + name + "'")
}

// follow takes one ".attr" or "[key]" off a path.
func (w *formatter) follow(v any, path string) (any, string, error) {
	if path[0] == '.' {
		rest := path[1:]
		i := strings.IndexAny(rest, ".[")
		if i < 0 {
			i = len(rest)
		}
		if rest[:i] == "" {
			return nil, "", errorText("Empty attribute in format string")
		}
		v, err := formatAttr(v, rest[:i])
		return v, rest[i:], err
	}
	if path[0] != '[' {
		return nil, "", errorText("Only '.' or '[' may follow ']' in format field specifier")
	}
	end := strings.IndexByte(path, ']')
	if end < 0 {
		return nil, "", errorText("Missing ']' in format string")
	}
	var key any = path[1:end]
	if n, ok := value.ParseInt(path[1:end], 10); ok && path[1] != '-' && path[1] != '+' {
		key = n
	}
	v, err := getItem(v, key)
	return v, path[end+1:], err
}
