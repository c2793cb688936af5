package output_test

import (
	"bytes"
	"strings"
	"testing"

	"play/engine/event"
	"play/engine/output"
	"play/modules/value"
)

const canary = "c4n4ry"

// TestNoLog hands uncensored results of a no_log task to every output, at every
// verbosity and in every state: what the task held is never shown.
func TestNoLog(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "minimal", "oneline", "json"} {
		for verbosity := range 6 {
			var out, errs bytes.Buffer
			sink, _ := output.New(name, output.Options{
				Out: &out, Err: &errs, Verbosity: verbosity, Color: verbosity%2 == 1, Summary: true, PathOnFailure: true,
			})
			sink.PlayStart(&event.Play{Name: "hidden"})
			for _, action := range []string{"command", "debug", "assert", "include_tasks", "copy"} {
				tellSecrets(sink, action)
			}
			sink.Stats([]string{"h"}, map[string]event.Counts{"h": {Failed: 1}}, nil)
			for stream, text := range map[string]string{"stdout": out.String(), "stderr": errs.String()} {
				if at := strings.Index(text, canary); at >= 0 {
					t.Errorf("%s at -v %d shows the secret on %s: …%q", name, verbosity, stream, text[max(at-200, 0):at+len(canary)])
				}
			}
			if !strings.Contains(out.String(), "h") {
				t.Errorf("%s at -v %d shows nothing at all", name, verbosity)
			}
		}
	}
}

func tellSecrets(sink event.Sink, action string) {
	task := &event.Task{ID: action, Name: "hidden", Action: action, NoLog: true, Diff: true, Args: "x=" + canary}
	sink.TaskStart(task)
	for _, status := range []event.Status{event.OK, event.Failed, event.Skipped, event.Unreachable} {
		for kind := range 16 {
			r := &event.Result{
				Host: "h", Task: task, Status: status, Changed: true, Item: canary, Hint: canary, Result: secretResult(),
				IsItem: kind&1 != 0, Loop: kind&1 == 0 && kind&2 != 0, Retrying: status == event.Failed && kind&4 != 0, Ignored: kind&8 != 0,
			}
			sink.Result(r)
		}
	}
}

func secretResult() *value.Dict {
	d := value.DictOf("changed", canary, "attempts", canary, "retries", 3, "censored", canary, "msg", canary, "stdout", canary,
		"stderr", canary, "exception", "Traceback\n"+canary, "skip_reason", canary, "rc", 1, canary, 1, "item", canary,
		"_ansible_verbose_always", true)
	d.Set("warnings", value.NewList(canary))
	d.Set("deprecations", value.NewList(value.DictOf("msg", canary, "version", "1")))
	d.Set("diff", value.DictOf("before", canary, "after", "x", "prepared", canary))
	d.Set("results", value.NewList(value.DictOf("msg", canary)))
	return d
}

// BenchmarkHosts shows 1000 hosts × 2 tasks.
func BenchmarkHosts(b *testing.B) {
	for b.Loop() {
		var out, errs bytes.Buffer
		sink := output.NewDefault(output.Options{Out: &out, Err: &errs, Summary: true})
		sink.PlayStart(&event.Play{Name: "many"})
		counts, hosts := map[string]event.Counts{}, make([]string, 1000)
		for i := range hosts {
			hosts[i] = "host" + strings.Repeat("x", i%10)
		}
		for _, id := range []string{"1", "2"} {
			task := &event.Task{ID: id, Name: "task", Action: "command"}
			sink.TaskStart(task)
			for i, h := range hosts {
				sink.Result(&event.Result{Host: h, Task: task, Status: event.Status(i % 2), Result: value.DictOf("msg", "hello", "rc", 0)})
			}
		}
		sink.Stats(hosts, counts, nil)
	}
}
