package jinja

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"play/modules/pyre"
	"play/modules/value"
)

// varLookups look at variables, the environment, settings and the inventory.
func varLookups() []Builtin {
	const params = "*terms, **options"
	return []Builtin{
		{Name: "config", Params: params, Doc: "values of settings", Fn: lookupConfig},
		{Name: "env", Params: params, Doc: "environment variables of the control machine", TakesUndefined: true, Fn: perTerm(lookupEnv)},
		{Name: "inventory_hostnames", Params: params, Doc: "the hosts that a pattern names", Fn: lookupHosts},
		{Name: "merge_variables", Params: params, Doc: "the merged values of variables with like names", Fn: perTerm(lookupMergeVariables)},
		{Name: "varnames", Params: params, Doc: "the names of variables that match patterns", Fn: lookupVarnames},
		{Name: "vars", Params: params, Doc: "values of variables", TakesUndefined: true, Fn: perTerm(lookupVars)},
	}
}

func lookupEnv(c *Call, term any) (any, error) {
	if err := wantDefined(term); err != nil {
		return nil, err
	}
	name := value.Str(term)
	if v, ok := os.LookupEnv(name); ok {
		return v, nil
	}
	v := lookupOption(c, "default", "")
	if isUndefined(v) {
		return nil, &UndefinedError{Msg: fmt.Sprintf("The environment variable '%s' is not set", name)}
	}
	return v, nil
}

// variable returns a variable's value as a template sees it.
func variable(c *Call, name string) (any, bool, error) {
	v, ok := c.Ctx.raw(name)
	if !ok {
		return nil, false, nil
	}
	f := c.Ctx.frame()
	v, err := f.force(v, name)
	if err != nil {
		return nil, true, err
	}
	v, err = f.settle(v, name)
	return v, true, err
}

func lookupVars(c *Call, term any) (any, error) {
	name, ok := term.(string)
	if !ok {
		return nil, fmt.Errorf("Invalid setting identifier, \"%s\" is not a string, its a <class '%s'>", value.Str(term), value.TypeName(term))
	}
	v, ok, err := variable(c, name)
	if err != nil || ok {
		return v, err
	}
	v, given := c.Kwargs.Get("default")
	if !given || isUndefined(v) {
		return nil, &UndefinedError{Msg: "No variable found with this name: " + name}
	}
	return v, nil
}

// variableNames returns the names of all variables, in the scope's order.
func variableNames(c *Call) []string {
	var names []string
	if scope, ok := c.Ctx.Vars.(Names); ok {
		names = append(names, scope.Names()...)
	}
	if c.Ctx.Locals != nil {
		for k := range c.Ctx.Locals.All() {
			names = append(names, value.Str(k))
		}
	}
	return names
}

// matchingNames returns the names in which a pattern is found, in the order
// that the scope tells them.
func matchingNames(names []string, pattern string) ([]string, error) {
	re, err := pyre.Compile(pattern, 0)
	if err != nil {
		return nil, fmt.Errorf("Unable to use \"%s\" as a search parameter: %w", pattern, err)
	}
	var out []string
	for _, name := range names {
		m, err := re.Search(name)
		if err != nil {
			return nil, err
		}
		if m != nil {
			out = append(out, name)
		}
	}
	return out, nil
}

func lookupVarnames(c *Call) (any, error) {
	names := variableNames(c)
	out := value.NewList()
	for _, term := range c.Rest {
		pattern, ok := term.(string)
		if !ok {
			return nil, fmt.Errorf("Invalid setting identifier, \"%s\" is not a string, it is a <class '%s'>", value.Str(term), value.TypeName(term))
		}
		found, err := matchingNames(names, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			out.Append(name)
		}
	}
	return out, nil
}

func lookupConfig(c *Call) (any, error) {
	if c.Ctx.Config == nil {
		return nil, errors.New("cannot read settings here")
	}
	out := value.NewList()
	for _, term := range c.Rest {
		name, ok := term.(string)
		if !ok {
			return nil, fmt.Errorf("Invalid setting identifier, \"%s\" is not a string, its a <class '%s'>", value.Str(term), value.TypeName(term))
		}
		v, ok := c.Ctx.Config(name)
		if ok {
			out.Append(v)
			continue
		}
		switch lookupText(c, "on_missing", "error") {
		case "error":
			return nil, fmt.Errorf("Unable to find setting %s", name)
		case "warn":
			if c.Ctx.Warn != nil {
				c.Ctx.Warn("Skipping, did not find setting " + name)
			}
		}
	}
	return out, nil
}

func lookupHosts(c *Call) (any, error) {
	if c.Ctx.Hosts == nil {
		return nil, errors.New("cannot look at the inventory here")
	}
	var patterns []string
	for _, term := range termsOf(c.Rest) {
		patterns = append(patterns, value.Str(term))
	}
	out := value.NewList()
	names, err := c.Ctx.Hosts(strings.Join(patterns, ","))
	if err != nil {
		return out, nil // a pattern that is none matches no host
	}
	for _, name := range names {
		out.Append(name)
	}
	return out, nil
}

// lookupMergeVariables merges the values of the variables that match: lists end
// to end, dicts at every depth.
func lookupMergeVariables(c *Call, term any) (any, error) {
	pattern := value.Str(term)
	switch kind := lookupText(c, "pattern_type", "regex"); kind {
	case "prefix":
		pattern = "^" + pyre.Escape(pattern)
	case "suffix":
		pattern = pyre.Escape(pattern) + "$"
	}
	names, err := matchingNames(variableNames(c), pattern)
	if err != nil {
		return nil, err
	}
	result := lookupOption(c, "initial_value", nil)
	for _, name := range names {
		v, ok, err := variable(c, name)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if result, err = mergeVariable(result, v, name); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func mergeVariable(result, v any, name string) (any, error) {
	list, isList := v.(*value.List)
	switch {
	case !isList && !isMapping(v):
		return nil, fmt.Errorf("'%s' variable is neither a list nor a dict", name)
	case result == nil:
		return v, nil
	case isList:
		base, ok := result.(*value.List)
		if !ok {
			return nil, fmt.Errorf("cannot merge the list '%s' with what came before it", name)
		}
		return value.NewList(concat(base.Items, list.Items)...), nil
	}
	return mergeDicts(result, v, true, "append")
}
