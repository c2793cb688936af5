package jinja

import (
	"time"
)

// PluginFunc finds the operator's own filter, test or lookup ("filter", "test",
// "lookup") by the name that was written. What it finds goes before the standard
// builtins. It must be safe for concurrent use.
type PluginFunc func(kind, name string) (Builtin, bool)

// builtin finds a filter, test or lookup: an own one, or a standard one.
func (e *Env) builtin(kind, name string) (*builtin, bool) {
	if e.plugin != nil {
		if b, ok := e.plugin(kind, name); ok {
			return &builtin{Builtin: b, sig: mustSignature(b.Name, b.Params)}, true
		}
	}
	return e.kind(kind).find(name)
}

// Variable is a variable of the call's context, evaluated; ok is false when there
// is none.
func (c *Call) Variable(name string) (v any, ok bool, err error) { return variable(c, name) }

// VariableNames are the names of all variables, where the scope knows them.
func (c *Call) VariableNames() []string { return variableNames(c) }

// DateTime is a Python datetime; one in UTC has no zone.
func DateTime(t time.Time) any { return &dateTime{t} }

// TimeOf is the time that a Python datetime holds.
func TimeOf(v any) (t time.Time, aware, ok bool) {
	d, ok := v.(*dateTime)
	if !ok {
		return time.Time{}, false, false
	}
	return d.Time, d.aware(), true
}
