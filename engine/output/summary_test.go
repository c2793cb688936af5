package output_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/engine/event"
	"play/engine/output"
	"play/engine/source"
	"play/modules/value"
)

// TestSummary lists failures with their places, hosts that failed alike
// together, and nothing that was ignored, retried or only an item.
func TestSummary(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	sink := output.NewDefault(output.Options{Out: &out, Err: &errs, Summary: true})
	file := filepath.Join(t.TempDir(), "site.yml")
	if err := os.WriteFile(file, []byte("- hosts: all\n  tasks:\n  - command: start\n    when: prt\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	task := &event.Task{ID: "1", Name: "web : start", Pos: source.Pos{File: file, Line: 3, Col: 5}}
	failed := event.Result{Task: task, Status: event.Failed, Result: value.DictOf("msg", "non-zero return code", "stderr", "a\nno space left\n")}
	for i := range 12 {
		r := failed
		r.Host = fmt.Sprintf("w%02d", i)
		sink.Result(&r)
	}
	elsewhere := failed
	elsewhere.Host, elsewhere.Pos, elsewhere.Hint = "db", source.Pos{File: file, Line: 4, Col: 11}, "did you mean \"port\"?"
	elsewhere.Result = value.DictOf("msg", "'prt' is undefined")
	sink.Result(&elsewhere)
	for _, change := range []func(*event.Result){
		func(r *event.Result) { r.Ignored = true }, func(r *event.Result) { r.Retrying = true },
		func(r *event.Result) { r.IsItem = true }, func(r *event.Result) { r.Status = event.OK },
	} {
		r := failed
		r.Host = "quiet"
		change(&r)
		sink.Result(&r)
	}
	lost := event.Result{Host: "far", Task: task, Status: event.Unreachable, Result: value.DictOf("msg", "cannot connect", "unreachable", true)}
	sink.Result(&lost)
	loop := failed
	loop.Host, loop.Loop, loop.Task = "items", true, &event.Task{ID: "3", Name: "fetch", Action: "shell"}
	loop.Result = value.DictOf("msg", "One or more items failed", "results", value.NewList(value.DictOf("msg", "fine"),
		value.DictOf("failed", true, "msg", "not found\nsearched in:\n\t/a\n\x1b[31m/b", "rc", 2, "item", "x", "stdout", strings.Repeat("line\n", 12))))
	sink.Result(&loop)
	secret := failed
	secret.Host, secret.Task = "vault", &event.Task{ID: "2", Name: "hide", NoLog: true, Pos: source.Pos{File: file, Line: 3, Col: 5}}
	sink.Result(&secret)
	sink.Stats(nil, nil, nil)
	want := strings.ReplaceAll(`cannot finish "web : start" on w00, w01, w02, w03, w04, w05, w06, w07, w08, w09 and 2 more: non-zero return code: no space left
  FILE:3:5
  2 |   tasks:
  3 |   - command: start
    |     ^
  4 |     when: prt
stderr:
  a
  no space left
cannot finish "web : start" on db: 'prt' is undefined
  FILE:4:11
  3 |   - command: start
  4 |     when: prt
    |           ^
hint: did you mean "port"?
cannot finish "web : start" on far: cannot connect
  FILE:3:5
  2 |   tasks:
  3 |   - command: start
    |     ^
  4 |     when: prt
cannot finish "fetch" on items: item "x": not found (rc 2)
  searched in:
  	/a
  ^[[31m/b
stdout:
  … 2 lines before
  line
  line
  line
  line
  line
  line
  line
  line
  line
  line
cannot finish "hide" on vault: (hidden by no_log)
  FILE:3:5
`, "FILE", file)
	if errs.String() != want {
		t.Errorf("summary:\n%s\nwant:\n%s", errs.String(), want)
	}
	if strings.Contains(out.String(), "cannot finish") {
		t.Error("the summary went to stdout")
	}
}
