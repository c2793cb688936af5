package jinja

import (
	"strings"

	"play/modules/value"
)

// maxResolveDepth bounds containers inside containers.
const maxResolveDepth = 1000

// Resolve evaluates what still waits in v, at any depth. It returns v itself
// when nothing does, and a new container otherwise. Keys of dicts stay as they
// are.
func (c *Context) Resolve(v any) (any, error) {
	return c.frame().resolve(v, 0)
}

func (f *frame) resolve(v any, depth int) (any, error) {
	if depth > maxResolveDepth {
		return nil, errorText("a variable is nested too deeply")
	}
	switch x := v.(type) {
	case *Template:
		return f.strict(x)
	case Binder:
		return x.Bind(f.ctx), nil
	case Deferred:
		return x.Value(f.ctx)
	case *value.List:
		if x.Lazy {
			items, err := f.resolveItems(x.Items, depth)
			return &value.List{Items: items}, err
		}
	case *value.Dict:
		if x.Lazy {
			return f.resolveDict(x, depth)
		}
	case value.Tuple:
		items, err := f.resolveItems(x, depth)
		return value.Tuple(items), err
	}
	return v, nil
}

// strict evaluates a waiting value; an undefined one is an error.
func (f *frame) strict(t *Template) (any, error) {
	v, err := f.variable(t, t.Source)
	if err != nil {
		return nil, err
	}
	if u, ok := v.(*Undefined); ok {
		// The text itself is no variable: only those inside it are named.
		return nil, &UndefinedError{Msg: strings.TrimPrefix(u.Msg, t.Source+": "), Pos: u.Pos, Near: u.near()}
	}
	return v, nil
}

func (f *frame) resolveItems(items []any, depth int) ([]any, error) {
	out := make([]any, len(items))
	for i, item := range items {
		v, err := f.resolve(item, depth+1)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (f *frame) resolveDict(d *value.Dict, depth int) (any, error) {
	out := value.NewDict()
	for k, item := range d.All() {
		v, err := f.resolve(item, depth+1)
		if err != nil {
			return nil, err
		}
		if err := out.SetKey(k, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Lookup returns the variable of that name, fully evaluated; ok is false when
// there is none. The vars lookup is made of it.
func (c *Context) Lookup(name string) (v any, ok bool, err error) {
	raw, ok := c.raw(name)
	if !ok {
		return nil, false, nil
	}
	f := c.frame()
	if v, err = f.force(raw, name); err == nil {
		v, err = f.resolve(v, 0)
	}
	return v, true, err
}
