package jinja

import (
	"errors"
	"fmt"
	"strings"

	"play/modules/value"
)

// globalLookup runs a lookup and joins what it finds: texts with commas, a
// single other value alone.
func globalLookup(c *Call) (any, error) {
	options := optionsOf(c)
	wantList := value.Truth(option(options, "wantlist", false))
	found, err := runLookup(c, options)
	if err != nil {
		return nil, err
	}
	if found == nil {
		if wantList {
			return value.NewList(), nil
		}
		return nil, nil
	}
	if wantList || found.Len() == 0 {
		return found, nil
	}
	var texts []string
	for _, item := range found.Items {
		s, ok := item.(string)
		if !ok {
			if found.Len() == 1 {
				return found.Items[0], nil
			}
			return found, nil
		}
		texts = append(texts, s)
	}
	return strings.Join(texts, ","), nil
}

func globalQuery(c *Call) (any, error) {
	options := optionsOf(c)
	option(options, "wantlist", true)
	found, err := runLookup(c, options)
	if err != nil || found == nil {
		return value.NewList(), err
	}
	return found, nil
}

// runLookup calls the plugin; nil means that it failed and the caller asked to
// go on.
func runLookup(c *Call, options *value.Dict) (*value.List, error) {
	mode := value.Str(option(options, "errors", "strict"))
	name := value.Str(c.Args[0])
	v, ok, err := c.Env.Lookup(c, name, c.Rest, options)
	if !ok {
		return nil, fmt.Errorf("lookup plugin (%s) not found", name)
	}
	if err == nil {
		list, isList := v.(*value.List)
		if !isList {
			return nil, fmt.Errorf("the lookup %q returned no list", name)
		}
		return list, nil
	}
	var undefined *UndefinedError
	if errors.As(err, &undefined) {
		return nil, err
	}
	switch mode {
	case "ignore":
		return nil, nil
	case "warn":
		if c.Ctx != nil && c.Ctx.Warn != nil {
			c.Ctx.Warn(fmt.Sprintf("lookup %q failed and was asked to go on: %v", name, err))
		}
		return nil, nil
	}
	return nil, fmt.Errorf("lookup %q failed: %w", name, err)
}

// lookupOption returns a keyword argument of a lookup. Options that it does not
// know are ignored, as Ansible does.
func lookupOption(c *Call, name string, fallback any) any {
	if v, ok := c.Kwargs.Get(name); ok {
		return v
	}
	return fallback
}

func lookupText(c *Call, name, fallback string) string {
	return value.Str(lookupOption(c, name, fallback))
}

func lookupFlag(c *Call, name string, fallback bool) bool {
	return pyBool(lookupOption(c, name, fallback)) || lookupOption(c, name, fallback) == true
}

// perTerm makes a lookup of a function that answers one term.
func perTerm(f func(c *Call, term any) (any, error)) func(*Call) (any, error) {
	return func(c *Call) (any, error) {
		out := value.NewList()
		for _, term := range c.Rest {
			v, err := f(c, term)
			if err != nil {
				return nil, err
			}
			out.Append(v)
		}
		return out, nil
	}
}

// termsOf takes the lists among the terms apart, one level deep.
func termsOf(terms []any) []any {
	out, _ := flattened(terms, 1, false) // one level cannot be too deep
	return out
}
