package jinja

import (
	"errors"
	"fmt"
	"strings"

	"play/modules/pyre"
	"play/modules/value"
)

// keyFilters are ansible.utils' filters that look for keys at every depth.
func keyFilters() []Builtin {
	const params = "target, matching_parameter='equality'"
	return []Builtin{
		{Name: "get_path", Params: "path, wantlist=False", Doc: "the value at a path such as a.b[0]['c']", Fn: filterGetPath},
		{Name: "index_of", Params: "test, value=None, key=None, fail_on_missing=False, wantlist=False", Doc: "the positions of the items that pass a test", Fn: filterIndexOf},
		{Name: "keep_keys", Params: params, Doc: "only the keys that match, at every depth", Fn: func(c *Call) (any, error) { return keyFilter(c, keepKeys) }},
		{Name: "remove_keys", Params: params, Doc: "without the keys that match, at every depth", Fn: func(c *Call) (any, error) { return keyFilter(c, removeKeys) }},
		{Name: "replace_keys", Params: params, Doc: "with other names for the keys that match", Fn: filterReplaceKeys},
		{Name: "to_paths", Params: "prepend=None, wantlist=False", Doc: "every value with its path", Fn: filterToPaths},
	}
}

// keyMatcher reports whether a key is meant.
type keyMatcher func(key string) (bool, error)

// matcherFor makes a matcher of one target text.
func matcherFor(target, how string) (keyMatcher, error) {
	switch how {
	case "equality":
		return func(key string) (bool, error) { return key == target, nil }, nil
	case "starts_with":
		return func(key string) (bool, error) { return strings.HasPrefix(key, target), nil }, nil
	case "ends_with":
		return func(key string) (bool, error) { return strings.HasSuffix(key, target), nil }, nil
	case "regex":
		re, err := pyre.Compile(target, 0)
		if err != nil {
			return nil, err
		}
		return func(key string) (bool, error) {
			m, err := re.Match(key)
			return m != nil, err
		}, nil
	}
	return nil, fmt.Errorf("value of matching_parameter must be one of: starts_with, ends_with, equality, regex, got: %s", how)
}

func keyFilter(c *Call, apply func(v any, match keyMatcher) (any, error)) (any, error) {
	targets := []any{c.Args[0]}
	if isSequence(c.Args[0]) {
		targets, _ = value.Items(c.Args[0])
	}
	var matchers []keyMatcher
	for _, target := range targets {
		m, err := matcherFor(value.Str(target), value.Str(c.Args[1]))
		if err != nil {
			return nil, err
		}
		matchers = append(matchers, m)
	}
	return apply(c.Value, func(key string) (bool, error) {
		for _, m := range matchers {
			if ok, err := m(key); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	})
}

func removeKeys(v any, match keyMatcher) (any, error) {
	switch v := v.(type) {
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			item, err := removeKeys(item, match)
			if err != nil {
				return nil, err
			}
			out.Append(item)
		}
		return out, nil
	case *value.Dict:
		out := value.NewDict()
		for k, item := range v.All() {
			hit, err := match(value.Str(k))
			if err != nil {
				return nil, err
			}
			if hit {
				continue
			}
			if item, err = removeKeys(item, match); err != nil {
				return nil, err
			}
			_ = out.SetKey(k, item) // k is a key already
		}
		return out, nil
	}
	return v, nil
}

// keepKeys keeps the entries that match, and the dicts and lists on the way.
func keepKeys(v any, match keyMatcher) (any, error) {
	switch v := v.(type) {
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			kept, err := keepKeys(item, match)
			if err != nil {
				return nil, err
			}
			if n, _ := value.Len(kept); n > 0 && !isString(kept) {
				out.Append(kept)
			}
		}
		return out, nil
	case *value.Dict:
		out := value.NewDict()
		for k, item := range v.All() {
			hit, err := match(value.Str(k))
			if err != nil {
				return nil, err
			}
			if !hit {
				if !isMapping(item) && !isSequence(item) {
					continue
				}
				if item, err = keepKeys(item, match); err != nil {
					return nil, err
				}
				if n, _ := value.Len(item); n == 0 {
					continue
				}
			}
			_ = out.SetKey(k, item) // k is a key already
		}
		return out, nil
	}
	return v, nil
}

func filterReplaceKeys(c *Call) (any, error) {
	targets, err := iterate(c.Args[0])
	if err != nil {
		return nil, err
	}
	var names []func(string) (string, bool, error)
	for _, target := range targets {
		d, _ := asDict(target)
		before, bok := d.Get("before")
		after, aok := d.Get("after")
		if !bok || !aok {
			return nil, errors.New("replace_keys needs a list of dicts with before and after")
		}
		m, err := matcherFor(value.Str(before), value.Str(c.Args[1]))
		if err != nil {
			return nil, err
		}
		names = append(names, func(key string) (string, bool, error) {
			ok, err := m(key)
			return value.Str(after), ok, err
		})
	}
	return replaceKeys(c.Value, names)
}

