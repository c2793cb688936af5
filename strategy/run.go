// Package strategy carries a playbook through: it takes plays batch by batch,
// asks the iterator what every host does next, fans the tasks out to a pool of
// workers, and alone applies what comes back (variables, facts, handlers,
// includes, hosts that leave). A loaded playbook flows in, events and a Report
// flow out. It runs no module and prints nothing.
package strategy

import (
	"context"
	"fmt"
	"sort"

	"play/engine/debugger"
	"play/engine/event"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/task"
	"play/engine/vars"
	"play/modules/value"
)

// Inventory is what a run needs of the hosts. Only the strategy's goroutine
// changes it.
type Inventory interface {
	// Match lists the hosts of a play's pattern under the run's limit, in order.
	Match(pattern string) ([]string, error)
	AddHost(name string, groups []string, hostVars *value.Dict) (changed bool, err error)
	AddToGroup(host, group string, parents []string) (changed bool, err error)
	Refresh() error
}

// Loader brings in what dynamic includes name.
type Loader interface {
	// IncludeTasks loads a file of tasks for the include that asked for it;
	// path is as evaluated. The block's nodes may be run by several hosts.
	IncludeTasks(path string, t *playbook.Task, args, vars *value.Dict) (*playbook.Block, string, error)
	// IncludeRole loads a role and the handlers it brings.
	IncludeRole(t *playbook.Task, args, vars *value.Dict) (*playbook.Block, []*playbook.Task, error)
}

// Run is one run of a playbook. It is used once, by one goroutine.
type Run struct {
	Executor  *task.Executor
	Builder   *vars.Builder
	Inventory Inventory
	Loader    Loader
	Sink      event.Sink // safe for concurrent use
	Forks     int
	Strategy  string   // of plays that name none; "": linear
	OnlyTags  []string // empty: all
	SkipTags  []string
	// Gather tells whether a play without gather_facts gathers them.
	Gather bool
	// GatherSmart skips hosts whose facts are known already.
	GatherSmart bool
	// AnyErrorsFatal and ForceHandlers are the defaults of the keywords.
	AnyErrorsFatal bool
	ForceHandlers  bool
	// MissingHandlerWarns makes a notification that nobody listens to a warning
	// instead of the end of the run.
	MissingHandlerWarns bool
	// ShowArgs gives task events their arguments (display_args_to_stdout).
	ShowArgs bool
	// ShowUses gives task events the variables they set and read.
	ShowUses bool
	// ShowWritten gives task events their arguments, variables and failed_when.
	ShowWritten bool
	StartAt     string                       // --start-at-task: a name or pattern; "": from the first
	Step        func(task string) StepAnswer // --step: asks about "TASK: name"; nil: no questions
	// Debugger is where the person sits whom the debugger keyword calls; nil: it
	// calls nobody.
	Debugger debugger.Console
	// EnableDebugger opens it for every failure; DebugIgnored for ignored ones, too.
	EnableDebugger, DebugIgnored bool
	// ResetConnection drops the host's connection (meta: reset_connection).
	ResetConnection func(ctx context.Context, host string, t *playbook.Task) error
	// Prompts asks for a play's vars_prompt.
	Prompts func(p *playbook.Play) (*value.Dict, error)
	// IDs makes the ids of events unique over several playbooks; nil: over this
	// one.
	IDs *IDs
	// Ended is told how a playbook ended, before its recap is shown; nil: nobody is.
	Ended func(*Report)
	// Sums are the recap over several playbooks; nil: over this one.
	Sums *Sums

	failed      map[string]bool
	unreachable map[string]bool
	started     bool // StartAt was found
	broken      bool // the last batch was ended by any_errors_fatal or max_fail_percentage
}

// IDs counts the plays and tasks that events were told of.
type IDs struct{ plays, tasks int }

// Sums are what a recap shows: each host's counts and the custom statistics.
type Sums struct {
	counts map[string]*event.Counts
	custom *value.Dict
}

// NewSums returns sums of nothing.
func NewSums() *Sums { return &Sums{counts: map[string]*event.Counts{}, custom: value.NewDict()} }

// StepAnswer is what a person wants of the next task.
type StepAnswer int

const (
	StepNo StepAnswer = iota
	StepYes
	StepContinue // yes, and ask no more
)

// Report is how a run ended.
type Report struct {
	Failed      []string // hosts, sorted
	Unreachable []string
	Broken      bool // the last play was ended by any_errors_fatal or max_fail_percentage
	Interrupted bool
}

// Playbook runs every play. The error is a mistake in the operator's files that
// could not be seen before; then there is no recap.
func (r *Run) Playbook(ctx context.Context, pb *playbook.Playbook) (*Report, error) {
	r.failed, r.unreachable = map[string]bool{}, map[string]bool{}
	if r.Sums == nil {
		r.Sums = NewSums()
	}
	if r.IDs == nil {
		r.IDs = &IDs{}
	}
	r.Sink.PlaybookStart(pb.Path)
	if r.Executor.Options.Verbosity > 1 {
		r.Sink.Verbose(2, "", plays(len(pb.Plays))+" in "+pb.Path)
	}
	for _, p := range pb.Plays {
		broken, err := r.play(ctx, p)
		if err != nil {
			return nil, err
		}
		if broken || ctx.Err() != nil {
			break
		}
	}
	if r.StartAt != "" && !r.started && ctx.Err() == nil {
		r.Sink.Warning(fmt.Sprintf("No matching task %q found. Note: --start-at-task can only follow static includes.", r.StartAt), source.Pos{})
	}
	report := &Report{Failed: sortedKeys(r.failed), Unreachable: sortedKeys(r.unreachable), Broken: r.broken,
		Interrupted: ctx.Err() != nil}
	if r.Ended != nil {
		r.Ended(report)
	}
	r.sendStats()
	return report, nil
}

func (r *Run) sendStats() {
	counts := make(map[string]event.Counts, len(r.Sums.counts))
	hosts := make([]string, 0, len(r.Sums.counts))
	for h, c := range r.Sums.counts {
		counts[h] = *c
		hosts = append(hosts, h)
	}
	sort.Strings(hosts)
	r.Sink.Stats(hosts, counts, r.Sums.custom)
}

func sortedKeys(m map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// count returns the host's line of the recap.
func (r *Run) count(host string) *event.Counts {
	c := r.Sums.counts[host]
	if c == nil {
		c = &event.Counts{}
		r.Sums.counts[host] = c
	}
	return c
}
