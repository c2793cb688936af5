package output_test

import (
	"bytes"
	"testing"

	"play/engine/event"
	"play/engine/output"
	"play/modules/value"
)

// TestOddResults hands every output results whose known keys hold what no
// honest module returns: each is shown somehow, and nothing panics.
func TestOddResults(t *testing.T) {
	t.Parallel()
	odd := []any{nil, 1, true, -2.5, "\xff\x1b[2J", value.NewList(nil, 1), value.NewDict(), value.Tuple{1}, struct{}{}}
	keys := []string{"changed", "msg", "stdout", "stderr", "rc", "exception", "warnings", "deprecations", "diff", "results",
		"retries", "attempts", "ansible_job_id", "module_stderr", "_ansible_verbose_always", "censored", "item"}
	for _, name := range []string{"default", "minimal", "oneline", "json"} {
		var out, errs bytes.Buffer
		sink, _ := output.New(name, output.Options{Out: &out, Err: &errs, Verbosity: 4, Color: true, Summary: true})
		task := &event.Task{ID: "1", Name: "odd", Action: "debug", Diff: true}
		results := []*value.Dict{nil, value.NewDict()}
		for _, key := range keys {
			for _, v := range odd {
				results = append(results, value.DictOf(key, v), value.DictOf("diff", value.DictOf("before", v, "after", v, "src_larger", v)))
			}
		}
		for _, res := range results {
			for status := event.OK; status <= event.Unreachable; status++ {
				sink.Result(&event.Result{Host: "h", Task: task, Status: status, Changed: true, Result: res})
				sink.Result(&event.Result{Host: "h", Task: task, Status: status, Retrying: true, Result: res})
			}
		}
		sink.Stats(nil, nil, nil)
		if out.Len() == 0 {
			t.Errorf("%s shows nothing", name)
		}
		if bytes.Contains(out.Bytes(), []byte("\x1b[2J")) {
			t.Errorf("%s lets a host clear the screen", name)
		}
	}
}
