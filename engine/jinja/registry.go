package jinja

import (
	"strings"

	"play/modules/value"
)

// builtin is a Builtin with its parameter list read.
type builtin struct {
	Builtin
	sig signature
}

// invoke binds the arguments and calls the function.
func (b *builtin) invoke(c *Call, args []any, kwargs *value.Dict) (any, error) {
	if err := b.sig.bind(b.Name, c, args, kwargs); err != nil {
		return nil, err
	}
	if !b.TakesUndefined {
		if err := c.defined(); err != nil {
			return nil, err
		}
	}
	return b.Fn(c)
}

// defined fails when an argument is undefined.
func (c *Call) defined() error {
	if err := defined(c.Value); err != nil {
		return err
	}
	if err := defined(c.Args...); err != nil {
		return err
	}
	if err := defined(c.Rest...); err != nil {
		return err
	}
	for _, v := range c.Kwargs.All() {
		if err := defined(v); err != nil {
			return err
		}
	}
	return nil
}

// registry finds builtins by name.
type registry map[string]*builtin

// newRegistry reads lists of builtins; later ones win.
func newRegistry(lists ...[]Builtin) registry {
	r := registry{}
	for _, list := range lists {
		for _, b := range list {
			r[b.Name] = &builtin{Builtin: b, sig: mustSignature(b.Name, b.Params)}
		}
	}
	return r
}

// find resolves a name with or without its collection's name in front.
func (r registry) find(name string) (*builtin, bool) {
	if b, ok := r[name]; ok {
		return b, true
	}
	if strings.Count(name, ".") < 2 {
		return nil, false
	}
	b, ok := r[name[strings.LastIndexByte(name, '.')+1:]]
	return b, ok
}

// Filter calls a filter by name: the map filter is made of it. Value may be
// anything; kwargs may be nil.
func (e *Env) Filter(c *Call, name string, v any, args []any, kwargs *value.Dict) (any, error) {
	b, ok := e.builtin("filter", name)
	if !ok {
		return nil, errorText("No filter named '" + name + "'.")
	}
	return b.invoke(&Call{Ctx: c.Ctx, Env: e, Name: b.Name, Value: v, Pos: c.Pos}, args, kwargs)
}

// Test calls a test by name and tells its truth: select and its kin are made of it.
func (e *Env) Test(c *Call, name string, v any, args []any, kwargs *value.Dict) (bool, error) {
	b, ok := e.builtin("test", name)
	if !ok {
		return false, errorText("No test named '" + name + "'.")
	}
	r, err := b.invoke(&Call{Ctx: c.Ctx, Env: e, Name: b.Name, Value: v, Pos: c.Pos}, args, kwargs)
	if err != nil {
		return false, err
	}
	return truth(r)
}

// Lookup calls a lookup plugin by name. ok is false when there is none.
func (e *Env) Lookup(c *Call, name string, terms []any, kwargs *value.Dict) (v any, ok bool, err error) {
	b, ok := e.builtin("lookup", name)
	if !ok {
		return nil, false, nil
	}
	v, err = b.invoke(&Call{Ctx: c.Ctx, Env: e, Name: b.Name, Pos: c.Pos, FromHost: c.FromHost}, terms, kwargs)
	return v, true, err
}

// global is a global function as a value.
type global struct {
	env *Env
	b   *builtin
}

func (g *global) call(f *frame, args []any, kwargs *value.Dict) (any, error) {
	return g.callFrom(f, args, kwargs, false)
}

func (g *global) callFrom(f *frame, args []any, kwargs *value.Dict, fromHost bool) (any, error) {
	return g.b.invoke(&Call{Ctx: f.ctx, Env: g.env, Name: g.b.Name, FromHost: fromHost}, args, kwargs)
}

// Call calls the function.
func (g *global) Call(c *Context, args []any, kwargs *value.Dict) (any, error) {
	return g.call(c.frame(), args, kwargs)
}

// TypeName is the Python type's name.
func (g *global) TypeName() string { return "function" }

// Repr shows the function.
func (g *global) Repr() string { return "<function " + g.b.Name + ">" }

// global returns the global of that name, or an Undefined.
func (e *Env) global(name string) any {
	if g, ok := e.functions[name]; ok {
		return g
	}
	return undefinedName(name)
}
