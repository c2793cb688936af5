package history

import (
	"path/filepath"
	"time"

	"play/engine/event"
	"play/modules/value"
)

// About is what is known of a run before it begins.
type About struct {
	Kind    string
	Version string // of play
	User    string
	Dir     string // the working directory
	Options Options
	// Mask takes what is secret out of a text, in the writer's goroutine; nil
	// leaves texts as they are.
	Mask func(string) string
	Now  func() time.Time // nil: time.Now
}

// Recorder is a Sink that keeps a run. It takes events in without waiting for
// the disk; one goroutine of its own, which begins with the first playbook and
// ends in Close, writes them. A process that is killed leaves the run
// unfinished in the history.
type Recorder struct {
	event.Nop
	about About
	w     *writer
	start time.Time

	playbook string
	hosts    map[string]int
	plays    int
	tasks    map[*event.Task]int
	byID     map[string]int // of the present playbook
	nTasks   int
	items    map[itemKey][]pendingItem
	totals   map[string]Counts
}

type itemKey struct {
	host string
	task int
}

var _ event.Sink = (*Recorder)(nil)

// NewRecorder returns a recorder into the history at path, which is opened, and
// made, when the first playbook begins.
func NewRecorder(path string, about About) *Recorder {
	if about.Now == nil {
		about.Now = time.Now
	}
	if about.Mask == nil {
		about.Mask = func(text string) string { return text }
	}
	return &Recorder{about: about, w: newWriter(path, about), hosts: map[string]int{}, items: map[itemKey][]pendingItem{}, totals: map[string]Counts{}}
}

// PlaybookStart begins the run, or its next playbook.
func (r *Recorder) PlaybookStart(path string) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	r.playbook, r.byID, r.tasks = path, map[string]int{}, map[*event.Task]int{}
	if r.start.IsZero() {
		r.start = r.about.Now()
		r.w.begin(r.start)
	}
}

// PlayStart keeps a play.
func (r *Recorder) PlayStart(p *event.Play) {
	n, playbook, name, place := r.plays, r.playbook, p.Name, p.Pos.String()
	r.w.do(func(b *batch) error { return b.play(n, playbook, name, place) })
	r.plays++
	for _, h := range p.Hosts {
		r.host(h)
	}
}

// host numbers a host.
func (r *Recorder) host(name string) int {
	n, ok := r.hosts[name]
	if !ok {
		n = len(r.hosts)
		r.hosts[name] = n
		r.w.do(func(b *batch) error { return b.host(n, name) })
	}
	return n
}

// TaskStart keeps a task.
func (r *Recorder) TaskStart(t *event.Task) { r.task(t) }

// task numbers a task and keeps it when it is new.
func (r *Recorder) task(t *event.Task) int {
	if n, ok := r.tasks[t]; ok {
		return n
	}
	n, ok := r.byID[t.ID]
	if !ok {
		n = r.nTasks
		r.nTasks++
		r.byID[t.ID] = n
		play, began := max(0, r.plays-1), r.about.Now().Sub(r.start)
		r.w.do(func(b *batch) error { return b.task(n, play, t, began) })
	}
	r.tasks[t] = n
	return n
}

// Result keeps a result; items are kept with their task's.
func (r *Recorder) Result(res *event.Result) {
	if res.Retrying {
		return
	}
	n := r.task(res.Task)
	key := itemKey{res.Host, n}
	if res.IsItem {
		if it, ok := itemOf(res); ok && len(r.items[key]) < maxItems {
			r.items[key] = append(r.items[key], it)
		}
		return
	}
	p := &pending{task: n, host: r.host(res.Host), status: statusOf(res), start: res.Start.Sub(r.start), took: res.End.Sub(res.Start),
		detail: detailOf(res), items: r.items[key]}
	if res.Start.IsZero() {
		p.start, p.took = r.about.Now().Sub(r.start), 0
	}
	delete(r.items, key)
	r.w.do(func(b *batch) error { return b.result(p) })
}

// Stats keeps the recap; of several playbooks each is the sum so far.
func (r *Recorder) Stats(hosts []string, counts map[string]event.Counts, _ *value.Dict) {
	for _, h := range hosts {
		r.totals[h] = countsOf(counts[h])
		r.host(h)
	}
}

// End is how a run ended.
type End struct {
	Code     int
	Keep     Retention
	Findings []Finding // of a drift run
	Examined []string  // the hosts whose findings are complete
}

// Close writes what is left, ends the run and forgets runs that are too old. It
// returns the run's number, 0 when no playbook began or nothing could be kept.
func (r *Recorder) Close(e End) (int64, error) {
	if r.start.IsZero() {
		return 0, nil
	}
	return r.w.finish(e, r.hosts, r.totals)
}

// statusOf is how a result counts.
func statusOf(r *event.Result) Status {
	switch {
	case r.Status == event.Failed && r.Ignored, r.Status == event.Unreachable && r.Ignored:
		return Ignored
	case r.Status == event.Failed:
		return Failed
	case r.Status == event.Unreachable:
		return Unreachable
	case r.Status == event.Skipped:
		return Skipped
	case r.Changed:
		return Changed
	}
	return OK
}
