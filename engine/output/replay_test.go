package output_test

import (
	"bytes"
	"strings"
	"testing"

	"play/engine/event"
	"play/engine/output"
	"play/engine/source"
	"play/modules/value"
)

// recording is one recorded run of ansible: its events, as testdata/record's
// recorder wrote them.
type recording struct {
	options *value.Dict
	events  []*value.Dict
	tasks   map[string]*event.Task
	free    bool // the present play lets hosts run ahead
}

func readEvents(t *testing.T, data []byte) *recording {
	t.Helper()
	rec := &recording{tasks: map[string]*event.Task{}}
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		v, err := value.DecodeJSON(line)
		if err != nil {
			t.Fatalf("cannot read event %q: %v", line, err)
		}
		e := v.(*value.Dict)
		if str(e, "event") == "options" {
			rec.options = e
			continue
		}
		rec.events = append(rec.events, e)
	}
	if rec.options == nil {
		t.Fatal("the recording has no options")
	}
	return rec
}

// outputOptions are the options that the recorded run had.
func (rec *recording) outputOptions(out, errs *bytes.Buffer) output.Options {
	o := rec.options
	var args []string
	for _, a := range items(o, "cli") {
		args = append(args, a.(string))
	}
	positional := make([]string, 0, 1)
	for _, a := range items(o, "positional") {
		positional = append(positional, a.(string))
	}
	context := num(o, "diff_context")
	if context == 0 {
		context = -1
	}
	var pretty *bool
	if v := str(o, "pretty_results"); v != "" {
		is := v == "yes"
		pretty = &is
	}
	return output.Options{
		ResultFormat: str(o, "result_format"), Pretty: pretty, Colors: rec.colors(),
		Out: out, Err: errs, Color: yes(o, "color"), Verbosity: num(o, "verbosity"), Width: num(o, "width"),
		HideSkipped: !yes(o, "display_skipped_hosts"), HideOK: !yes(o, "display_ok_hosts"),
		FailedToErr: yes(o, "display_failed_stderr"), HostStarts: yes(o, "show_per_host_start"),
		CheckMarkers: yes(o, "check_mode_markers"), PathOnFailure: yes(o, "show_task_path_on_failure"),
		CustomStats: yes(o, "show_custom_stats"), KeepWarnings: !yes(o, "action_warnings"),
		HideDeprecations: !yes(o, "deprecation_warnings"), DiffContext: context, Check: yes(o, "check"),
		Positional: strings.Join(positional, " "), Arguments: args,
	}
}

// colors are those that the options name.
func (rec *recording) colors() output.Colors {
	c, _ := rec.options.Get("colors")
	d, _ := c.(*value.Dict)
	if d == nil {
		return output.Colors{}
	}
	return output.Colors{OK: str(d, "ok"), Changed: str(d, "changed"), Skip: str(d, "skip"), Error: str(d, "error")}
}

// replay tells the events to a sink.
func (rec *recording) replay(t *testing.T, s event.Sink) {
	t.Helper()
	for _, e := range rec.events {
		rec.tell(t, s, e)
	}
}

func (rec *recording) tell(t *testing.T, s event.Sink, e *value.Dict) {
	t.Helper()
	switch kind := str(e, "event"); kind {
	case "playbook":
		s.PlaybookStart(str(e, "path"))
	case "play":
		rec.free = yes(e, "free")
		s.PlayStart(&event.Play{ID: str(e, "id"), Name: str(e, "name"), Pattern: str(e, "pattern"), Check: yes(e, "check"),
			Pos: source.Pos{File: str(e, "file"), Line: num(e, "line")}})
	case "no_hosts":
		s.NoHosts()
	case "no_hosts_left":
		s.NoHostsLeft()
	case "task":
		s.TaskStart(rec.task(e))
	case "included":
		var hosts []string
		for _, h := range items(e, "hosts") {
			hosts = append(hosts, h.(string))
		}
		s.Included(rec.task(e), str(e, "file"), hosts, str(e, "label"))
	case "host_start":
		s.HostStart(str(e, "host"), rec.task(e))
	case "async":
		states := map[string]event.AsyncState{"running": event.AsyncRunning, "ok": event.AsyncOK, "failed": event.AsyncFailed}
		s.Async(&event.Async{Host: str(e, "host"), Task: rec.task(e), JID: str(e, "jid"), State: states[str(e, "state")]})
	case "result":
		s.Result(rec.result(e))
	case "notified":
		s.Notified(str(e, "host"), str(e, "handler"))
	case "warning":
		s.Warning(str(e, "msg"), source.Pos{})
	case "deprecated":
		s.Deprecated(str(e, "msg"), str(e, "version"), source.Pos{})
	case "verbose":
		s.Verbose(num(e, "level"), str(e, "host"), str(e, "msg"))
	case "stats":
		rec.stats(s, e)
	default:
		t.Fatalf("unknown event %q", kind)
	}
}

// task returns the event's task, which is told in full only once.
func (rec *recording) task(e *value.Dict) *event.Task {
	v, _ := e.Get("task")
	if id, ok := v.(string); ok {
		return rec.tasks[id]
	}
	d := v.(*value.Dict)
	task := &event.Task{
		ID: str(d, "id"), Name: str(d, "name"), Own: str(d, "own"), Action: strings.TrimPrefix(str(d, "action"), "ansible.builtin."),
		Pos:     source.Pos{File: str(d, "file"), Line: num(d, "line"), Col: 3},
		Handler: yes(d, "handler"), NoLog: yes(d, "no_log"), Check: yes(d, "check"), Diff: yes(d, "diff"), Free: rec.free, Args: str(d, "args"),
	}
	rec.tasks[task.ID] = task
	return task
}

func (rec *recording) result(e *value.Dict) *event.Result {
	statuses := map[string]event.Status{
		"ok": event.OK, "failed": event.Failed, "skipped": event.Skipped, "unreachable": event.Unreachable,
	}
	res, _ := e.Get("result")
	return &event.Result{
		Host: str(e, "host"), Delegated: str(e, "delegated"), DelegatedAddress: str(e, "address"),
		Task: rec.task(e), Status: statuses[str(e, "status")], Changed: yes(e, "changed"), Ignored: yes(e, "ignored"),
		Retrying: yes(e, "retrying"), Item: str(e, "item"), IsItem: yes(e, "is_item"), Loop: yes(e, "loop"),
		Result: res.(*value.Dict),
	}
}

func (rec *recording) stats(s event.Sink, e *value.Dict) {
	counts := map[string]event.Counts{}
	var hosts []string
	all, _ := e.Get("counts")
	for k, v := range all.(*value.Dict).All() {
		c := v.(*value.Dict)
		hosts = append(hosts, k.(string))
		counts[k.(string)] = event.Counts{
			OK: num(c, "ok"), Changed: num(c, "changed"), Unreachable: num(c, "unreachable"), Failed: num(c, "failures"),
			Skipped: num(c, "skipped"), Rescued: num(c, "rescued"), Ignored: num(c, "ignored"),
		}
	}
	custom, _ := e.Get("custom")
	d, _ := custom.(*value.Dict)
	s.Stats(hosts, counts, d)
}

func str(d *value.Dict, key string) string { v, _ := d.Get(key); s, _ := v.(string); return s }
func num(d *value.Dict, key string) int    { v, _ := d.Get(key); n, _ := v.(int); return n }
func yes(d *value.Dict, key string) bool   { v, _ := d.Get(key); b, _ := v.(bool); return b }

func items(d *value.Dict, key string) []any {
	v, _ := d.Get(key)
	if l, ok := v.(*value.List); ok {
		return l.Items
	}
	return nil
}
