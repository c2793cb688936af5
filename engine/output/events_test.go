package output_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"play/engine/event"
	"play/engine/output"
	"play/engine/source"
	"play/modules/value"
)

// TestEvents compares the lines that each event gives.
func TestEvents(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC) }
	e := output.NewEvents(&out, now, func(err error) { t.Error(err) })
	task := &event.Task{ID: "2", Name: "web : start", Action: "command", Pos: source.Pos{File: "a.yml", Line: 4, Col: 3}}
	secret := &event.Task{ID: "3", Name: "hide", Action: "command", NoLog: true}
	e.PlaybookStart("site.yml")
	e.PlayStart(&event.Play{ID: "1", Name: "all", Hosts: []string{"h1"}, Tasks: 2})
	e.TaskStart(task)
	e.HostStart("h1", task)
	e.Result(&event.Result{Host: "h1", Task: task, Status: event.Failed, Pos: task.Pos, Hint: "did you mean \"port\"?", Result: value.DictOf("msg", "no\n\x1b")})
	e.Result(&event.Result{Host: "h1", Task: secret, IsItem: true, Item: "canary", Hint: "canary", Result: value.DictOf("msg", "canary", "changed", true), Changed: true})
	e.Verbose(1, "", "nothing")
	e.Stats([]string{"h1"}, map[string]event.Counts{"h1": {Failed: 1}}, nil)
	const at = `"time": "2026-01-02T03:04:05.000006Z"`
	want := []string{
		`{"event": "run_start", ` + at + `, "version": 1}`,
		`{"event": "playbook_start", ` + at + `, "path": "site.yml"}`,
		`{"event": "play_start", ` + at + `, "play": {"id": "1", "name": "all"}, "hosts": ["h1"], "tasks": 2}`,
		`{"event": "task_start", ` + at + `, "task": {"id": "2", "name": "web : start"}, "play": "1", "action": "command", "path": "a.yml:4:3"}`,
		`{"event": "host_start", ` + at + `, "host": "h1", "task": {"id": "2", "name": "web : start"}}`,
		`{"event": "result", ` + at + `, "host": "h1", "task": {"id": "2", "name": "web : start"}, "status": "failed", "path": "a.yml:4:3", "hint": "did you mean \"port\"?", "result": {"msg": "no\n\u001b"}}`,
		`{"event": "item", ` + at + `, "host": "h1", "task": {"id": "3", "name": "hide"}, "status": "ok", "changed": true, "result": {"censored": "the output has been hidden due to the fact that 'no_log: true' was specified for this result", "changed": true}}`,
		`{"event": "stats", ` + at + `, "stats": {"h1": {"ok": 0, "failures": 1, "unreachable": 0, "changed": 0, "skipped": 0, "rescued": 0, "ignored": 0}}}`,
	}
	if got := strings.TrimSuffix(out.String(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

// TestEventsOfRuns looks that every event of the recorded runs is one line that
// can be read.
func TestEventsOfRuns(t *testing.T) {
	t.Parallel()
	cases, _ := filepath.Glob("testdata/recorded/*.txtar")
	for _, path := range cases {
		rec := readEvents(t, readCase(t, path)["events"])
		var out bytes.Buffer
		rec.replay(t, output.NewEvents(&out, nil, func(err error) { t.Error(err) }))
		lines := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
		for _, line := range lines {
			v, err := value.DecodeJSON(line)
			if d, ok := v.(*value.Dict); err != nil || !ok || str(d, "event") == "" {
				t.Fatalf("%s: cannot read line %q: %v", path, line, err)
			}
		}
		if len(lines) < 2 {
			t.Errorf("%s: no events", path)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestEventsFull tells once that a line could not be written.
func TestEventsFull(t *testing.T) {
	t.Parallel()
	told := 0
	e := output.NewEvents(full{}, nil, func(error) { told++ })
	e.NoHosts()
	e.NoHosts()
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}
