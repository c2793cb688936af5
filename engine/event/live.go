package event

import "time"

// Expectations tell how long things took in earlier runs.
type Expectations interface {
	// Expected is how long a task, by its name as shown, of a playbook took from
	// its first host's start to its last host's end; with task "" how long the
	// playbook took. It is 0 where that is not known. It is called from a run's
	// own goroutines and must answer at once.
	Expected(playbook, task string) time.Duration
}

// Liner is what a Sink may be besides: it is told the lines that a task's
// command prints on a host while it runs. They are raw, and never told of a
// no_log task.
type Liner interface {
	Line(host string, t *Task, text string)
}

// Line tells the sinks that are Liners.
func (l *locked) Line(host string, t *Task, text string) {
	l.do(func(s Sink) {
		if liner, ok := s.(Liner); ok {
			liner.Line(host, t, text)
		}
	})
}

var _ Liner = (*locked)(nil)
