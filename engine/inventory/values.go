package inventory

import (
	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

// compiler turns the strings of INI values and of extra vars into templates.
// A template that cannot be compiled fails when it is used, as it may never be.
type compiler struct{ env *jinja.Env }

// value compiles every string in v that holds Jinja, in place for containers;
// lazy says that there was one.
func (c compiler) value(v any, pos source.Pos) (out any, lazy bool) {
	switch v := v.(type) {
	case string:
		return c.text(v, pos)
	case *value.List:
		for i, item := range v.Items {
			item, l := c.value(item, pos)
			v.Items[i] = item
			v.Lazy = v.Lazy || l
		}
		return v, v.Lazy
	case value.Tuple:
		l := value.NewList(v...)
		if _, lazy := c.value(l, pos); lazy {
			return l, true // a tuple cannot wait to be evaluated
		}
		return v, false
	case *value.Dict:
		for i := range v.Len() {
			_, item := v.At(i)
			item, l := c.value(item, pos)
			v.SetAt(i, item)
			v.Lazy = v.Lazy || l
		}
		return v, v.Lazy
	}
	return v, false
}

func (c compiler) text(s string, pos source.Pos) (any, bool) {
	if c.env == nil || !jinja.IsTemplate(s) {
		return s, false
	}
	v, err := c.env.Load(s, pos)
	if err != nil {
		return s, false // does not happen: Load leaves a template's error to its use
	}
	_, plain := v.(string)
	return v, !plain
}

// set stores a value under a name and marks the dict when it is lazy.
func (c compiler) set(d *value.Dict, name string, v any, pos source.Pos) {
	v, lazy := c.value(v, pos)
	d.Set(name, v)
	d.Lazy = d.Lazy || lazy
}
