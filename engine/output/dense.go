package output

import (
	"fmt"
	"strings"

	"play/engine/event"
	"play/modules/value"
)

// What the callback dense sends to a terminal.
const (
	denseReset   = "\x1b[0;0m"
	denseBold    = "\x1b[1m"
	denseLine    = "\x1b[4m"
	denseClear   = "\x1b[2K"
	denseSave    = "\x1b[s"
	denseRestore = "\x1b[u"
	denseWrap    = "\x1b[7h"
	denseNoWrap  = "\x1b[7l"
	denseHome    = denseRestore + denseReset
	// denseNext leaves a line on the screen and begins the next.
	denseNext = denseHome + "\n" + denseSave + denseClear
)

// denseColor are the colours of how hosts fare, from the least of states to the
// most.
var denseColor = map[string]string{
	"skipped": "\x1b[0;36m", "ok": "\x1b[0;32m", "changed": "\x1b[0;33m", "failed": "\x1b[0;31m",
	"unreachable": "\x1b[1;31m", "ignored": "\x1b[46m\x1b[1;31m",
}

var denseRank = map[string]int{"skipped": 0, "ok": 1, "changed": 2, "failed": 3, "unreachable": 4}

// Dense is the output community.general.dense: each task is one line that is
// written anew as hosts come in, and stays only when something changed. It is
// made for terminals and colours always.
type Dense struct {
	words
	kind    string // "task" or "handler"
	counts  map[string]int
	names   []string
	hosts   map[string]*denseHost
	keep    bool // the present line stays
	titled  bool // the task's name was shown
	task    *event.Task
	diffs   string // the id of the task whose diff had a banner
	started bool
}

type denseHost struct{ state, delegate string }

var _ event.Sink = (*Dense)(nil)

// NewDense returns the dense output; with -vv and more it is the default one.
func NewDense(o Options) event.Sink {
	if o.Verbosity >= 2 {
		return NewDefault(o)
	}
	return &Dense{words: newWords(o), counts: map[string]int{}}
}

// put writes text as it is.
func (d *Dense) put(text string) {
	if d.to != d.Out {
		d.flush()
		d.to = d.Out
	}
	if !d.started {
		d.started = true
		d.buf.WriteString(denseReset + denseSave + denseClear)
	}
	d.buf.WriteString(text)
}

// leave ends the present line: it stays when it told of something, and then
// begins what follows, after the sequences of then.
func (d *Dense) leave(otherwise, then string) {
	if d.Verbosity == 0 && d.keep {
		d.put(denseNext + then)
	} else {
		d.put(denseHome + otherwise + then)
	}
	d.keep = false
}

// PlayStart shows the play's name.
func (d *Dense) PlayStart(p *event.Play) {
	defer d.flush()
	d.leave(denseClear, denseBold)
	d.counts["play"]++
	d.counts["task"], d.counts["handler"] = 0, 0
	name := strings.TrimSpace(printable(p.Name))
	if name == "" {
		name = "unnamed"
	}
	d.put(fmt.Sprintf("PLAY %d: %s", d.counts["play"], strings.ToUpper(name)) + denseNext)
}

// TaskStart begins a line.
func (d *Dense) TaskStart(t *event.Task) {
	defer d.flush()
	d.kind = "task"
	if t.Handler {
		d.kind = "handler"
		d.leave(denseClear, denseLine)
	} else {
		d.leave("", denseLine)
	}
	d.task, d.titled, d.names, d.hosts = t, false, nil, map[string]*denseHost{}
	if t.Name != "setup" {
		d.counts[d.kind]++
	}
	d.put(fmt.Sprintf("%s %d.", d.kind, d.counts[d.kind]) + denseReset)
}

// Result puts the host into the line, and with -v shows what changed or failed.
func (d *Dense) Result(r *event.Result) {
	if r.Retrying || d.task == nil {
		return
	}
	defer d.flush()
	state := statusName(r.Status)
	switch {
	case r.Status == event.OK && r.Changed:
		state = "changed"
	case r.Status == event.Failed && r.Ignored:
		state = "ignored"
	}
	if r.Status == event.OK {
		d.diff(r)
	}
	d.host(r, state)
	d.progress()
	switch state {
	case "changed", "failed", "unreachable":
		d.keep = true
		if d.Verbosity == 1 {
			d.banner()
			d.result(r, state)
		}
	}
}

// host notes how a host fares.
func (d *Dense) host(r *event.Result, state string) {
	h := d.hosts[r.Host]
	if h == nil {
		h = &denseHost{state: state}
		d.hosts[r.Host] = h
		d.names = append(d.names, r.Host)
	} else if denseRank[h.state] < denseRank[state] {
		h.state = state
	}
	if r.Delegated != "" {
		h.delegate = delegateOf(r)
	}
}

