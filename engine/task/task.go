// Package task runs one task for one host: conditions, loop, delegation,
// retries, changed_when and failed_when, around an action that makes one
// attempt. A strategy calls Executor.Run from its workers; an Outcome flows
// back, with which the strategy alone changes the run's state (variables,
// facts, handlers, hosts). It knows no connection: actions do.
package task

import (
	"context"
	"time"

	"play/engine/event"
	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/vars"
	"play/modules/value"
)

// Action makes one attempt at a task.
type Action struct {
	Name string
	// Raw names the arguments that the action evaluates itself, because they
	// hold expressions (assert's that, debug's var).
	Raw []string
	// Once makes the action run for the first host only, for all (add_host,
	// pause).
	Once bool
	// Here says that the result is made on the control machine: a host's data is
	// in it only if it was in the arguments.
	Here bool
	// Run returns the result as it is registered. An error with an
	// Unreachable() method takes the host out of the play; every other error
	// is a failed result with its text as msg.
	Run func(ctx context.Context, a *Attempt) (*value.Dict, error)
}

// Unreachable is implemented by errors that say that the host was not reached.
type Unreachable interface {
	error
	Unreachable() bool
}

// Attempt is all that an action sees of the task it runs.
type Attempt struct {
	Host     string // the inventory host the task is for
	Target   string // the host it acts on: delegate_to, or Host
	Task     *playbook.Task
	Args     *value.Dict    // evaluated; Raw ones are as loaded; no omit is left
	Scope    *vars.Scope    // variables of Host, with the loop item
	On       *vars.Scope    // variables of Target: how to reach it
	Jinja    *jinja.Context // evaluates over Scope
	Env      []string       // the task's environment, "NAME=value"
	Check    bool
	Diff     bool
	NoLog    bool
	Event    *event.Task
	Settings Settings
	Executor *Executor
	Files    *Files
	// DelegateFacts tells that facts are those of Target, not of Host.
	DelegateFacts bool
	// fromHost names the arguments in which data that a host sent had a part.
	fromHost map[string]bool
}

// Settings are the task's run-time keywords after evaluation.
type Settings struct {
	Become       bool
	BecomeSet    bool // become was written on the task or around it
	BecomeUser   string
	BecomeMethod string
	BecomeFlags  string
	BecomeExe    string
	RemoteUser   string
	Port         int
	Connection   string
	Async        int // seconds; 0: not asynchronous
	Poll         int // seconds
	Timeout      time.Duration
}

// Outcome is how a task ended on a host, and what the run has to do about it.
type Outcome struct {
	Host    string
	Task    *playbook.Task
	Status  event.Status
	Changed bool
	Ignored bool
	// IgnoreUnreachable tells that ignore_unreachable was set.
	IgnoreUnreachable bool
	Result            *value.Dict // what register stores
	NoLog             bool
	Notify            []string // handler names to notify, evaluated
	// FromHost tells that data which a host sent had a part in Result.
	FromHost bool
	Includes []Include
	Effects  []Effect
	Pos      string // where it failed, for people
	// Event is the task's end, to be sent by the strategy.
	Event *event.Result
}

// Effect is what one result (the task's, or one item's) does to the run.
type Effect struct {
	Host         string // whose facts: the host, or the delegated one with delegate_facts
	Facts        *value.Dict
	Vars         *value.Dict // set_fact
	FromHost     bool        // a host's data had a part in Vars
	Included     *value.Dict // include_vars
	AddHost      *value.Dict
	AddGroup     string
	ParentGroups []string
	Stats        *value.Dict
	StatsPerHost bool
	StatsReplace bool
}

// Include is a file or role that a dynamic include asked for on a host.
type Include struct {
	Args  *value.Dict // evaluated arguments of include_tasks or include_role
	Vars  *value.Dict // the loop item and its kin; may be empty
	Label string      // the item's label, "" without a loop
	// ArgsFromHost and VarsFromHost tell that data which a host sent had a part
	// in them.
	ArgsFromHost, VarsFromHost bool
}

// Options are the run's switches.
type Options struct {
	Check, Diff bool
	Verbosity   int
	// IgnoreErrors is what ignore_errors is where nobody wrote it.
	IgnoreErrors bool
	// Strict refuses files of the control machine, outside the playbook's
	// folders, that a host's data named; otherwise they are warned of.
	Strict bool
}

// Executor runs tasks. It is shared by all workers.
type Executor struct {
	Jinja     *jinja.Env
	Play      *vars.Play
	Actions   map[string]*Action // by action name
	Module    *Action            // runs every name that is not in Actions
	Sink      event.Sink         // safe for concurrent use
	Options   Options
	Context   func(s *vars.Scope, f *Files) *jinja.Context
	Events    func(t *playbook.Task, s *vars.Scope) *event.Task
	Playbook  string // the playbook's folder
	Now       func() time.Time
	HostNamed func(name string) string // an inventory host for a delegate_to name
	// InGroup reports whether an action group of module_defaults has an action;
	// nil: there are no groups.
	InGroup func(group, action string) bool
}
