package output

import (
	"fmt"
	"path/filepath"
	"strings"

	"play/engine/event"
	"play/modules/value"
)

// Unixy is the output community.general.unixy: short lines like those of a
// system that starts.
type Unixy struct{ words }

var _ event.Sink = (*Unixy)(nil)

// NewUnixy returns the unixy output.
func NewUnixy(o Options) *Unixy { return &Unixy{newWords(o)} }

// PlaybookStart names the playbook, and the arguments with -vvvv.
func (u *Unixy) PlaybookStart(path string) {
	defer u.flush()
	u.line("Executing playbook "+filepath.Base(path), "")
	u.arguments()
}

// PlayStart names the play and its hosts.
func (u *Unixy) PlayStart(p *event.Play) {
	defer u.flush()
	if name := strings.TrimSpace(printable(p.Name)); name != "" {
		u.line("\n- "+name+" on hosts: "+printable(p.Pattern)+" -", "")
		return
	}
	u.line("---", "")
}

// TaskStart names the task without its role, unless it includes others.
func (u *Unixy) TaskStart(t *event.Task) {
	defer u.flush()
	parts := strings.Split(strings.TrimSpace(printable(t.Name)), " : ")
	name := parts[len(parts)-1]
	switch {
	case strings.HasPrefix(name, "include"):
	case t.Handler:
		u.line(name+" (via handler)... ", "")
	default:
		u.line(name+"...", "")
	}
}

// NoHosts tells that the play has no hosts.
func (u *Unixy) NoHosts() {
	defer u.flush()
	u.line("  No hosts found!", u.Colors.Debug)
}

// NoHostsLeft tells that every host of the play has failed.
func (u *Unixy) NoHostsLeft() {
	defer u.flush()
	u.line("  Ran out of hosts!", u.Colors.Error)
}

// Result shows how a task or one of its items ended on a host.
func (u *Unixy) Result(r *event.Result) {
	defer u.flush()
	if r.Retrying {
		u.retry(r)
		return
	}
	if r.Status == event.OK {
		u.diff(r)
	}
	if r.Status == event.Skipped && u.HideSkipped || r.Status == event.OK && !r.Changed && u.HideOK {
		return
	}
	word, color := u.word(r)
	res := visibleKeys(r)
	u.exception(res)
	u.resultWarnings(res)
	text := "  " + u.text(r, res, word)
	if r.Status == event.Failed || r.Status == event.Unreachable {
		u.failLine(text, color)
		return
	}
	u.line(text, color)
}

// word is how a result is called, and its colour.
func (u *Unixy) word(r *event.Result) (word, color string) {
	item := ""
	if label := itemLabel(r); r.IsItem && label != "" {
		item = " | item: " + label
	}
	switch {
	case r.Status == event.Skipped:
		return "skipped", u.Colors.Skip
	case r.Status == event.Failed:
		return "failed" + item, u.Colors.Error
	case r.Status == event.Unreachable:
		return "unreachable", u.Colors.Unreachable
	case r.Changed:
		return "done" + item, u.Colors.Changed
	}
	return "ok", u.Colors.OK
}

// text is a result's line: with -v the whole result, else what it says and
// printed.
func (u *Unixy) text(r *event.Result, res *value.Dict, word string) string {
	host := printable(r.Host)
	if u.wantsResult(r, 0) {
		u.trim(res)
		return host + " " + word + ": " + toJSON(res, 4)
	}
	text := host
	if r.Delegated != "" {
		text += " -> " + delegateOf(r)
	}
	text += " " + word
	for _, part := range []struct{ key, name string }{{"msg", "msg"}, {"stdout", "stdout"}, {"stderr", "stderr"}} {
		v, _ := res.Get(part.key)
		if said := visible(value.Str(v)); value.Truth(v) && !(part.key == "msg" && said == "All items completed") {
			text += " | " + part.name + ": " + said
		}
	}
	return text
}

func (u *Unixy) retry(r *event.Result) {
	text := fmt.Sprintf("  Retrying... (%d of %d)", intOf(r.Result, "attempts"), intOf(r.Result, "retries"))
	if u.wantsResult(r, 0) {
		text += "Result was: " + u.dump(r, shown(r))
	}
	u.line(text, u.Colors.Debug)
}

func (u *Unixy) diff(r *event.Result) {
	if !r.Task.Diff || r.Task.NoLog || r.Loop || !r.Changed {
		return
	}
	if diff, ok := r.Result.Get("diff"); ok {
		if text := u.diffText(diff); text != "" {
			u.line(text, "")
		}
	}
}

// Stats shows the recap.
func (u *Unixy) Stats(hosts []string, counts map[string]event.Counts, custom *value.Dict) {
	defer u.flush()
	u.line("\n- Play recap -", "")
	for _, h := range hosts {
		u.line("  "+u.shortRecap(h, counts[h]), "")
	}
	if u.CustomStats && custom.Len() > 0 {
		u.customStats(custom)
	}
}
