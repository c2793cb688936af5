package jinja

import (
	"errors"
	"fmt"
	"strings"

	"play/modules/value"
)

// globalFunctions are the functions that templates call by name.
func globalFunctions() []Builtin {
	return []Builtin{
		{Name: "cycler", Params: "*items", Doc: "an object that hands out items in turn", Fn: globalCycler},
		{Name: "dict", Params: "*args, **kwargs", Doc: "a dict of keyword arguments or pairs", Fn: globalDict},
		{Name: "joiner", Params: "sep=', '", Doc: "an object that is empty at first and then a separator", Fn: globalJoiner},
		{Name: "lipsum", Params: "n=5, html=True, min=20, max=100", Doc: "meaningless text", Fn: globalLipsum},
		{Name: "lookup", Params: "plugin, *terms, **options", Doc: "data from a lookup, items joined by commas", Fn: globalLookup},
		{Name: "namespace", Params: "*args, **kwargs", Doc: "an object whose attributes any scope can set", Fn: globalNamespace},
		{Name: "now", Params: "utc=False, fmt=None", Doc: "the current time", Fn: globalNow},
		{Name: "q", Params: "plugin, *terms, **options", Doc: "data from a lookup, as a list", Fn: globalQuery},
		{Name: "query", Params: "plugin, *terms, **options", Doc: "data from a lookup, as a list", Fn: globalQuery},
		{Name: "range", Params: "*args", Doc: "a list of numbers", Fn: globalRange},
		{Name: "undef", Params: "hint=None", Doc: "an undefined value with a hint", Fn: globalUndef},
	}
}

func globalRange(c *Call) (any, error) {
	n := [3]int{0, 0, 1}
	switch len(c.Rest) {
	case 0:
		return nil, errors.New("range expected at least 1 argument, got 0")
	case 1, 2, 3:
	default:
		return nil, fmt.Errorf("range expected at most 3 arguments, got %d", len(c.Rest))
	}
	for i, arg := range c.Rest {
		v, err := wantInt(arg)
		if err != nil {
			return nil, err
		}
		n[i] = v
	}
	if len(c.Rest) == 1 {
		n[0], n[1] = 0, n[0]
	}
	return numbers(n[0], n[1], n[2])
}

// numbers lists start, start+step… before stop.
func numbers(start, stop, step int) (*value.List, error) {
	count := 0
	switch {
	case step == 0:
		return nil, errors.New("range() arg 3 must not be zero")
	case step > 0 && stop > start:
		count = (stop - start - 1) / step
	case step < 0 && stop < start:
		count = (start - stop - 1) / -step
	default:
		return value.NewList(), nil
	}
	if count < 0 || count >= maxBuiltinItems {
		return nil, errTooMany
	}
	out := value.NewList(make([]any, count+1)...)
	for i := range out.Items {
		out.Items[i] = start + i*step
	}
	return out, nil
}

func globalDict(c *Call) (any, error) {
	if len(c.Rest) > 1 {
		return nil, fmt.Errorf("dict expected at most 1 argument, got %d", len(c.Rest))
	}
	d := value.NewDict()
	for _, arg := range c.Rest {
		if err := fillDict(d, arg); err != nil {
			return nil, err
		}
	}
	d.Update(c.Kwargs)
	return d, nil
}

// fillDict adds the entries of a mapping or of an iterable of pairs.
func fillDict(d *value.Dict, v any) error {
	if other, ok := asDict(v); ok {
		d.Update(other)
		return nil
	}
	items, err := iterate(v)
	if err != nil {
		return err
	}
	for i, item := range items {
		pair, ok := value.Items(item)
		if !ok {
			return fmt.Errorf("cannot convert dictionary update sequence element #%d to a sequence", i)
		}
		if len(pair) != 2 {
			return fmt.Errorf("dictionary update sequence element #%d has length %d; 2 is required", i, len(pair))
		}
		if err := d.SetKey(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func globalNamespace(c *Call) (any, error) {
	d, err := globalDict(c)
	if err != nil {
		return nil, err
	}
	return &Namespace{Attrs: d.(*value.Dict)}, nil
}

func globalUndef(c *Call) (any, error) {
	hint := "Mandatory variable has not been overridden"
	if c.Args[0] != nil {
		hint = value.Str(c.Args[0])
	}
	return &Undefined{Msg: hint}, nil
}

// cycler hands out its items in turn.
type cycler struct {
	items []any
	at    int
}

func globalCycler(c *Call) (any, error) {
	if len(c.Rest) == 0 {
		return nil, errors.New("at least one item has to be provided")
	}
	return &cycler{items: c.Rest}, nil
}

// TypeName is the type's name in Jinja2.
func (*cycler) TypeName() string { return "Cycler" }

// Repr shows the cycler.
func (*cycler) Repr() string { return "<Cycler>" }

// Attr returns current and the methods next and reset.
func (y *cycler) Attr(name string) (any, bool) {
	switch name {
	case "current":
		return y.items[y.at], true
	case "next":
		return function(func() any {
			item := y.items[y.at]
			y.at = (y.at + 1) % len(y.items)
			return item
		}), true
	case "reset":
		return function(func() any { y.at = 0; return nil }), true
	}
	return nil, false
}

// function is a callable that takes no arguments.
type function func() any

// Call calls it.
func (f function) Call(_ *Context, args []any, kwargs *value.Dict) (any, error) {
	if len(args) > 0 || kwargs.Len() > 0 {
		return nil, fmt.Errorf("function takes no arguments (%d given)", len(args)+kwargs.Len())
	}
	return f(), nil
}

// TypeName is Python's name for such a value.
func (f function) TypeName() string { return "method" }

// Repr shows the function.
func (f function) Repr() string { return "<bound method>" }

func globalJoiner(c *Call) (any, error) {
	used := false
	return function(func() any {
		if !used {
			used = true
			return ""
		}
		return c.Args[0]
	}), nil
}

func globalLipsum(c *Call) (any, error) {
	var n [3]int
	for i, arg := range []any{c.Args[0], c.Args[2], c.Args[3]} {
		v, err := wantInt(arg)
		if err != nil {
			return nil, err
		}
		n[i] = v
	}
	if n[2] <= n[1] {
		return nil, fmt.Errorf("empty range for randrange() (%d, %d, %d)", n[1], n[2], n[2]-n[1])
	}
	if err := checkText(max(n[0], 0) * n[2] * 12); err != nil || n[0] > 10000 || n[2] > 100000 {
		return nil, errors.New("cannot make that much text")
	}
	r := newRandom(nil)
	var paragraphs []string
	for range n[0] {
		paragraphs = append(paragraphs, loremText(r, n[1]+r.below(n[2]-n[1])))
	}
	if !value.Truth(c.Args[1]) {
		return strings.Join(paragraphs, "\n\n"), nil
	}
	for i, p := range paragraphs {
		paragraphs[i] = "<p>" + p + "</p>"
	}
	return strings.Join(paragraphs, "\n"), nil
}

// loremText strings words together to one paragraph of sentences.
func loremText(r *pyRandom, words int) string {
	pool := strings.Fields("lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua")
	var b strings.Builder
	for i := range words {
		w := pool[r.below(len(pool))]
		switch {
		case i == 0:
		case i%9 == 0:
			b.WriteString(". ")
		case i%5 == 0:
			b.WriteString(", ")
		default:
			b.WriteString(" ")
		}
		if i%9 == 0 {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		b.WriteString(w)
	}
	b.WriteString(".")
	return b.String()
}
