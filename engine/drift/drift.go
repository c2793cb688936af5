// Package drift tells what has moved away from a playbook. Flowing in: the
// events of a run in check and diff mode, and what earlier nights found.
// Flowing out: what differs, since when, and what cannot be told, as text,
// JSON, JUnit and Prometheus metrics. The command line calls it. It contacts no
// host, and decides nothing about the run.
//
// A task that would change something has drifted, with three exceptions. What
// check mode skips (a command without creates or removes, a module that cannot
// predict) is unknown. What reads the result of something unknown or only
// predicted, or fails for want of it, is unknown, too. A handler would merely
// follow from what notifies it and counts for nothing.
package drift

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"play/engine/event"
	"play/engine/history"
	"play/engine/output"
	"play/engine/source"
	"play/modules/value"
)

// Kinds of findings.
const (
	Drifted   = "drift"
	Unknown   = "unknown"
	Failure   = "failed"
	Lost      = "unreachable"
	Unchecked = "unchecked" // drifted on an earlier night and not looked at in this one
)

// maxDiff is the size in bytes at which a diff is cut.
const maxDiff = 64 << 10

// Collector is the Sink that finds drift.
type Collector struct {
	event.Nop
	mask  func(string) string
	hosts map[string]*hostState
	found []history.Finding
	reach []string // hosts of the recap, in its order
	start time.Time
	end   time.Time
	now   func() time.Time
}

var _ event.Sink = (*Collector)(nil)

// hostState is what was learnt of a host so far.
type hostState struct {
	unknown   map[string]bool // variables whose value is not known
	predicted map[string]bool // variables that hold a prediction
	things    []string        // what predicted changes would have made or changed
	loopFound bool            // an item of the present loop was a finding
	failed    bool
	lost      bool
}

// NewCollector returns a Collector; mask takes secrets out of texts and may be
// nil, now may be nil.
func NewCollector(mask func(string) string, now func() time.Time) *Collector {
	if mask == nil {
		mask = func(s string) string { return s }
	}
	if now == nil {
		now = time.Now
	}
	return &Collector{mask: mask, hosts: map[string]*hostState{}, now: now}
}

// PlaybookStart notes when the night began.
func (c *Collector) PlaybookStart(string) {
	if c.start.IsZero() {
		c.start = c.now()
	}
}

// Result judges how a task, or an item of its loop, ended.
func (c *Collector) Result(r *event.Result) {
	if r.Retrying {
		return
	}
	h := c.host(r.Host)
	kind, reason := h.judge(r)
	if r.Loop {
		if h.loopFound {
			kind = "" // its items told it
		}
		h.loopFound = false
	}
	if kind != "" {
		h.loopFound = r.IsItem
		c.found = append(c.found, c.finding(r, kind, reason))
	}
	h.learn(r, kind)
}

func (c *Collector) host(name string) *hostState {
	h := c.hosts[name]
	if h == nil {
		h = &hostState{unknown: map[string]bool{}, predicted: map[string]bool{}}
		c.hosts[name] = h
	}
	return h
}

// judge says what an end means: the kind of a finding, or "", and why.
func (h *hostState) judge(r *event.Result) (kind, reason string) {
	switch r.Status {
	case event.Unreachable:
		return Lost, textOf(r.Result, "msg")
	case event.Failed:
		return h.failure(r)
	case event.Skipped:
		return h.skipped(r)
	}
	switch name := h.needs(r.Task.Reads); {
	case !r.Changed || !r.Task.Check || r.Task.Handler:
		return "", ""
	case name != "":
		return Unknown, fmt.Sprintf("it reads %q, which check mode only predicts", name)
	}
	return Drifted, ""
}

// failure tells failures that come from looking only from those that would come
// in earnest, too.
func (h *hostState) failure(r *event.Result) (kind, reason string) {
	msg := failureText(r)
	if r.Task.Check {
		if name := h.needs(r.Task.Reads); name != "" {
			return Unknown, fmt.Sprintf("it failed and reads %q, which check mode only predicts: %s", name, msg)
		}
		if thing := h.lacks(msg); thing != "" {
			return Unknown, fmt.Sprintf("it failed for want of %q, which an earlier task would have changed: %s", thing, msg)
		}
	}
	if r.Ignored || r.IsItem {
		return "", ""
	}
	return Failure, msg
}

// skipped finds what check mode, or a condition on something unknown, skipped.
func (h *hostState) skipped(r *event.Result) (kind, reason string) {
	if !r.Task.Check {
		return "", ""
	}
	if msg := textOf(r.Result, "msg"); strings.Contains(strings.ToLower(msg), "check mode") {
		if r.Task.Handler {
			return "", ""
		}
		return Unknown, "check mode cannot predict " + r.Task.Action
	}
	for _, name := range r.Task.Conditions {
		if h.unknown[name] {
			return Unknown, fmt.Sprintf("its condition reads %q, which is not known in check mode", name)
		}
	}
	return "", ""
}