// delegateOf is the address of the host that a task was delegated to.
func delegateOf(r *event.Result) string {
	if r.DelegatedAddress != "" {
		return printable(r.DelegatedAddress)
	}
	return printable(r.Delegated)
}

// progress writes the line anew.
func (d *Dense) progress() {
	d.put(denseHome + denseClear + denseNoWrap + denseLine + fmt.Sprintf("%s %d:", d.kind, d.counts[d.kind]) + denseReset)
	for _, name := range d.names {
		h := d.hosts[name]
		d.put(" ")
		if h.delegate != "" {
			d.put(h.delegate + ">")
		}
		d.put(denseColor[h.state] + printable(name) + denseReset)
	}
	d.put(denseWrap)
}

// banner shows the task's name, once.
func (d *Dense) banner() {
	if d.titled {
		d.put(denseHome + denseClear)
	} else {
		d.titled = true
		d.put(denseHome + denseClear + denseLine +
			fmt.Sprintf("%s %d: %s", d.kind, d.counts[d.kind], strings.TrimSpace(printable(d.task.Name))) + denseNext)
	}
	d.keep = false
}

// denseLeftOut are the keys of a result that dense never shows.
var denseLeftOut = []string{"delta", "end", "failed", "failed_when_result", "invocation", "start", "stdout_lines"}

// result shows a result below its task's name; a loop's items were shown.
func (d *Dense) result(r *event.Result, state string) {
	d.put(denseHome + denseClear)
	res := visibleKeys(r)
	for _, key := range denseLeftOut {
		res.Delete(key)
	}
	for _, key := range res.Keys() {
		if v, _ := res.GetKey(key); emptyValue(v) {
			res.Delete(key)
		}
	}
	if bareAction(r.Task) == "include" || isLoop(r) {
		return
	}
	text := d.dump(r, res)
	switch exception := textOf(r.Result, "exception"); {
	case state == "failed" && exception != "":
		text = "An exception occurred during task execution. To see the full traceback, use -vvv."
	case state == "unreachable":
		text = visible(textOf(r.Result, "msg"))
	}
	host := printable(r.Host)
	if r.Delegated != "" {
		host = denseReset + host + ">" + denseColor[state] + delegateOf(r)
	}
	d.put(denseColor[state] + state + ": " + host + ": " + text + "\n" + denseReset + denseSave + denseClear)
	if state == "changed" {
		d.resultWarnings(res)
	}
}

func emptyValue(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case *value.List:
		return v.Len() == 0
	case *value.Dict:
		return v.Len() == 0
	}
	return false
}

// diff shows what changed, in bold, under the default output's banner.
func (d *Dense) diff(r *event.Result) {
	if !r.Task.Diff {
		return
	}
	d.put(denseBold)
	if diff, ok := r.Result.Get("diff"); ok && !r.Task.NoLog && !r.Loop && r.Changed {
		if text := d.diffText(diff); text != "" {
			if d.diffs != r.Task.ID {
				d.diffs = r.Task.ID
				d.screen.banner("TASK [" + strings.TrimSpace(r.Task.Name) + "]")
			}
			d.line(text, "")
		}
	}
	d.put(denseReset)
}

// NoHostsLeft tells that every host of the play has failed.
func (d *Dense) NoHostsLeft() {
	defer d.flush()
	d.leave(denseClear, "")
	d.put("\x1b[1;37m\x1b[41mNO MORE HOSTS LEFT" + denseNext)
}

// Stats ends the last line, and shows the recap with -v.
func (d *Dense) Stats(hosts []string, counts map[string]event.Counts, _ *value.Dict) {
	defer d.flush()
	d.leave(denseClear, "")
	if d.Verbosity > 0 {
		d.put(denseBold + denseLine + "SUMMARY" + denseNext)
		for _, h := range hosts {
			d.line(d.shortRecap(h, counts[h]), "")
		}
	}
	d.put(denseNext)
}

// shortRecap is a host's line of the recap without what was skipped.
func (s *screen) shortRecap(host string, c event.Counts) string {
	c1 := s.Colors
	return s.recapHost(printable(host), c) + " : " + strings.Join([]string{
		s.count("ok", c.OK, c1.OK), s.count("changed", c.Changed, c1.Changed),
		s.count("unreachable", c.Unreachable, c1.Unreachable), s.count("failed", c.Failed, c1.Error),
		s.count("rescued", c.Rescued, c1.OK), s.count("ignored", c.Ignored, c1.Warn),
	}, " ")
}
