package jinja

import (
	"context"
	"time"

	"play/engine/source"
	"play/modules/value"
)

// Scope finds variables by name. Lookup returns the raw value, in which
// templates may still wait to be evaluated (a *Template, or a container whose
// Lazy flag is set). It must be safe for concurrent reads.
type Scope interface {
	Lookup(name string) (v any, ok bool)
}

// Names is an optional ability of a Scope: every name that Lookup would find.
// It serves the varnames lookup and the hints of undefined variables.
type Names interface {
	Names() []string
}

// Vars is the simplest Scope: one dict.
type Vars struct{ *value.Dict }

// Lookup returns the value under name.
func (v Vars) Lookup(name string) (any, bool) { return v.Get(name) }

// Finder resolves the relative file names that templates, includes and lookups
// use. Kind is the folder asked first ("files", "templates", "vars"), as the
// role and playbook search paths define it.
type Finder interface {
	Find(kind, name string) (path string, ok bool)
	// Dir is the playbook's folder: the working directory of the pipe lookup.
	Dir() string
}

// Context is what one evaluation sees of the world. It is made anew for each
// (host, task) and used by one goroutine at a time.
type Context struct {
	Go     context.Context // cancels long evaluations; nil means background
	Vars   Scope
	Files  Finder                                 // nil: only absolute names
	Hosts  func(pattern string) ([]string, error) // inventory_hostnames lookup; nil: an error
	Config func(name string) (any, bool)          // config lookup; nil: an error
	Warn   func(msg string)                       // deprecations and warnings; nil: dropped
	Now    func() time.Time                       // nil: time.Now
	Locals *value.Dict                            // names over Vars for a single evaluation (template_vars); nil: none
	// Describe returns the variables by which a template file sees itself: name is
	// how it was asked for; nil: there are none.
	Describe func(c *Context, path, name string) (*value.Dict, error)
	// Guard is asked before a lookup or include reads a file whose name a host's
	// data had a part in; nil: every file may be read.
	Guard func(path string) error

	state *evalState
	root  *frame // of single expressions
}

// Omit is the value of the name omit: an argument that has it is left out.
// It is compared by identity.
var Omit = &omit{}

type omit struct{ _ byte }

// Call is one call of a filter, test, lookup or global function.
//
// For a filter or a test, Value is what stands before the bar or the "is". Args
// holds the values of the declared parameters in order, defaults filled in, so
// a function never counts its arguments. Rest holds what a "*args" parameter
// took and Kwargs what a "**kwargs" parameter took (never nil).
// Every value is resolved: nothing in it waits to be evaluated.
type Call struct {
	Ctx    *Context
	Env    *Env
	Name   string
	Value  any
	Args   []any
	Rest   []any
	Kwargs *value.Dict
	Pos    source.Pos
	// FromHost tells, where the evaluation is traced, that the arguments of a
	// lookup were made of data that a host sent.
	FromHost bool

	ownKwargs value.Dict
}

// Builtin is a filter, test, lookup or global function.
//
// Params is its Python parameter list without the piped value, for example
// "default_value=”, boolean=False" or "*terms, **options"; a parameter without
// a default is required. Binding errors read as Python's do.
//
// Fn may keep or change none of its arguments unless the Python original does.
// An Undefined argument makes the call fail before Fn runs unless
// TakesUndefined is set.
type Builtin struct {
	Name           string
	Params         string
	Doc            string // one line for play doc
	TakesUndefined bool
	Fn             func(c *Call) (any, error)
}

// Deferred is a loaded value that is worked out when it is used, such as an
// inline vault; a *Template is one too. Wherever a Template inside a loaded
// value would be evaluated, any other Deferred is as well; its container's Lazy
// flag is set. What Value returns is data and is not evaluated again.
type Deferred interface {
	Value(c *Context) (any, error)
}

var _ Deferred = (*Template)(nil)

// Binder is a variable whose value depends on the context that asks for it,
// such as hostvars. Wherever a Template would be evaluated, Bind gives the
// value; it is not evaluated again.
type Binder interface {
	Bind(c *Context) any
}
