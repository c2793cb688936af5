package jinja

import "sort"

// kind returns the registry of "filter", "test", "lookup" or "global".
func (e *Env) kind(kind string) registry {
	switch kind {
	case "filter":
		return e.filters
	case "test":
		return e.tests
	case "lookup":
		return e.lookups
	case "global":
		return e.globals
	}
	return nil
}

// Describe returns a builtin of a kind ("filter", "test", "lookup", "global") by
// its name, with or without its collection's name in front.
func (e *Env) Describe(kind, name string) (Builtin, bool) {
	b, ok := e.kind(kind).find(name)
	if !ok {
		return Builtin{}, false
	}
	return b.Builtin, true
}

// Names returns the names of a kind's builtins, sorted.
func (e *Env) Names(kind string) []string {
	var names []string
	for name := range e.kind(kind) {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
