package output

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"play/engine/event"
	"play/engine/source"
	"play/modules/value"
)

// Default is ansible-playbook's own look.
type Default struct {
	words
	banners  string // the id of the task whose banner came last
	failures failures
}

var _ event.Sink = (*Default)(nil)

// NewDefault returns the default output.
func NewDefault(o Options) *Default { return &Default{words: newWords(o)} }

// PlaybookStart shows the playbook's name with -vv, the arguments with -vvvv.
func (d *Default) PlaybookStart(path string) {
	defer d.flush()
	if d.Verbosity > 1 {
		d.banner("PLAYBOOK: " + filepath.Base(path))
	}
	d.arguments()
	if d.Check && d.CheckMarkers {
		d.banner("DRY RUN")
	}
}

// arguments shows the command line with -vvvv.
func (s *screen) arguments() {
	if s.Verbosity < 4 {
		return
	}
	if s.Positional != "" {
		s.line("Positional arguments: "+s.Positional, s.Colors.Verbose)
	}
	for _, a := range s.Arguments {
		s.line(a, s.Colors.Verbose)
	}
}

// PlayStart shows the play's banner.
func (d *Default) PlayStart(p *event.Play) {
	defer d.flush()
	text := "PLAY"
	if name := strings.TrimSpace(p.Name); name != "" {
		text += " [" + name + "]"
	}
	d.banner(text + d.checkMark(p.Check))
}

func (d *Default) checkMark(check bool) string {
	if check && d.CheckMarkers {
		return " [CHECK MODE]"
	}
	return ""
}

// NoHosts tells that the play has no hosts.
func (d *Default) NoHosts() {
	defer d.flush()
	d.line("skipping: no hosts matched", d.Colors.Skip)
}

// NoHostsLeft tells that every host of the play has failed.
func (d *Default) NoHostsLeft() {
	defer d.flush()
	d.banner("NO MORE HOSTS LEFT")
}

// TaskStart shows the task's banner, unless that waits for a result that is
// shown.
func (d *Default) TaskStart(t *event.Task) {
	defer d.flush()
	if d.HideOK || d.HideSkipped || t.Free {
		return
	}
	d.taskBanner(t)
}

func (d *Default) taskBanner(t *event.Task) {
	kind, args := "TASK", ""
	if t.Handler {
		kind = "RUNNING HANDLER"
	}
	if t.Args != "" && !t.NoLog {
		args = " " + t.Args
	}
	d.banner(kind + " [" + strings.TrimSpace(t.Name) + args + "]" + d.checkMark(t.Check))
	if d.Verbosity > 1 {
		d.taskPath(t)
	}
	d.banners = t.ID
}

// underBanner sees to it that the line to come stands under its task's banner.
func (d *Default) underBanner(t *event.Task) {
	if d.banners != t.ID {
		d.taskBanner(t)
	}
}

func (d *Default) taskPath(t *event.Task) {
	if !t.Pos.IsZero() {
		d.line("task path: "+linePath(t.Pos), d.Colors.Debug)
	}
}

// linePath names a file and line.
func linePath(p source.Pos) string { return p.File + ":" + strconv.Itoa(p.Line) }

// Included tells which file was included for which hosts.
func (d *Default) Included(_ *event.Task, file string, hosts []string, label string) {
	defer d.flush()
	text := "included: " + printable(file) + " for " + printable(strings.Join(hosts, ", "))
	if label != "" {
		text += " => (item=" + printable(label) + ")"
	}
	d.line(text, d.Colors.Skip)
}

// HostStart tells that a host begins a task, when asked for.
func (d *Default) HostStart(host string, t *event.Task) {
	if !d.HostStarts {
		return
	}
	defer d.flush()
	kind := "TASK"
	if t.Handler {
		kind = "HANDLER"
	}
	d.line(fmt.Sprintf(" [started %s: %s on %s]", kind, printable(t.Name), printable(host)), d.Colors.OK)
}

// Async tells how a job is faring.
func (d *Default) Async(a *event.Async) {
	defer d.flush()
	host := printable(a.Host)
	switch a.State {
	case event.AsyncRunning:
		d.line(fmt.Sprintf("ASYNC POLL on %s: jid=%s started=1 finished=0", host, printable(a.JID)), d.Colors.Debug)
	case event.AsyncOK:
		d.line(fmt.Sprintf("ASYNC OK on %s: jid=%s", host, printable(a.JID)), d.Colors.Debug)
	case event.AsyncFailed:
		d.line(fmt.Sprintf("ASYNC FAILED on %s: jid=%s", host, printable(a.JID)), d.Colors.Debug)
	}
}

// Notified tells with -vv that a handler will run.
func (d *Default) Notified(host, handler string) {
	if d.Verbosity < 2 {
		return
	}
	defer d.flush()
	d.line("NOTIFIED HANDLER "+printable(handler)+" for "+printable(host), d.Colors.Verbose)
}

// Stats shows the recap.
func (d *Default) Stats(hosts []string, counts map[string]event.Counts, custom *value.Dict) {
	defer d.flush()
	d.banner("PLAY RECAP")
	for _, h := range hosts {
		d.line(d.recapLine(h, counts[h]), "")
	}
	d.line("", "")
	if d.CustomStats && custom.Len() > 0 {
		d.customStats(custom)
	}
	if d.Check && d.CheckMarkers {
		d.banner("DRY RUN")
	}
	if d.Summary {
		d.failures.show(&d.screen)
	}
}
