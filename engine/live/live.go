// Package live shows how a run fares in a few lines at the foot of a terminal,
// under the results that scroll by. Flowing in: the events of package event,
// and the text that outputs write. Flowing out: that text as it came, and
// under it the status block, drawn anew when something changes. The command
// line uses it on a terminal only. It never changes, delays or holds back a
// byte of what scrolls, decides nothing about the run, and shows nothing of
// what a no_log task prints.
package live

import (
	"sync"
	"time"

	"play/engine/event"
	"play/engine/output"
	"play/modules/value"
)

// Options are how a View looks.
type Options struct {
	Color bool
	ASCII bool // the terminal's locale is not UTF-8
	// Lines tells that running commands' last lines are shown.
	Lines    bool
	Now      func() time.Time   // nil means time.Now
	Expected event.Expectations // nil: nothing is known of earlier runs
}

// View gathers what a status block shows. Its methods may be called from
// several goroutines.
type View struct {
	event.Nop
	o  Options
	mu sync.Mutex

	book    string
	begun   time.Time // of the playbook; zero before and after it
	play    string
	planned int // tasks of the play
	number  int // of the present task
	hosts   int // of the batch
	task    *event.Task
	taskAt  time.Time
	done    int               // hosts that are through with the task; tasks when hosts run free
	failed  map[string]string // the hosts that failed in the play, and in which task
	running map[string]*running
}

// running is what one host is at.
type running struct {
	host  string
	task  *event.Task
	since time.Time
	line  string
}

var (
	_ event.Sink  = (*View)(nil)
	_ event.Liner = (*View)(nil)
)

// NewView returns a view of a run that has not begun.
func NewView(o Options) *View {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &View{o: o, failed: map[string]string{}, running: map[string]*running{}}
}

// PlaybookStart begins the clock.
func (v *View) PlaybookStart(path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.book, v.begun, v.task = path, v.o.Now(), nil
}

// PlayStart begins a play, or its next batch of hosts.
func (v *View) PlayStart(p *event.Play) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.play, v.planned, v.hosts = p.Name, p.Tasks, len(p.Hosts)
	v.number, v.done, v.task = 0, 0, nil
	clear(v.failed)
	clear(v.running)
}

// TaskStart begins a task.
func (v *View) TaskStart(t *event.Task) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !t.Handler {
		v.number++
	}
	if !t.Free {
		v.done = 0
		clear(v.running)
	}
	v.task, v.taskAt = t, v.o.Now()
}

// HostStart notes that a host is at a task.
func (v *View) HostStart(host string, t *event.Task) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.failed, host) // it was rescued
	v.running[host] = &running{host: host, task: t, since: v.o.Now()}
}

// Line notes a line that a running command printed.
func (v *View) Line(host string, t *event.Task, text string) {
	if !v.o.Lines || t.NoLog {
		return
	}
	line := plain(text)
	v.mu.Lock()
	defer v.mu.Unlock()
	if r := v.running[host]; r != nil && r.task.ID == t.ID && line != "" {
		r.line = line
	}
}

// Result notes that a host is through with a task.
func (v *View) Result(r *event.Result) {
	if r.IsItem || r.Retrying {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done++
	delete(v.running, r.Host)
	if (r.Status == event.Failed || r.Status == event.Unreachable) && !r.Ignored {
		v.failed[r.Host] = r.Task.ID
	}
}

// Stats ends a playbook: there is nothing more to show.
func (v *View) Stats([]string, map[string]event.Counts, *value.Dict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.begun, v.task = time.Time{}, nil
}

// plain is the last thing that a line leaves on a terminal, as text that steers
// nothing.
func plain(text string) string { return output.Printable(lastWritten(withoutEscapes(text))) }
