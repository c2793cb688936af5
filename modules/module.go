// Package modules holds what runs on a target: one file per module, listed in
// All. Flowing in: a Call (arguments already decoded into the module's struct).
// Flowing out: a result dict with Ansible's names. Modules run inside
// play-agent, print nothing, and know neither hosts nor playbooks.
package modules

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"

	"play/modules/foreign"
	"play/modules/value"
)

// Call is one run of a module on the target.
type Call struct {
	context.Context // ends when the controller is gone, the task timed out, or the run was stopped

	Check     bool // change nothing, report what would change
	Diff      bool // fill the result's "diff"
	NoLog     bool
	Verbosity int
	Env       []string      // the environment for processes the module starts: the agent's, with the task's own on top
	Dir       string        // working directory of processes the module starts; "": the agent's own
	Home      string        // the user's home folder
	TmpDir    string        // a private folder (0700) of this agent for scratch files; files left in it go with the agent
	Body      io.Reader     // content sent along with the call (copy, template, script); nil when none
	Content   io.Writer     // content sent back with the result (fetch); never nil, and slow when the controller is
	Output    io.Writer     // output of running commands, of which a display may show the last line; never nil, and safe for concurrent use
	Warm      *foreign.Warm // interpreters that Python modules fork from; nil: each has a process of its own
	Web       Web           // what speaks HTTP; nil in the plain agent
	Extra     *value.Dict   // the "_ansible_*" and controller-side hints of the call; never nil
}

// Module is one native module.
type Module struct {
	Name string // without its collection
	Doc  string // one line
	// Collections are those that the module stands for (see In); none:
	// ansible.builtin.
	Collections []string
	Former      []string // full names of another short name (see Formerly)
	// Args is a zero argument struct (see package argspec for its tags).
	Args any
	// Check tells whether check mode is supported; a module without it is
	// skipped then, with Ansible's message.
	Check bool
	// Complete tells that the result is another program's: neither what is
	// known of its files nor an invocation is added.
	Complete bool
	// downloads are the arguments that may be an address (see Downloads), and
	// large marks a module of the list Large.
	downloads []string
	large     bool
	zero      func() any
	run       func(c *Call, args any) (*Result, error)
}

// Define makes a module from its run function; P is a pointer to the argument
// struct. Pointers share one instance of this function: one for each struct
// would carry the struct's whole text, tags included, in its name, and the agent
// would be a fortieth larger.
func Define[P any](name, doc string, run func(c *Call, args P) (*Result, error)) Module {
	args := reflect.TypeFor[P]().Elem()
	return Module{
		Name: name, Doc: doc, Args: reflect.Zero(args).Interface(), Check: true,
		zero: func() any { return reflect.New(args).Interface() },
		run:  func(c *Call, args any) (*Result, error) { return run(c, args.(P)) },
	}
}

// NoCheck marks a module that cannot run in check mode.
func (m Module) NoCheck() Module { m.Check = false; return m }

// New returns a pointer to a zero argument struct, for Run.
func (m Module) New() any { return m.zero() }

// Run runs the module with a pointer to its decoded argument struct. A result
// that names a file under "path" or "dest" also gets what is known of it.
func (m Module) Run(c *Call, args any) (*Result, error) {
	if m.Complete {
		return m.run(c, args)
	}
	return withPathInfo(m.run(c, args))
}

// Getenv looks up a variable in the call's environment.
func (c *Call) Getenv(name string) (string, bool) {
	for i := len(c.Env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(c.Env[i], name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// Result is a module's result: an ordered dict that always has "changed".
type Result struct{ *value.Dict }

// NewResult returns a result with changed set.
func NewResult(changed bool) *Result {
	return &Result{value.DictOf("changed", changed)}
}

// Changed sets "changed".
func (r *Result) Changed(changed bool) *Result { r.Set("changed", changed); return r }

// With sets one return value and returns the result.
func (r *Result) With(key string, v any) *Result { r.Set(key, v); return r }

// Failure is a module's own failure: Msg and the further return values.
type Failure struct {
	Msg  string
	With *value.Dict // nil: none
}

// Error returns the message.
func (f *Failure) Error() string { return f.Msg }

// Failf makes a failure.
func Failf(format string, args ...any) *Failure {
	return &Failure{Msg: fmt.Sprintf(format, args...)}
}
