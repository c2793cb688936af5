package jinja

import (
	"errors"

	"play/modules/value"
)

// mapFilters apply another filter or a test to each item.
func mapFilters() []Builtin {
	return []Builtin{
		{Name: "map", Params: "*args, **kwargs", Doc: "an attribute of each item, or a filter applied to each", Fn: filterMap},
		{Name: "reject", Params: "*args, **kwargs", Doc: "the items that fail a test", Fn: chooser(false, false)},
		{Name: "rejectattr", Params: "*args, **kwargs", Doc: "the items whose attribute fails a test", Fn: chooser(true, false)},
		{Name: "select", Params: "*args, **kwargs", Doc: "the items that pass a test", Fn: chooser(false, true)},
		{Name: "selectattr", Params: "*args, **kwargs", Doc: "the items whose attribute passes a test", Fn: chooser(true, true)},
	}
}

func filterMap(c *Call) (any, error) {
	apply, err := mapped(c)
	if err != nil {
		return nil, err
	}
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	out := value.NewList(make([]any, len(items))...)
	for i, item := range items {
		if out.Items[i], err = apply(item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mapped returns what map does to each item.
func mapped(c *Call) (func(any) (any, error), error) {
	if len(c.Rest) > 0 {
		name := value.Str(c.Rest[0])
		return func(item any) (any, error) { return c.Env.Filter(c, name, item, c.Rest[1:], c.Kwargs) }, nil
	}
	options := optionsOf(c)
	attribute, ok := options.Get("attribute")
	if !ok {
		return nil, errors.New("map requires a filter argument")
	}
	options.Delete("attribute")
	fallback := option(options, "default", nil)
	if options.Len() > 0 {
		name, _ := options.At(0)
		return nil, errors.New("Unexpected keyword argument " + value.Repr(name))
	}
	return attrGetter(attribute, fallback), nil
}

// chooser makes select and its kin: they test each item, or an attribute of it.
func chooser(byAttribute, keep bool) func(*Call) (any, error) {
	return func(c *Call) (any, error) {
		get := attrGetter(nil, nil)
		args := c.Rest
		if byAttribute {
			if len(args) == 0 {
				return nil, errors.New("Missing parameter for attribute name")
			}
			get = attrGetter(args[0], nil)
			args = args[1:]
		}
		items, err := iterate(c.Value)
		if err != nil {
			return nil, err
		}
		out := value.NewList()
		for _, item := range items {
			v, err := get(item)
			if err != nil {
				return nil, err
			}
			ok, err := passes(c, v, args)
			if err != nil {
				return nil, err
			}
			if ok == keep {
				out.Append(item)
			}
		}
		return out, nil
	}
}

// passes applies the test that args name, or else judges v by its truth.
func passes(c *Call, v any, args []any) (bool, error) {
	if len(args) == 0 {
		if err := wantDefined(v); err != nil {
			return false, err
		}
		return value.Truth(v), nil
	}
	return c.Env.Test(c, value.Str(args[0]), v, args[1:], c.Kwargs)
}
