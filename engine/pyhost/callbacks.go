package pyhost

import (
	"context"
	_ "embed" // callbacks.py
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"play/engine/event"
	"play/engine/source"
	"play/modules/value"
)

//go:embed callbacks.py
var callbacksScript string

// lastWords is how long a callback may go on once the run was ended.
const lastWords = 10 * time.Second

// CallbackOptions is what callbacks in Python need besides Options.
type CallbackOptions struct {
	Enabled   []string // callbacks_enabled, but for those that are built in
	Stdout    string   // the stdout callback, where it is not built in
	More      bool     // the operator's own take part without being enabled
	Verbosity int      // the number of -v
	// Args are the options of the command line as ansible-core's context.CLIARGS
	// names them.
	Args     *value.Dict
	Out, Err io.Writer        // where what they print goes
	Warn     func(msg string) // may be called while the sink is told something
}

// Callbacks tells callback plugins in Python of a run. They have a process of
// their own, which begins with the run's first event, and keeps what they
// gathered when another plugin has to be ended. One event is told at a time, and
// its teller waits for it.
type Callbacks struct {
	h       *Host
	o       CallbackOptions
	process *process // nil: it was not started, or is of no use
	ctx     context.Context
	cancel  context.CancelFunc
	known   Known
}

// Known is what callbacks can ask of a run while they are told of it.
type Known interface {
	Hosts() []string
	// Groups are the host's, all included; Own the variables that the inventory's
	// sources set on the host itself.
	Groups(host string) []string
	Own(host string) *value.Dict
	// Extra are the variables of the command line.
	Extra() *value.Dict
	// Variables is the host's view in the play that runs; nil: none runs yet.
	Variables(host string) (Scope, error)
}

// Scope is a view of variables as they were loaded or came from hosts.
type Scope interface {
	Names() []string
	LookupFrom(name string) (v any, fromHost, ok bool)
}

// Know tells where the answers come from; it is called before the first event.
func (c *Callbacks) Know(k Known) { c.known = k }

var _ event.Sink = (*Callbacks)(nil)

// Callbacks describes the operator's callback plugins and those that are
// enabled; it starts nothing.
func (h *Host) Callbacks(o CallbackOptions) *Callbacks {
	c := &Callbacks{h: h, o: o}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(h.o.Context))
	context.AfterFunc(h.o.Context, func() { time.AfterFunc(lastWords, c.cancel) })
	return c
}

// begin starts Python with those plugins that take part.
func (c *Callbacks) begin() error {
	if c.h.o.Core == "" {
		return errNoCore
	}
	folders := texts(c.h.o.Folders["callback"])
	of, err := pack(value.DictOf("enabled", texts(c.o.Enabled), "stdout", c.o.Stdout, "more", c.o.More, "verbosity", c.o.Verbosity, "args", c.o.Args, "folders", folders))
	if err != nil {
		return err
	}
	p, err := find(c.ctx, c.h.o.Core, c.h.environment(), script+callbacksScript+serveScript, value.DictOf("do", "begin", "folders", c.h.folders()))
	if err != nil {
		return err
	}
	c.process = p
	_, err = p.request(c.ctx, value.DictOf("do", "callbacks", "of", of), c.said)
	return err
}

func texts(items []string) *value.List {
	l := value.NewList()
	for _, s := range items {
		l.Append(s)
	}
	return l
}

// Close ends the process.
func (c *Callbacks) Close() {
	if c.process != nil {
		c.process.end()
	}
	c.process = nil
	c.cancel()
}

// said prints what a plugin prints, or warns, or answers what it asks.
func (c *Callbacks) said(m *value.Dict) *value.Dict {
	if what, ok := m.Get("known"); ok {
		host, _ := m.Get("host")
		return value.DictOf("value", c.answer(value.Str(what), value.Str(host)))
	}
	if text, ok := m.Get("warn"); ok {
		c.o.Warn(value.Str(text))
		return nil
	}
	text, _ := m.Get("say")
	to := c.o.Out
	if err, _ := m.Get("err"); err == true {
		to = c.o.Err
	}
	_, _ = io.WriteString(to, value.Str(text)) // a run goes on when nobody reads its output
	return nil
}

// tell tells the plugins of an event; when their process is gone, nothing more.
func (c *Callbacks) tell(name string, pairs ...any) {
	if c.process == nil {
		return
	}
	of, err := pack(value.DictOf(append([]any{"event", name}, pairs...)...))
	if err == nil {
		_, err = c.process.request(c.ctx, value.DictOf("do", "tell", "of", of), c.said)
	}
	if err == nil {
		return
	}
	c.o.Warn(fmt.Sprintf("cannot tell the callback plugins of %s: %v", name, err))
	if own := (*failed)(nil); !errors.As(err, &own) {
		c.Close()
	}
}

// PlaybookStart starts the plugins with the first playbook.
func (c *Callbacks) PlaybookStart(path string) {
	if c.process == nil && c.ctx.Err() == nil {
		if err := c.begin(); err != nil {
			c.o.Warn(fmt.Sprintf("cannot run the callback plugins: %v", err))
			c.Close()
		}
	}
	c.tell("v2_playbook_on_start", "path", path)
}

func (c *Callbacks) PlayStart(p *event.Play) {
	c.tell("v2_playbook_on_play_start", "play", value.DictOf("name", p.Name, "_uuid", "play-"+p.ID, "hosts", p.Pattern, "check_mode", p.Check,
		"members", texts(p.Hosts), "count", p.Tasks))
}

