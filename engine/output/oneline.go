package output

import (
	"fmt"
	"strings"

	"play/engine/event"
	"play/modules/value"
)

// Oneline shows each result in one line (ansible -o).
type Oneline struct{ words }

var _ event.Sink = (*Oneline)(nil)

// NewOneline returns the oneline output.
func NewOneline(o Options) *Oneline { return &Oneline{newWords(o)} }

// Result shows how a task ended on a host; items and retries are not shown.
func (o *Oneline) Result(r *event.Result) {
	if r.IsItem || r.Retrying {
		return
	}
	defer o.flush()
	host, res := printable(r.Host), visibleKeys(r)
	switch r.Status {
	case event.Skipped:
		o.line(host+" | SKIPPED", o.Colors.Skip)
	case event.Unreachable:
		o.line(host+" | UNREACHABLE!: "+visible(textOf(res, "msg")), o.Colors.Unreachable)
	case event.Failed:
		o.exception(res)
		o.line(host+" | FAILED! => "+o.dumpLine(r, res), o.Colors.Error)
	case event.OK:
		o.ok(r, host, res)
	}
}

func (o *Oneline) ok(r *event.Result, host string, res *value.Dict) {
	state, color := "SUCCESS", o.Colors.OK
	if r.Changed {
		state, color = "CHANGED", o.Colors.Changed
	}
	if _, job := res.Get("ansible_job_id"); isCommand(r.Task) && !job {
		o.line(commandLine(host, state, res), color)
		return
	}
	o.line(host+" | "+state+" => "+o.dumpLine(r, res), color)
}

// exception tells of the exception in a result in one line.
func (o *Oneline) exception(res *value.Dict) {
	if text := textOf(res, "exception"); text != "" && o.Verbosity > 2 {
		o.line("An exception occurred during task execution. The full traceback is:\n"+
			visible(strings.ReplaceAll(text, "\n", "")), o.Colors.Error)
		return
	}
	o.words.exception(res)
}

// dumpLine prints a result as JSON of several lines without their newlines.
func (o *Oneline) dumpLine(r *event.Result, res *value.Dict) string {
	o.trim(res)
	indent := ""
	if o.Verbosity > 2 || verboseAlways(r) {
		indent = "    "
	}
	return strings.ReplaceAll(linesJSON(res, indent), "\n", "")
}

// commandLine is a command's output with its newlines escaped.
func commandLine(host, state string, res *value.Dict) string {
	escape := strings.NewReplacer("\n", `\n`, "\r", `\r`)
	text := fmt.Sprintf("%s | %s | rc=%d | (stdout) %s", host, state, exitStatus(res), visible(escape.Replace(textOf(res, "stdout"))))
	if stderr := textOf(res, "stderr"); stderr != "" {
		text += " (stderr) " + visible(escape.Replace(stderr))
	}
	return text
}
