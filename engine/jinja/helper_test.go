package jinja

import (
	"testing"

	"play/engine/source"
	"play/modules/value"
)

// inFile is where the texts of these tests stand.
func inFile(line int) source.Pos { return source.Pos{File: "site.yml", Line: line, Col: 1} }

// withVars makes a context of pairs of names and values; strings are loaded.
func withVars(t *testing.T, e *Env, pairs ...any) *Context {
	t.Helper()
	v, _ := loaded(t, e, value.DictOf(pairs...))
	return &Context{Vars: Vars{v.(*value.Dict)}}
}

// eval evaluates a playbook string.
func eval(t *testing.T, e *Env, src string, c *Context) (any, error) {
	t.Helper()
	tmpl, err := e.Template(src, inFile(1))
	if err != nil {
		return nil, err
	}
	return tmpl.Value(c)
}
