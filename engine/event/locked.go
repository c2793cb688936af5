package event

import (
	"sync"

	"play/engine/source"
	"play/modules/value"
)

// Locked returns a Sink that is safe for concurrent use: it tells every sink, in
// the given order, one event at a time. A sink that blocks blocks the run. A
// warning, or another word about the run itself, that is given while an event is
// told comes right after that event: who gives it never waits, for it may be what
// a sink asked for.
func Locked(sinks ...Sink) Sink { return &locked{sinks: sinks} }

type locked struct {
	mu    sync.Mutex
	sinks []Sink

	asideMu sync.Mutex
	telling bool
	later   []func(Sink)
}

func (l *locked) do(f func(Sink)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asideMu.Lock()
	l.telling = true
	l.asideMu.Unlock()
	for f != nil {
		for _, s := range l.sinks {
			f(s)
		}
		f = l.next()
	}
}

// next takes what was said meanwhile; nil: nothing, and the telling ends.
func (l *locked) next() func(Sink) {
	l.asideMu.Lock()
	defer l.asideMu.Unlock()
	if len(l.later) == 0 {
		l.telling = false
		return nil
	}
	f := l.later[0]
	l.later = l.later[1:]
	return f
}

// aside tells the sinks now, or after what they are being told.
func (l *locked) aside(f func(Sink)) {
	l.asideMu.Lock()
	if l.telling {
		l.later = append(l.later, f)
		l.asideMu.Unlock()
		return
	}
	l.asideMu.Unlock()
	l.do(f)
}

func (l *locked) PlaybookStart(path string)      { l.do(func(s Sink) { s.PlaybookStart(path) }) }
func (l *locked) PlayStart(p *Play)              { l.do(func(s Sink) { s.PlayStart(p) }) }
func (l *locked) NoHosts()                       { l.do(func(s Sink) { s.NoHosts() }) }
func (l *locked) NoHostsLeft()                   { l.do(func(s Sink) { s.NoHostsLeft() }) }
func (l *locked) TaskStart(t *Task)              { l.do(func(s Sink) { s.TaskStart(t) }) }
func (l *locked) HostStart(host string, t *Task) { l.do(func(s Sink) { s.HostStart(host, t) }) }
func (l *locked) Async(a *Async)                 { l.do(func(s Sink) { s.Async(a) }) }
func (l *locked) Result(r *Result)               { l.do(func(s Sink) { s.Result(r) }) }
func (l *locked) Notified(host, handler string)  { l.do(func(s Sink) { s.Notified(host, handler) }) }
func (l *locked) VarsPrompt(name, prompt string) {
	l.do(func(s Sink) { s.VarsPrompt(name, prompt) })
}

func (l *locked) Included(t *Task, file string, hosts []string, label string) {
	l.do(func(s Sink) { s.Included(t, file, hosts, label) })
}

func (l *locked) Warning(msg string, pos source.Pos) {
	l.aside(func(s Sink) { s.Warning(msg, pos) })
}

func (l *locked) Deprecated(msg, version string, pos source.Pos) {
	l.aside(func(s Sink) { s.Deprecated(msg, version, pos) })
}

func (l *locked) Verbose(level int, host, msg string) {
	l.aside(func(s Sink) { s.Verbose(level, host, msg) })
}

func (l *locked) Stats(hosts []string, counts map[string]Counts, custom *value.Dict) {
	l.do(func(s Sink) { s.Stats(hosts, counts, custom) })
}

func (l *locked) Say(msg string) { l.aside(func(s Sink) { s.Say(msg) }) }
