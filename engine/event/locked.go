package event

import (
	"sync"

	"play/engine/source"
	"play/modules/value"
)

// Locked returns a Sink that is safe for concurrent use: it tells every sink, in
// the given order, one event at a time. A sink that blocks blocks the run.
func Locked(sinks ...Sink) Sink { return &locked{sinks: sinks} }

type locked struct {
	mu    sync.Mutex
	sinks []Sink
}

func (l *locked) do(f func(Sink)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sinks {
		f(s)
	}
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
	l.do(func(s Sink) { s.Warning(msg, pos) })
}

func (l *locked) Deprecated(msg, version string, pos source.Pos) {
	l.do(func(s Sink) { s.Deprecated(msg, version, pos) })
}

func (l *locked) Verbose(level int, host, msg string) {
	l.do(func(s Sink) { s.Verbose(level, host, msg) })
}

func (l *locked) Stats(hosts []string, counts map[string]Counts, custom *value.Dict) {
	l.do(func(s Sink) { s.Stats(hosts, counts, custom) })
}

func (l *locked) Say(msg string) { l.do(func(s Sink) { s.Say(msg) }) }
