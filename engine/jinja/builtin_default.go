package jinja

import (
	"errors"
	"fmt"
	"strings"

	"play/modules/value"
)

// defaultFilters choose among values or name what a value is.
func defaultFilters() []Builtin {
	return []Builtin{
		{Name: "attr", Params: "name", Doc: "an attribute, never an item", Fn: filterAttr},
		{Name: "bool", Doc: "true for yes, on, 1 and true in any case", Fn: filterBool},
		{Name: "d", Params: "default_value='', boolean=False", Doc: "another value if it is undefined", TakesUndefined: true, Fn: filterDefault},
		{Name: "default", Params: "default_value='', boolean=False", Doc: "another value if it is undefined", TakesUndefined: true, Fn: filterDefault},
		{Name: "mandatory", Params: "msg=None", Doc: "an error if it is undefined", TakesUndefined: true, Fn: filterMandatory},
		{Name: "pprint", Doc: "the value as a person likes to read it", Fn: filterPprint},
		{Name: "ternary", Params: "true_val, false_val, none_val=None", Doc: "one of two values by the truth of a third", TakesUndefined: true, Fn: filterTernary},
		{Name: "type_debug", Doc: "the name of the value's type", TakesUndefined: true, Fn: filterTypeDebug},
	}
}

func filterAttr(c *Call) (any, error) {
	name := value.Str(c.Args[0])
	if a, ok := c.Value.(Attributed); ok {
		if v, ok := a.Attr(name); ok {
			return v, nil
		}
	}
	if findMethod(c.Value, name) == nil {
		return undefinedAttr(c.Value, name), nil
	}
	return getAttr(c.Value, name)
}

func filterBool(c *Call) (any, error) {
	switch v := c.Value.(type) {
	case nil, bool:
		return v, nil
	case string:
		switch strings.ToLower(v) {
		case "yes", "on", "1", "true":
			return true, nil
		}
		return false, nil
	}
	return value.Equal(c.Value, 1), nil
}

func filterDefault(c *Call) (any, error) {
	if isUndefined(c.Value) || value.Truth(c.Args[1]) && !value.Truth(c.Value) {
		return c.Args[0], nil
	}
	return c.Value, nil
}

func filterMandatory(c *Call) (any, error) {
	u, ok := c.Value.(*Undefined)
	switch {
	case !ok:
		return c.Value, nil
	case c.Args[0] != nil:
		return nil, errors.New(value.Str(c.Args[0]))
	case u.Name != "":
		return nil, fmt.Errorf("Mandatory variable '%s'  not defined.", u.Name)
	}
	return nil, errors.New("Mandatory variable not defined.")
}

func filterTernary(c *Call) (any, error) {
	if err := wantDefined(c.Value); err != nil {
		return nil, err
	}
	switch {
	case c.Value == nil && c.Args[2] != nil:
		return c.Args[2], nil
	case value.Truth(c.Value):
		return c.Args[0], nil
	}
	return c.Args[1], nil
}

func filterTypeDebug(c *Call) (any, error) { return value.TypeName(c.Value), nil }
