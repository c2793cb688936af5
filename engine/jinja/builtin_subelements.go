package jinja

import (
	"errors"
	"fmt"
	"strings"

	"play/modules/value"
)

func filterSubelements(c *Call) (any, error) {
	var rows []any
	switch v := c.Value.(type) {
	case *value.Dict:
		rows = v.Values()
	case *value.List:
		rows = v.Items
	default:
		return nil, errors.New("obj must be a list of dicts or a nested dict")
	}
	path, err := subelementPath(c.Args[0])
	if err != nil {
		return nil, err
	}
	out := value.NewList()
	for _, row := range rows {
		found, err := subelementList(row, path, value.Truth(c.Args[1]))
		if err != nil {
			return nil, err
		}
		for _, item := range found {
			out.Append(value.Tuple{row, item})
		}
	}
	return out, nil
}

func subelementPath(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return strings.Split(v, "."), nil
	case *value.List:
		var path []string
		for _, item := range v.Items {
			path = append(path, value.Str(item))
		}
		return path, nil
	}
	return nil, errors.New("subelements must be a list or a string")
}

// subelementList follows the path from a row to the list at its end.
func subelementList(row any, path []string, skipMissing bool) ([]any, error) {
	v := row
	for i, key := range path {
		d, ok := asDict(v)
		if !ok {
			return nil, fmt.Errorf("the key %s should point to a dictionary, got '%s'", key, value.Str(v))
		}
		next, ok := d.Get(key)
		if !ok {
			if skipMissing {
				return nil, nil
			}
			return nil, fmt.Errorf("could not find %s key in iterated item %s", value.Repr(key), value.Repr(v))
		}
		list, isList := next.(*value.List)
		if i == len(path)-1 {
			if !isList {
				return nil, fmt.Errorf("the key %s should point to a list, got %s", key, value.Repr(next))
			}
			return list.Items, nil
		}
		if !isMapping(next) {
			return nil, fmt.Errorf("the key %s should point to a dictionary, got '%s'", key, value.Str(next))
		}
		v = next
	}
	return nil, nil
}