func replaceKeys(v any, names []func(string) (string, bool, error)) (any, error) {
	switch v := v.(type) {
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			item, err := replaceKeys(item, names)
			if err != nil {
				return nil, err
			}
			out.Append(item)
		}
		return out, nil
	case *value.Dict:
		out, renamed := value.NewDict(), value.NewDict()
		for k, item := range v.All() {
			to := out
			for _, name := range names {
				after, ok, err := name(value.Str(k))
				if err != nil {
					return nil, err
				}
				if ok {
					k, to = after, renamed
				}
			}
			item, err := replaceKeys(item, names)
			if err != nil {
				return nil, err
			}
			_ = to.SetKey(k, item) // k is a key
		}
		out.Update(renamed) // renamed entries stand at the end
		return out, nil
	}
	return v, nil
}

func filterToPaths(c *Call) (any, error) {
	out := value.NewDict()
	prefix := ""
	if c.Args[0] != nil {
		prefix = value.Str(c.Args[0])
	}
	addPaths(out, prefix, c.Value)
	if value.Truth(c.Args[1]) {
		return value.NewList(out), nil
	}
	return out, nil
}

func addPaths(out *value.Dict, path string, v any) {
	switch v := v.(type) {
	case *value.Dict:
		for k, item := range v.All() {
			s, ok := k.(string)
			switch {
			case !ok:
				s = path + "[" + value.Str(k) + "]"
			case path == "":
			case !isIdentifier(s):
				s = path + "['" + s + "']"
			default:
				s = path + "." + s
			}
			addPaths(out, s, item)
		}
		if v.Len() == 0 {
			out.Set(path, v)
		}
	case *value.List:
		for i, item := range v.Items {
			addPaths(out, fmt.Sprintf("%s[%d]", path, i), item)
		}
		if len(v.Items) == 0 {
			out.Set(path, v)
		}
	default:
		out.Set(path, v)
	}
}

// filterGetPath walks a path that was written as an expression; it is taken
// apart here and never compiled, since it is data.
func filterGetPath(c *Call) (any, error) {
	keys, err := pathKeys(value.Str(c.Args[0]))
	if err != nil {
		return nil, err
	}
	v := c.Value
	for _, k := range keys {
		item, err := getItem(v, k)
		if err == nil {
			err = wantDefined(item)
		}
		if err != nil {
			return nil, err
		}
		v = item
	}
	if value.Truth(c.Args[1]) {
		return value.NewList(v), nil
	}
	return v, nil
}

// pathKeys reads a.b[0]['c'] as its keys.
func pathKeys(path string) ([]any, error) {
	var keys []any
	for rest := path; rest != ""; {
		switch {
		case rest[0] == '.':
			rest = rest[1:]
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, fmt.Errorf("cannot read the path %q: a bracket is not closed", path)
			}
			inner := strings.TrimSpace(rest[1:end])
			if n, ok := value.ParseInt(inner, 10); ok {
				keys = append(keys, n)
			} else {
				keys = append(keys, strings.Trim(inner, `'"`))
			}
			rest = rest[end+1:]
		default:
			n := strings.IndexAny(rest, ".[")
			if n < 0 {
				n = len(rest)
			}
			if number, ok := value.ParseInt(rest[:n], 10); ok {
				keys = append(keys, number)
			} else {
				keys = append(keys, rest[:n])
			}
			rest = rest[n:]
		}
	}
	return keys, nil
}

func filterIndexOf(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil || isString(c.Value) || isMapping(c.Value) {
		return nil, fmt.Errorf("Error when using plugin 'index_of': a list is required, but was passed a '%s'", value.TypeName(c.Value))
	}
	get := attrGetter(c.Args[2], nil)
	found := value.NewList()
	for i, item := range items {
		v, err := get(item)
		if err != nil {
			return nil, err
		}
		if isUndefined(v) {
			if value.Truth(c.Args[3]) {
				return nil, fmt.Errorf("Error when using plugin 'index_of': '%s' was not found in '%s' at [%d]", value.Str(c.Args[2]), value.Str(item), i)
			}
			continue
		}
		ok, err := indexTest(c, v)
		if err != nil {
			return nil, err
		}
		if ok {
			found.Append(i)
		}
	}
	if found.Len() == 1 && !value.Truth(c.Args[4]) {
		return found.Items[0], nil
	}
	return found, nil
}

func indexTest(c *Call, v any) (bool, error) {
	name := value.Str(c.Args[0])
	if n, ok := strings.CutPrefix(name, "!"); ok {
		pass, err := c.Env.Test(c, n, v, indexArgs(c), nil)
		return !pass, err
	}
	if n, ok := strings.CutPrefix(name, "not "); ok {
		pass, err := c.Env.Test(c, n, v, indexArgs(c), nil)
		return !pass, err
	}
	return c.Env.Test(c, name, v, indexArgs(c), nil)
}

func indexArgs(c *Call) []any {
	if c.Args[1] == nil {
		return nil
	}
	return []any{c.Args[1]}
}