// needs is the first of the names that is not known or predicted, or "".
func (h *hostState) needs(names []string) string {
	for _, name := range names {
		if h.unknown[name] || h.predicted[name] {
			return name
		}
	}
	return ""
}

// lacks is the thing that a message names and a predicted change would have
// made, or "".
func (h *hostState) lacks(msg string) string {
	for _, thing := range h.things {
		if mentions(msg, thing) {
			return thing
		}
	}
	return ""
}

// mentions tells whether a text has a word; what is below a path counts as the
// path.
func mentions(text, word string) bool {
	for rest := text; ; {
		i := strings.Index(rest, word)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(word):]
		if (before == "" || !wordy(before[len(before)-1])) && (after == "" || !wordy(after[0])) {
			return true
		}
		rest = after
	}
}

func wordy(b byte) bool {
	return b == '_' || b == '-' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// learn notes what later tasks must know of this one.
func (h *hostState) learn(r *event.Result, kind string) {
	h.failed = h.failed || r.Status == event.Failed && !r.Ignored && !r.IsItem
	h.lost = h.lost || r.Status == event.Unreachable && !r.Ignored
	if kind == Drifted {
		h.things = append(h.things, things(r.Result)...)
	}
	if r.IsItem {
		return
	}
	for _, name := range h.sets(r) {
		delete(h.unknown, name)
		delete(h.predicted, name)
		switch {
		case kind == Unknown || r.Task.Action == "set_fact" && h.anyOf(h.unknown, r.Task.Reads):
			h.unknown[name] = true
		case r.Changed && r.Task.Check, r.Task.Action == "set_fact" && h.anyOf(h.predicted, r.Task.Reads):
			h.predicted[name] = true
		}
	}
}

// sets lists the variables that a result goes to.
func (h *hostState) sets(r *event.Result) []string {
	var names []string
	if r.Task.Register != "" {
		names = append(names, r.Task.Register)
	}
	if facts, ok := r.Result.Get("ansible_facts"); ok && r.Task.Action == "set_fact" {
		if d, ok := facts.(*value.Dict); ok {
			for k := range d.All() {
				names = append(names, value.Str(k))
			}
		}
	}
	return names
}

func (h *hostState) anyOf(set map[string]bool, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return set[n] })
}

// things are the names of what a result is about: files, packages, users.
func things(result *value.Dict) []string {
	var found []string
	add := func(v any) {
		if s, ok := v.(string); ok && len(s) > 2 {
			found = append(found, s)
		}
	}
	places := []*value.Dict{result}
	if inv, ok := dictIn(result, "invocation"); ok {
		if args, ok := dictIn(inv, "module_args"); ok {
			places = append(places, args)
		}
	}
	for _, d := range places {
		for _, key := range []string{"dest", "path", "name", "pkg", "package", "user", "group"} {
			v, _ := d.Get(key)
			if l, ok := v.(*value.List); ok {
				for _, item := range l.Items {
					add(item)
				}
			}
			add(v)
		}
	}
	return found
}

func dictIn(d *value.Dict, key string) (*value.Dict, bool) {
	v, _ := d.Get(key)
	inner, ok := v.(*value.Dict)
	return inner, ok && inner != nil
}

// finding makes a finding of a result, without secrets.
func (c *Collector) finding(r *event.Result, kind, reason string) history.Finding {
	f := history.Finding{Host: r.Host, Task: r.Task.Name, Kind: kind, Place: r.Task.Pos.String(), Reason: reason}
	if r.IsItem && !r.Task.NoLog {
		f.Item = r.Item
	}
	if !r.Task.NoLog {
		f.Path = history.PathOf(r.Result)
		if diff, ok := r.Result.Get("diff"); ok && kind == Drifted {
			f.Diff = strings.TrimRight(output.DiffText(diff, 3), "\n")
		}
	}
	for _, text := range []*string{&f.Task, &f.Item, &f.Path, &f.Reason, &f.Diff} {
		*text = c.mask(source.Printable(*text))
	}
	if len(f.Diff) > maxDiff {
		f.Diff = f.Diff[:strings.LastIndexByte(f.Diff[:maxDiff], '\n')+1] + "… and more"
	}
	return f
}

// failureText is what a failed result says.
func failureText(r *event.Result) string {
	if r.Task.NoLog {
		return "the reason is hidden by no_log"
	}
	return first(textOf(r.Result, "msg"), textOf(r.Result, "stderr"), "it failed")
}

// Stats ends the night.
func (c *Collector) Stats(hosts []string, counts map[string]event.Counts, _ *value.Dict) {
	c.end = c.now()
	for _, h := range hosts {
		if !slices.Contains(c.reach, h) {
			c.reach = append(c.reach, h)
		}
		if counts[h].Failed == 0 && counts[h].Rescued > 0 {
			c.host(h).failed = false
			c.found = slices.DeleteFunc(c.found, func(f history.Finding) bool { return f.Host == h && f.Kind == Failure })
		}
	}
}

func textOf(d *value.Dict, key string) string {
	v, _ := d.Get(key)
	s, _ := v.(string)
	return s
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