func (c *Callbacks) NoHosts()     { c.tell("v2_playbook_on_no_hosts_matched") }
func (c *Callbacks) NoHostsLeft() { c.tell("v2_playbook_on_no_hosts_remaining") }

func (c *Callbacks) TaskStart(t *event.Task) {
	name := "v2_playbook_on_task_start"
	if t.Handler {
		name = "v2_playbook_on_handler_task_start"
	}
	c.tell(name, "task", taskDict(t))
}

func (c *Callbacks) HostStart(host string, t *event.Task) {
	c.tell("v2_runner_on_start", "host", host, "task", taskDict(t))
}

func (c *Callbacks) Included(t *event.Task, file string, hosts []string, label string) {
	c.tell("v2_playbook_on_include", "task", taskDict(t), "file", file, "hosts", texts(hosts))
}

// Async tells how a job fares.
func (c *Callbacks) Async(a *event.Async) {
	name := map[event.AsyncState]string{event.AsyncRunning: "poll", event.AsyncOK: "ok", event.AsyncFailed: "failed"}[a.State]
	finished := 1
	if a.State == event.AsyncRunning {
		finished = 0
	}
	r := &event.Result{Host: a.Host, Delegated: a.Delegated, DelegatedAddress: a.DelegatedAddress, Task: a.Task,
		Result: value.DictOf("ansible_job_id", a.JID, "started", 1, "finished", finished)}
	c.tell("v2_runner_on_async_"+name, resultPairs(r)...)
}

// Result tells of a task's end, and of its differences before.
func (c *Callbacks) Result(r *event.Result) {
	pairs := resultPairs(r)
	if r.Retrying {
		c.tell("v2_runner_retry", pairs...)
		return
	}
	kind := map[event.Status]string{event.OK: "ok", event.Failed: "failed", event.Skipped: "skipped", event.Unreachable: "unreachable"}[r.Status]
	if _, has := r.Result.Get("diff"); has && r.Task.Diff && r.Status == event.OK {
		c.tell("v2_on_file_diff", pairs...)
	}
	if r.IsItem {
		if r.Status == event.Unreachable {
			kind = "failed"
		}
		c.tell("v2_runner_item_on_"+kind, pairs...)
		return
	}
	c.tell("v2_runner_on_"+kind, pairs...)
}

func (c *Callbacks) Notified(host, handler string) {
	c.tell("v2_playbook_on_notify", "host", host, "handler", handler)
}

func (c *Callbacks) VarsPrompt(name, prompt string) {
	c.tell("v2_playbook_on_vars_prompt", "name", name, "prompt", prompt)
}

// Stats tells the recap.
func (c *Callbacks) Stats(hosts []string, counts map[string]event.Counts, custom *value.Dict) {
	all := value.NewDict()
	for _, h := range hosts {
		n := counts[h]
		all.Set(h, value.DictOf("ok", n.OK, "changed", n.Changed, "dark", n.Unreachable, "failures", n.Failed, "skipped", n.Skipped, "rescued", n.Rescued, "ignored", n.Ignored))
	}
	if custom == nil {
		custom = value.NewDict()
	}
	c.tell("v2_playbook_on_stats", "counts", all, "custom", custom)
}

// Warning, Deprecated, Verbose and Say are the output's alone.
func (c *Callbacks) Warning(string, source.Pos)            {}
func (c *Callbacks) Deprecated(string, string, source.Pos) {}
func (c *Callbacks) Verbose(int, string, string)           {}
func (c *Callbacks) Say(string)                            {}

// taskDict is a task as callbacks.py wants it.
func taskDict(t *event.Task) *value.Dict {
	name := t.Own
	if name == "" {
		name = t.Action
	}
	path := t.Pos.File
	if path != "" {
		path = fmt.Sprintf("%s:%d", path, t.Pos.Line)
	}
	role := ""
	if dir := filepath.Dir(filepath.Dir(t.Pos.File)); t.Name == filepath.Base(dir)+" : "+name {
		role = filepath.Base(dir)
	}
	written := t.Written
	if t.NoLog || written == nil {
		written = value.DictOf("censored", "the output has been hidden due to the fact that 'no_log: true' was specified for this result")
	}
	return value.DictOf("args", loaded(written), "vars", loaded(t.Vars), "failed_when", texts(t.FailedWhen), "_uuid", "task-"+t.ID, "name", t.Own, "shown", t.Name, "action", t.Action, "path", path, "role", role,
		"handler", t.Handler, "no_log", t.NoLog, "check_mode", t.Check, "diff", t.Diff, "tags", texts(t.Tags))
}

// resultPairs are a result as callbacks.py wants it: cleaned of what only the
// engine reads, as Ansible's are.
func resultPairs(r *event.Result) []any {
	clean := value.NewDict()
	for k, v := range r.Result.All() {
		if k != "failed" && k != "skipped" {
			clean.Set(value.Str(k), v)
		}
	}
	var delegated any
	if r.Delegated != "" {
		delegated = r.Delegated
		address := r.DelegatedAddress
		if address == "" {
			address = r.Delegated
		}
		clean.Set("_ansible_delegated_vars", value.DictOf("ansible_host", address))
	}
	if r.IsItem {
		clean.Set("_ansible_item_label", r.Item)
	}
	var args any
	if r.Args != nil {
		args = loaded(r.Args)
	}
	return []any{"args", args, "host", r.Host, "task", taskDict(r.Task), "result", clean, "delegated", delegated, "ignored", r.Ignored, "loop", r.Loop || r.IsItem,
		"failed", r.Status == event.Failed, "unreachable", r.Status == event.Unreachable, "skipped", r.Status == event.Skipped}
}
