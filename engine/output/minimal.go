package output

import (
	"fmt"

	"play/engine/event"
	"play/modules/value"
)

// Minimal is ansible's own look for ad-hoc commands: only results, a command's
// output as it came.
type Minimal struct{ words }

var _ event.Sink = (*Minimal)(nil)

// NewMinimal returns the minimal output.
func NewMinimal(o Options) *Minimal { return &Minimal{newWords(o)} }

// Result shows how a task ended on a host; items and retries are not shown.
func (m *Minimal) Result(r *event.Result) {
	if r.IsItem || r.Retrying {
		return
	}
	defer m.flush()
	host, res := printable(r.Host), shown(r)
	switch r.Status {
	case event.Skipped:
		m.line(host+" | SKIPPED", m.Colors.Skip)
	case event.Unreachable:
		m.line(host+" | UNREACHABLE! => "+m.dumpIndented(res), m.Colors.Unreachable)
	case event.Failed:
		m.exception(res)
		m.resultWarnings(res)
		if _, broken := res.Get("module_stderr"); isCommand(r.Task) && !broken {
			m.line(commandText(host, "FAILED", res), m.Colors.Error)
			return
		}
		m.line(host+" | FAILED! => "+m.dumpIndented(res), m.Colors.Error)
	case event.OK:
		m.diff(r)
		m.resultWarnings(res)
		m.ok(r, host, res)
	}
}

func (m *Minimal) ok(r *event.Result, host string, res *value.Dict) {
	state, color := "SUCCESS", m.Colors.OK
	if r.Changed && !isDebug(r.Task) {
		state, color = "CHANGED", m.Colors.Changed
	}
	if _, job := res.Get("ansible_job_id"); isCommand(r.Task) && !job {
		m.line(commandText(host, state, res), color)
		return
	}
	m.line(host+" | "+state+" => "+m.dumpIndented(res), color)
}

func (m *Minimal) diff(r *event.Result) {
	if !r.Task.Diff || r.Task.NoLog {
		return
	}
	if diff, ok := r.Result.Get("diff"); ok {
		m.line(m.diffText(diff), "")
	}
}

func (s *screen) dumpIndented(res *value.Dict) string {
	s.trim(res)
	return toJSON(res, 4)
}

// isCommand reports whether a task's output matters more than its result.
func isCommand(t *event.Task) bool {
	switch bareAction(t) {
	case "command", "shell", "raw", "script", "win_command", "win_shell":
		return true
	}
	return false
}

// commandText is a command's output under a line with its exit status.
func commandText(host, state string, res *value.Dict) string {
	return fmt.Sprintf("%s | %s | rc=%d >>\n", host, state, exitStatus(res)) +
		visible(textOf(res, "stdout")+textOf(res, "stderr")+textOf(res, "msg")) + "\n"
}

// exitStatus is a command's "rc"; -1 when there is none.
func exitStatus(res *value.Dict) int {
	if v, _ := res.Get("rc"); v != nil {
		return intOf(res, "rc")
	}
	return -1
}
