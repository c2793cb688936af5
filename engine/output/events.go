package output

import (
	"io"
	"sync"
	"time"

	"play/engine/event"
	"play/engine/source"
	"play/modules/value"
)

// eventsVersion is the version of the form of the events, in the first line.
const eventsVersion = 1

// Events writes each event of a run as one line of JSON, as soon as it is told
// of. docs/events.md describes every event and its fields.
type Events struct {
	out   io.Writer
	now   func() time.Time
	mu    sync.Mutex
	begun bool
	fail  func(error)
	play  string // the id of the present one
	ended bool   // a line could not be written: no more are
}

var _ event.Sink = (*Events)(nil)

// NewEvents returns a sink that writes to out; now may be nil. fail is told
// once, when a line cannot be written.
func NewEvents(out io.Writer, now func() time.Time, fail func(error)) *Events {
	if now == nil {
		now = time.Now
	}
	return &Events{out: out, now: now, fail: fail}
}

// write adds a line: the event's name and time, then the pairs of names and
// values that are not empty.
func (e *Events) write(kind string, pairs ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.begun {
		e.begun = true
		e.line(value.DictOf("event", "run_start", "time", e.time(e.now()), "version", eventsVersion))
	}
	line := value.DictOf("event", kind, "time", e.time(e.now()))
	for i := 0; i < len(pairs); i += 2 {
		if !empty(pairs[i+1]) {
			line.Set(pairs[i].(string), pairs[i+1])
		}
	}
	e.line(line)
}

func (e *Events) line(d *value.Dict) {
	if e.ended {
		return
	}
	text, err := value.EncodeJSON(d, value.JSONOptions{})
	if err == nil {
		_, err = io.WriteString(e.out, escapeC1(text)+"\n")
	}
	if err != nil {
		e.ended = true
		if e.fail != nil {
			e.fail(err)
		}
	}
}

func (e *Events) time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case int:
		return v == 0
	case *value.Dict:
		return v == nil
	case *value.List:
		return v == nil
	}
	return false
}

// PlaybookStart writes playbook_start.
func (e *Events) PlaybookStart(path string) { e.write("playbook_start", "path", path) }

// PlayStart writes play_start.
func (e *Events) PlayStart(p *event.Play) {
	e.play = p.ID
	e.write("play_start", "play", value.DictOf("id", p.ID, "name", p.Name),
		"path", p.Pos.String(), "hosts", textList(p.Hosts), "tasks", p.Tasks, "check", p.Check)
}

// NoHosts writes no_hosts_matched.
func (e *Events) NoHosts() { e.write("no_hosts_matched") }

// NoHostsLeft writes no_hosts_left.
func (e *Events) NoHostsLeft() { e.write("no_hosts_left") }

// TaskStart writes task_start.
func (e *Events) TaskStart(t *event.Task) {
	e.write("task_start", "task", taskDoc(t), "play", e.play, "action", t.Action, "path", t.Pos.String(), "handler", t.Handler,
		"check", t.Check, "no_log", t.NoLog)
}

// HostStart writes host_start.
func (e *Events) HostStart(host string, t *event.Task) {
	e.write("host_start", "host", host, "task", taskDoc(t))
}

// Included writes included.
func (e *Events) Included(t *event.Task, file string, hosts []string, label string) {
	if t.NoLog {
		label = ""
	}
	e.write("included", "task", taskDoc(t), "file", file, "hosts", textList(hosts), "item", label)
}

// Async writes async.
func (e *Events) Async(a *event.Async) {
	states := map[event.AsyncState]string{event.AsyncRunning: "running", event.AsyncOK: "ok", event.AsyncFailed: "failed"}
	e.write("async", "host", a.Host, "delegated_to", a.Delegated, "task", taskDoc(a.Task), "jid", a.JID, "state", states[a.State])
}

// Result writes item, retry or result.
func (e *Events) Result(r *event.Result) {
	kind := "result"
	switch {
	case r.Retrying:
		kind = "retry"
	case r.IsItem:
		kind = "item"
	}
	item, hint := r.Item, r.Hint
	if r.Task.NoLog {
		item, hint = "", ""
	}
	pos := source.Pos{}
	if r.Status == event.Failed || r.Status == event.Unreachable {
		pos = r.Pos
	}
	e.write(kind, "host", r.Host, "delegated_to", r.Delegated, "task", taskDoc(r.Task), "status", statusName(r.Status),
		"changed", r.Changed, "ignored", r.Ignored, "item", item, "start", e.known(r.Start), "end", e.known(r.End),
		"path", pos.String(), "hint", hint, "result", visibleKeys(r))
}

func (e *Events) known(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return e.time(t)
}

// statusName is how a status is written in JSON.
func statusName(s event.Status) string {
	switch s {
	case event.OK:
		return "ok"
	case event.Failed:
		return "failed"
	case event.Skipped:
		return "skipped"
	}
	return "unreachable"
}

// Notified writes notified.
func (e *Events) Notified(host, handler string) {
	e.write("notified", "host", host, "handler", handler)
}

// Warning writes warning.
func (e *Events) Warning(msg string, pos source.Pos) {
	e.write("warning", "msg", msg, "path", pos.String())
}

// Deprecated writes deprecated.
func (e *Events) Deprecated(msg, version string, pos source.Pos) {
	e.write("deprecated", "msg", msg, "version", version, "path", pos.String())
}

// Verbose writes nothing: such words are for people.
func (e *Events) Verbose(int, string, string) {}

// Say writes say.
func (e *Events) Say(msg string) { e.write("say", "msg", msg) }

// VarsPrompt writes vars_prompt.
func (e *Events) VarsPrompt(name, _ string) { e.write("vars_prompt", "name", name) }

// Stats writes stats.
func (e *Events) Stats(hosts []string, counts map[string]event.Counts, custom *value.Dict) {
	stats := value.NewDict()
	for _, h := range hosts {
		stats.Set(h, countsDoc(counts[h]))
	}
	if custom.Len() == 0 {
		custom = nil
	}
	e.write("stats", "stats", stats, "custom", custom)
}

func taskDoc(t *event.Task) *value.Dict { return value.DictOf("id", t.ID, "name", t.Name) }

func textList(items []string) *value.List {
	l := value.NewList()
	for _, item := range items {
		l.Append(item)
	}
	return l
}
