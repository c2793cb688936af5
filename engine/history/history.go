// Package history keeps what runs did. Flowing in: the events of a run, from
// which a Recorder makes rows of an SQLite database, in its own time, beside
// the run. Flowing out: runs as values, for lists, comparisons, reports,
// expected durations and the drift of earlier nights. The command line opens
// it; nothing on a target does. It never stops or slows a run: what cannot be
// kept is told once, at the end. It keeps no variables and no arguments, of
// results only what a person was shown, and nothing of a no_log task but how it
// ended.
package history

import (
	"time"

	"play/engine/event"
)

// Kinds of runs.
const (
	KindRun   = "run"
	KindDrift = "drift"
)

// Options are what is kept of a command line. Extra variables are not: they may
// hold secrets.
type Options struct {
	Playbooks []string `json:"playbooks"` // absolute
	Limit     string   `json:"limit,omitempty"`
	Tags      []string `json:"tags,omitempty"`
	SkipTags  []string `json:"skip_tags,omitempty"`
	Check     bool     `json:"check,omitempty"`
	Diff      bool     `json:"diff,omitempty"`
	Inventory []string `json:"inventory,omitempty"`
	StartAt   string   `json:"start_at_task,omitempty"`
}

// Summary is one run in a list.
type Summary struct {
	ID      int64     `json:"id"`
	Kind    string    `json:"kind"`
	Version string    `json:"play_version,omitempty"`
	User    string    `json:"user,omitempty"`
	Dir     string    `json:"dir"`
	Options Options   `json:"options"`
	Start   time.Time `json:"start"`
	End     time.Time `json:"end,omitzero"` // zero: it runs, or was ended by force
	Code    int       `json:"exit_code"`
	Hosts   int       `json:"hosts"`
	// Total is the recap of all hosts together.
	Total Counts `json:"total"`
}

// Finished tells whether the run came to its end.
func (s *Summary) Finished() bool { return !s.End.IsZero() }

// Took is how long the run lasted; 0 when it did not come to its end.
func (s *Summary) Took() time.Duration {
	if !s.Finished() {
		return 0
	}
	return s.End.Sub(s.Start)
}

// Counts are the numbers of a recap.
type Counts struct {
	OK          int `json:"ok"`
	Changed     int `json:"changed"`
	Unreachable int `json:"unreachable"`
	Failed      int `json:"failed"`
	Skipped     int `json:"skipped"`
	Rescued     int `json:"rescued"`
	Ignored     int `json:"ignored"`
}

func countsOf(c event.Counts) Counts {
	return Counts{c.OK, c.Changed, c.Unreachable, c.Failed, c.Skipped, c.Rescued, c.Ignored}
}

// Run is all that is kept of a run. Tasks name their play, and results their
// task and host, by index.
type Run struct {
	Summary
	Hosts    []Host    `json:"hosts"`
	Plays    []Play    `json:"plays"`
	Tasks    []Task    `json:"tasks"`
	Results  []Result  `json:"results"` // by task, then host
	Findings []Finding `json:"findings,omitempty"`
}

// Host is a host and its line of the recap.
type Host struct {
	Name string `json:"name"`
	Counts
}

// Play is a play of one of the run's playbooks.
type Play struct {
	Playbook string `json:"playbook"`
	Name     string `json:"name"`
	Place    string `json:"place,omitempty"` // file:line:column
}

// Task is a task as it came up in the run.
type Task struct {
	Play    int           `json:"play"`
	Name    string        `json:"name"`
	Action  string        `json:"action"`
	Place   string        `json:"place,omitempty"`
	Handler bool          `json:"handler,omitempty"`
	NoLog   bool          `json:"no_log,omitempty"`
	Start   time.Duration `json:"start"` // since the run's start, in nanoseconds
	Took    time.Duration `json:"took"`  // from the first host's start to the last one's end
}

// Status is how a task ended on a host.
type Status string

// The statuses; Changed is an OK that changed something.
const (
	OK          Status = "ok"
	Changed     Status = "changed"
	Failed      Status = "failed"
	Ignored     Status = "ignored" // failed or unreachable, and ignored
	Skipped     Status = "skipped"
	Unreachable Status = "unreachable"
)

// statuses are the statuses by their number in the database.
var statuses = []Status{OK, Changed, Failed, Ignored, Skipped, Unreachable}

// Result is how one task ended on one host.
type Result struct {
	Task   int           `json:"task"`
	Host   int           `json:"host"`
	Status Status        `json:"status"`
	Start  time.Duration `json:"start"` // since the run's start, in nanoseconds
	Took   time.Duration `json:"took"`
	Detail *Detail       `json:"detail,omitempty"` // nil: nothing was worth keeping
}

// Detail is what a person was shown of a result, each text cut to a size.
type Detail struct {
	Msg       string `json:"msg,omitempty"`
	RC        *int   `json:"rc,omitempty"`
	Stdout    string `json:"stdout,omitempty"`
	Stderr    string `json:"stderr,omitempty"`
	Path      string `json:"path,omitempty"` // of the file that it is about
	Diff      string `json:"diff,omitempty"` // in unified form
	Hint      string `json:"hint,omitempty"`
	Place     string `json:"place,omitempty"` // of a failure, when it is another than the task's
	Delegated string `json:"delegated_to,omitempty"`
	Attempts  int    `json:"attempts,omitempty"`
	Items     []Item `json:"items,omitempty"` // of a loop, those that changed something or failed
}

// Item is how one item of a loop ended.
type Item struct {
	Label  string `json:"item"`
	Status Status `json:"status"`
	Detail
}

// Finding is something that the run found to have drifted, or could not tell.
type Finding struct {
	Host   string    `json:"host"`
	Task   string    `json:"task"`
	Item   string    `json:"item,omitempty"`
	Path   string    `json:"path,omitempty"`
	Kind   string    `json:"kind"`
	First  time.Time `json:"first_seen"`
	Place  string    `json:"place,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Diff   string    `json:"diff,omitempty"`
}
