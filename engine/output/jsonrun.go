package output

import (
	"time"

	"play/engine/event"
	"play/modules/value"
)

// JSON prints one document about the whole run when it is over, in the shape of
// the callback ansible.posix.json, and nothing else on Out.
type JSON struct {
	words
	plays []*jsonPlay
	tasks map[string]*jsonTask // by id, of the present play
}

// span is when a play or task began and last told of a result.
type span struct{ start, end time.Time }

type jsonPlay struct {
	*event.Play
	span
	tasks []*jsonTask
}

type jsonTask struct {
	*event.Task
	span
	hosts *value.Dict
}

var _ event.Sink = (*JSON)(nil)

// NewJSON returns the json output.
func NewJSON(o Options) *JSON {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &JSON{words: newWords(o)}
}

// PlayStart begins a play.
func (j *JSON) PlayStart(p *event.Play) {
	now := j.Now()
	j.plays = append(j.plays, &jsonPlay{Play: p, span: span{now, now}})
	j.tasks = map[string]*jsonTask{}
}

// TaskStart begins a task.
func (j *JSON) TaskStart(t *event.Task) { j.task(t) }

// task returns the document's task, begun now when it is new.
func (j *JSON) task(t *event.Task) *jsonTask {
	if len(j.plays) == 0 {
		j.PlayStart(&event.Play{})
	}
	if known := j.tasks[t.ID]; known != nil {
		return known
	}
	now := j.Now()
	task := &jsonTask{Task: t, span: span{now, now}, hosts: value.NewDict()}
	j.tasks[t.ID] = task
	play := j.plays[len(j.plays)-1]
	play.tasks = append(play.tasks, task)
	return task
}

// Result adds how a task ended on a host; the items of a loop stand in their
// task's result.
func (j *JSON) Result(r *event.Result) {
	if r.IsItem || r.Retrying {
		return
	}
	task := j.task(r.Task)
	res := visibleKeys(r)
	res.Set("action", bareAction(r.Task))
	switch r.Status {
	case event.Failed:
		res.Set("failed", true)
	case event.Skipped:
		res.Set("skipped", true)
	case event.Unreachable:
		res.Set("unreachable", true)
	}
	task.hosts.Set(r.Host, res)
	task.end = j.Now()
	j.plays[len(j.plays)-1].end = task.end
}

// Say does nothing: nobody is watching.
func (j *JSON) Say(string) {}

// Verbose does nothing: only the document goes to Out.
func (j *JSON) Verbose(int, string, string) {}

// Stats prints the document.
func (j *JSON) Stats(hosts []string, counts map[string]event.Counts, custom *value.Dict) {
	defer j.flush()
	perHost, global := value.NewDict(), any(value.NewDict())
	if !j.CustomStats {
		custom = nil
	}
	for k, v := range custom.All() {
		if k == "_run" {
			global = v
			continue
		}
		_ = perHost.SetKey(k, v) // it was a key before
	}
	plays := value.NewList()
	for _, p := range j.plays {
		plays.Append(p.doc())
	}
	stats := value.NewDict()
	for _, h := range hosts {
		stats.Set(h, countsDoc(counts[h]))
	}
	j.line(toJSON(value.DictOf("custom_stats", perHost, "global_custom_stats", global, "plays", plays, "stats", stats), 4), "")
}

func (p *jsonPlay) doc() *value.Dict {
	tasks := value.NewList()
	for _, t := range p.tasks {
		tasks.Append(t.doc())
	}
	play := value.DictOf("name", p.Name, "id", p.ID, "duration", p.span.doc())
	if !p.Pos.IsZero() {
		play.Set("path", linePath(p.Pos))
	}
	return value.DictOf("play", play, "tasks", tasks)
}

func (t *jsonTask) doc() *value.Dict {
	task := value.DictOf("name", t.Name, "id", t.ID, "duration", t.span.doc())
	if !t.Pos.IsZero() {
		task.Set("path", linePath(t.Pos))
	}
	return value.DictOf("task", task, "hosts", t.hosts)
}

func (s span) doc() *value.Dict {
	const form = "2006-01-02T15:04:05.000000Z"
	return value.DictOf("start", s.start.UTC().Format(form), "end", s.end.UTC().Format(form))
}

func countsDoc(c event.Counts) *value.Dict {
	return value.DictOf("ok", c.OK, "failures", c.Failed, "unreachable", c.Unreachable, "changed", c.Changed,
		"skipped", c.Skipped, "rescued", c.Rescued, "ignored", c.Ignored)
}
