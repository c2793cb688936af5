// Package action makes one attempt at a task: it runs on the control machine
// and uses a host's agent where the work is on the host. Evaluated arguments and
// the host's variables flow in as a task.Attempt, a module's result flows out.
// It knows no strategy, decides no retries and changes no variables.
package action

import (
	"context"
	"io"
	"time"

	"play/connection"
	"play/connection/pool"
	"play/engine/task"
	"play/modules/value"
)

// Links gives access to hosts; *pool.Pool does.
type Links interface {
	// Get returns the running agent of a target, starting it on first use.
	Get(ctx context.Context, t *connection.Target) (connection.Link, error)
	// Exec runs a command line without the agent.
	Exec(ctx context.Context, t *connection.Target, line string, stdin io.Reader) (*pool.Output, error)
	// Reset drops the target's connection and agents; the next use connects anew.
	Reset(t *connection.Target)
}

// Deps is what the actions need besides the attempt. One serves a run.
type Deps struct {
	Links    Links
	Defaults Defaults
	Loader   VarsLoader
	Terminal Terminal
	// HashMerge is hash_behaviour=merge.
	HashMerge bool
	Now       func() time.Time
	// Managed is the text of ansible_managed, a template.
	Managed string
	// SSHOptions reads ssh_args and its kin into options by lower-case name.
	SSHOptions func(args string) (map[string]string, error)
	// Vaulted reads a local file that is encrypted; vaulted is false for others.
	Vaulted func(path string) (text []byte, vaulted bool, err error)
	// Needs tells whether a call of a module needs the full agent (see
	// modules.Needs); nil: none does.
	Needs func(module string, args *value.Dict) bool
	// Foreign serves modules that are not native; nil: there are only native ones.
	Foreign *Foreign
	// Live asks for the last lines of running commands, which go to the
	// executor's sink when it is an event.Liner; never those of no_log tasks.
	Live bool
	// JobID makes an id for an asynchronous job, unique on every host.
	JobID func() string
}

// Defaults are the connection settings of the command line and ansible.cfg,
// used where neither variables nor keywords say otherwise.
type Defaults struct {
	Connection      string // "ssh"
	User            string
	Port            int
	Password        string
	KeyFile         string
	Timeout         time.Duration
	Retries         int
	HostKeyChecking bool
	AcceptNew       bool
	RemoteTmp       string
	AsyncDir        string // of status files on hosts; "": ~/.ansible_async
	Become          bool
	BecomeMethod    string
	BecomeUser      string
	BecomePassword  string
	BecomeFlags     string
	BecomeExe       string
	Executable      string            // the shell of raw and shell; "": /bin/sh
	Options         map[string]string // ssh options
	SSHArgs         string            // ssh_args, ssh_common_args of the configuration
}

// VarsLoader reads a file of variables as the operator's own text.
type VarsLoader interface {
	Vars(path string) (*value.Dict, error)
}

// Terminal asks the person who runs the play.
type Terminal interface {
	// Interactive tells whether there is a person to ask.
	Interactive() bool
	// Ask shows a prompt and reads a line; echo is false for secrets.
	Ask(ctx context.Context, prompt string, echo bool) (string, error)
}

// All lists every action by name and the one that runs modules.
func All(d *Deps) (named map[string]*task.Action, module *task.Action) {
	module = &task.Action{Name: "normal", Run: d.module}
	list := []*task.Action{
		{Name: "add_host", Once: true, Here: true, Run: addHost},
		{Name: "assemble", Run: d.assemble},
		{Name: "assert", Raw: []string{"that"}, Here: true, Run: assert},
		{Name: "async_status", Run: d.asyncStatus},
		{Name: "copy", Run: d.copy},
		{Name: "debug", Raw: []string{"var"}, Here: true, Run: debug},
		{Name: "fail", Here: true, Run: fail},
		{Name: "fetch", Here: true, Run: d.fetch},
		{Name: "gather_facts", Run: d.gatherFacts},
		{Name: "group_by", Here: true, Run: groupBy},
		{Name: "include_vars", Here: true, Run: d.includeVars},
		{Name: "pause", Once: true, Here: true, Run: d.pause},
		{Name: "raw", Run: d.raw},
		{Name: "reboot", Run: d.reboot},
		{Name: "script", Run: d.script},
		{Name: "set_fact", Here: true, Run: setFact},
		{Name: "set_stats", Here: true, Run: setStats},
		{Name: "synchronize", Run: d.synchronize},
		{Name: "template", Run: d.template},
		{Name: "unarchive", Run: d.unarchive},
		{Name: "uri", Run: d.uri},
		{Name: "validate_argument_spec", Here: true, Run: validateArgumentSpec},
		{Name: "wait_for_connection", Run: d.waitForConnection},
	}
	named = make(map[string]*task.Action, len(list))
	for _, a := range list {
		named[a.Name] = a
	}
	return named, module
}

// Collections are the collections, beside ansible.builtin's, whose modules an
// action of the name stands for, as modules.Module.In has it for modules.
var Collections = map[string][]string{
	"synchronize": {"ansible.posix"},
}

// strategyActions are carried out by the strategy itself.
var strategyActions = []string{"meta", "include_tasks", "include_role", "include", "import_tasks", "import_role"}

// Known reports whether a name is an action of the control machine.
func Known(name string) bool {
	named, _ := All(&Deps{})
	if named[name] != nil {
		return true
	}
	for _, s := range strategyActions {
		if s == name {
			return true
		}
	}
	return false
}

// Names lists the names for which Known is true.
func Names() []string {
	named, _ := All(&Deps{})
	names := append([]string(nil), strategyActions...)
	for n := range named {
		names = append(names, n)
	}
	return names
}
