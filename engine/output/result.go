package output

import (
	"fmt"

	"play/engine/event"
	"play/modules/value"
)

// Result shows how a task or one of its items ended on a host.
func (d *Default) Result(r *event.Result) {
	defer d.flush()
	switch {
	case r.Retrying:
		d.retry(r)
		return
	case r.Status == event.OK:
		d.ok(r)
	case r.Status == event.Skipped:
		d.skipped(r)
	case r.Status == event.Failed:
		d.failed(r)
	case r.Status == event.Unreachable:
		d.unreachable(r)
	}
	d.failures.add(r)
}

func (d *Default) ok(r *event.Result) {
	d.diff(r)
	word, color := "ok", d.Colors.OK
	switch {
	case isInclude(r.Task):
		d.underBanner(r.Task)
		return
	case r.Changed:
		word, color = "changed", d.Colors.Changed
	case d.HideOK:
		return
	}
	d.underBanner(r.Task)
	res := shown(r)
	if !r.IsItem {
		d.resultWarnings(res)
	}
	if isLoop(r) {
		return
	}
	text := word + ": [" + hostLabel(r.Host, r.Delegated, r.DelegatedAddress) + "]"
	if r.IsItem {
		text += " => (item=" + itemLabel(r) + ")"
	}
	if d.wantsResult(r, 0) {
		text += " => " + d.dump(r, res)
	}
	d.line(text, color)
}

// isLoop reports whether a result only sums up its items, which were shown. The
// items of a hidden result are hidden in it, so that it is shown as one.
func isLoop(r *event.Result) bool { return r.Loop && !r.Task.NoLog }

// isInclude reports whether a task only brings in others: its success is shown
// by what it included.
func isInclude(t *event.Task) bool {
	switch bareAction(t) {
	case "include", "include_tasks", "include_role", "import_tasks", "import_role":
		return true
	}
	return false
}

func (d *Default) skipped(r *event.Result) {
	if d.HideSkipped || d.NoSkipLines {
		return
	}
	d.underBanner(r.Task)
	text := "skipping: [" + printable(r.Host) + "]"
	if r.IsItem {
		text += " => (item=" + itemLabel(r) + ") "
	}
	if d.wantsResult(r, 0) {
		res := shown(r)
		if r.Loop {
			res.Delete("results")
		}
		text += " => " + d.dump(r, res)
	}
	d.line(text, d.Colors.Skip)
}

func (d *Default) failed(r *event.Result) {
	d.underBanner(r.Task)
	res := shown(r)
	d.exception(res)
	d.resultWarnings(res)
	host := hostLabel(r.Host, r.Delegated, r.DelegatedAddress)
	switch {
	case r.IsItem:
		d.failLine("failed: ["+host+"] (item="+itemLabel(r)+") => "+d.dump(r, res), d.Colors.Error)
		return
	case !isLoop(r):
		if d.Verbosity < 2 && d.PathOnFailure {
			d.taskPath(r.Task)
		}
		d.failLine("fatal: ["+host+"]: FAILED! => "+d.dump(r, res), d.Colors.Error)
	}
	d.ignoring(r)
}

func (d *Default) unreachable(r *event.Result) {
	d.underBanner(r.Task)
	// Ansible does not know the address of a delegated host it never reached.
	host := hostLabel(r.Host, r.Delegated, "")
	d.failLine("fatal: ["+host+"]: UNREACHABLE! => "+d.dump(r, shown(r)), d.Colors.Unreachable)
	d.ignoring(r)
}

func (d *Default) ignoring(r *event.Result) {
	if r.Ignored {
		d.line("...ignoring", d.Colors.Skip)
	}
}

func (d *Default) retry(r *event.Result) {
	res := shown(r)
	name := r.Task.Own
	if name == "" {
		name = r.Task.Name
	}
	text := fmt.Sprintf("FAILED - RETRYING: [%s]: %s (%d retries left).",
		hostLabel(r.Host, r.Delegated, r.DelegatedAddress), printable(name),
		intOf(res, "retries")-intOf(res, "attempts"))
	if d.wantsResult(r, 2) {
		text += "Result was: " + d.dump(r, res)
	}
	d.line(text, d.Colors.Debug)
}

// diff shows what a changed result says it changed, in diff mode.
func (d *Default) diff(r *event.Result) {
	if !r.Task.Diff || r.Task.NoLog || r.Loop || !r.Changed {
		return
	}
	if diff, ok := r.Result.Get("diff"); ok {
		if text := d.diffText(diff); text != "" {
			d.underBanner(r.Task)
			d.line(text, "")
		}
	}
}

// hostLabel names a host and, for a delegated task, the host that really ran it
// with its address when that is another.
func hostLabel(host, delegated, address string) string {
	label := printable(host)
	if delegated == "" || delegated == host {
		return label
	}
	label += " -> " + printable(delegated)
	if address != "" && address != delegated {
		label += "(" + printable(address) + ")"
	}
	return label
}

func itemLabel(r *event.Result) string {
	if r.Task.NoLog {
		return censoredItem
	}
	return printable(r.Item)
}

func intOf(d *value.Dict, key string) int {
	v, _ := d.Get(key)
	n, _ := v.(int)
	return n
}
