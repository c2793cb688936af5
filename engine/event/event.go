// Package event defines what a run tells the world: one Sink receives every
// event of a run in order, from one goroutine at a time. Events flow out of the
// strategy and the task executor and into outputs, histories and reports. A
// Sink never changes what it is given and never stops a run.
package event

import (
	"time"

	"play/engine/source"
	"play/modules/value"
)

// Status is how one task ended on one host.
type Status int

const (
	OK          Status = iota // done; Result's "changed" tells whether something changed
	Failed                    // failed; Ignored tells whether that was ignored
	Skipped                   // not run: its condition was false or its loop empty
	Unreachable               // the host could not be reached
)

// Play describes the play an event is about.
type Play struct {
	ID   string // unique in the run; each batch of hosts (serial) has one
	Name string // the play's name, or its host pattern when it has none
	// Pattern is the play's hosts as written, evaluated.
	Pattern string
	Pos     source.Pos
	Hosts   []string // in the order in which they run
	// Tasks is how many tasks the run's tags select, as far as that is known
	// before the play: without handlers, rescues and what is included while it
	// runs.
	Tasks int
	Check bool
}

// Task describes the task an event is about.
type Task struct {
	ID      string // unique in the run
	Name    string // as shown: "role : name" or the action's name
	Own     string // the name that was given to it, without its role; "" for none
	Action  string // as resolved, without ansible.builtin.
	Pos     source.Pos
	Tags    []string // its own and those around it
	Handler bool
	NoLog   bool
	Check   bool // the mode it really runs in
	Diff    bool // the mode it really runs in
	// Free tells that hosts reach the task each in their own time (strategies
	// free and host_pinned): outputs name it with the results, not at its start.
	Free bool
	// Register, Conditions and Reads are given only when they were asked for:
	// the variable that its result goes to, and the names that its conditions,
	// and the whole of it, read.
	Register          string
	Conditions, Reads []string
	// Args is "name=value, name=value" as written, given only when
	// display_args_to_stdout is on.
	Args string
	// Written are the arguments and Vars the variables of the task and of what is
	// around it, both as loaded, and FailedWhen its own conditions; all are given
	// only when asked for. Written is nil where no_log is set.
	Written, Vars *value.Dict
	FailedWhen    []string
}

// Result is one task's (or one loop item's) end on one host.
type Result struct {
	Host      string
	Delegated string // the host it really ran on, or ""
	// DelegatedAddress is that host's ansible_host; "" or the same name when
	// it has no other.
	DelegatedAddress string
	Task             *Task
	Status           Status
	Changed          bool
	Ignored          bool
	Retrying         bool   // an until attempt that will be tried again
	Item             string // a loop item's label, censored when NoLog
	IsItem           bool
	Loop             bool // a whole task that had a loop; its items came before
	// Result is what a registered variable would hold, already censored when
	// NoLog, plus two display hints of actions, which outputs strip:
	// _ansible_verbose_always (debug, assert: shown without -v) and
	// _ansible_verbose_override (setup: never shown by -v alone). A retried
	// attempt holds "retries" and "attempts".
	Result *value.Dict
	// Args are the arguments of the last attempt, evaluated; nil where there was
	// none, for a loop as a whole, and when NoLog.
	Args  *value.Dict
	Start time.Time
	End   time.Time
	// Pos is where the failure lies (the task, or the very expression); Hint is
	// for a person.
	Pos  source.Pos
	Hint string
}

// Async tells how an async job fares that its task waits for. A state other
// than AsyncRunning is told just before the task's Result.
type Async struct {
	Host             string
	Delegated        string // as in Result
	DelegatedAddress string
	Task             *Task
	JID              string
	State            AsyncState
}

// AsyncState is the state of an async job.
type AsyncState int

const (
	AsyncRunning AsyncState = iota // asked after, not finished
	AsyncOK                        // finished
	AsyncFailed                    // finished and failed, or out of time
)

// Counts is one host's line of the recap.
type Counts struct {
	OK, Changed, Unreachable, Failed, Skipped, Rescued, Ignored int
}

// Sink receives a run's events. An output embeds Nop and overrides what it
// shows.
type Sink interface {
	PlaybookStart(path string)
	PlayStart(p *Play)
	NoHosts() // the play's pattern matched nothing ("no hosts matched")
	NoHostsLeft()
	TaskStart(t *Task) // a task or handler begins on its first host
	Included(t *Task, file string, hosts []string, label string)
	HostStart(host string, t *Task) // a host begins a task (for progress displays)
	Async(a *Async)
	Result(r *Result)
	Notified(host, handler string)
	Warning(msg string, pos source.Pos)
	Deprecated(msg, version string, pos source.Pos)
	// Verbose is a word about the run itself for those who asked with at least
	// level times -v; host may be "".
	Verbose(level int, host, msg string)
	// Say is a line that an action has for the person who watches (pause).
	Say(msg string)
	VarsPrompt(name, prompt string)
	Stats(hosts []string, counts map[string]Counts, custom *value.Dict) // the recap, hosts sorted
}

// Nop is a Sink that ignores everything.
type Nop struct{}

var _ Sink = Nop{}

func (Nop) PlaybookStart(string)                           {}
func (Nop) PlayStart(*Play)                                {}
func (Nop) NoHosts()                                       {}
func (Nop) NoHostsLeft()                                   {}
func (Nop) TaskStart(*Task)                                {}
func (Nop) Included(*Task, string, []string, string)       {}
func (Nop) HostStart(string, *Task)                        {}
func (Nop) Async(*Async)                                   {}
func (Nop) Verbose(int, string, string)                    {}
func (Nop) Result(*Result)                                 {}
func (Nop) Notified(string, string)                        {}
func (Nop) Warning(string, source.Pos)                     {}
func (Nop) Deprecated(string, string, source.Pos)          {}
func (Nop) Say(string)                                     {}
func (Nop) VarsPrompt(string, string)                      {}
func (Nop) Stats([]string, map[string]Counts, *value.Dict) {}
