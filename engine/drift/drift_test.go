package drift_test

import (
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"play/engine/drift"
	"play/engine/event"
	"play/engine/history"
	"play/modules/value"
)

// step is one result of a task on web1.
type step struct {
	name     string
	action   string
	status   event.Status
	changed  bool
	ignored  bool
	real     bool // not in check mode
	handler  bool
	register string
	when     []string
	reads    []string
	item     string
	result   *value.Dict
	want     string // the kind of the finding; "": none
}

func run(steps []step) *drift.Collector {
	c := drift.NewCollector(nil, nil)
	c.PlaybookStart("site.yml")
	failed := 0
	for _, s := range steps {
		if s.result == nil {
			s.result = value.DictOf()
		}
		t := &event.Task{Name: s.name, Action: s.action, Check: !s.real, Diff: true, Handler: s.handler, Register: s.register, Conditions: s.when,
			Reads: append(slices.Clone(s.when), s.reads...)}
		if s.status == event.Failed && !s.ignored {
			failed++
		}
		c.Result(&event.Result{Host: "web1", Task: t, Status: s.status, Changed: s.changed, Ignored: s.ignored, Item: s.item, IsItem: s.item != "", Result: s.result})
	}
	c.Stats([]string{"web1"}, map[string]event.Counts{"web1": {Failed: failed}}, nil)
	return c
}

// TestJudge tells drift from what check mode cannot know.
func TestJudge(t *testing.T) {
	t.Parallel()
	skipped := func() *value.Dict {
		return value.DictOf("skipped", true, "msg", "Command would have run if not in check mode")
	}
	for name, steps := range map[string][]step{
		"plain": {
			{name: "same", want: ""},
			{name: "moved", changed: true, want: drift.Drifted},
			{name: "handler", changed: true, handler: true, want: ""},
			{name: "really run", changed: true, real: true, want: ""},
			{name: "skipped", status: event.Skipped, result: value.DictOf("skip_reason", "Conditional result was False"), want: ""},
		},
		"command": {
			{name: "ask", action: "command", status: event.Skipped, register: "out", result: skipped(), want: drift.Unknown},
			{name: "if", status: event.Skipped, when: []string{"out"}, want: drift.Unknown},
			{name: "uses", status: event.Failed, reads: []string{"out"}, result: value.DictOf("msg", "'dict object' has no attribute 'stdout'"), want: drift.Unknown},
		},
		"asked in earnest": {
			{name: "ask", action: "command", real: true, register: "out", changed: true, want: ""},
			{name: "uses", changed: true, reads: []string{"out"}, want: drift.Drifted},
		},
		"follows a prediction": {
			{name: "conf", changed: true, register: "conf", want: drift.Drifted},
			{name: "restart", changed: true, when: []string{"conf"}, want: drift.Unknown},
			{name: "fact", action: "set_fact", reads: []string{"conf"}, result: value.DictOf("ansible_facts", value.DictOf("later", 1)), want: ""},
			{name: "later", changed: true, reads: []string{"later"}, want: drift.Unknown},
		},
		"a folder that is not there yet": {
			{name: "folder", changed: true, result: value.DictOf("path", "/opt/app"), want: drift.Drifted},
			{name: "file", status: event.Failed, result: value.DictOf("msg", "Destination directory /opt/app does not exist"), want: drift.Unknown},
		},
		"a real failure": {
			{name: "folder", changed: true, result: value.DictOf("path", "/opt/app"), want: drift.Drifted},
			{name: "file", status: event.Failed, result: value.DictOf("msg", "Destination directory /opt/application does not exist"), want: drift.Failure},
		},
		"ignored":     {{name: "try", status: event.Failed, ignored: true, result: value.DictOf("msg", "no"), want: ""}},
		"unreachable": {{name: "any", status: event.Unreachable, result: value.DictOf("msg", "gone"), want: drift.Lost}},
		"items": {
			{name: "loop", item: "a", changed: true, want: drift.Drifted},
			{name: "loop", item: "b", want: ""},
		},
	} {
		var want, got []string
		for _, s := range steps {
			if s.want != "" {
				want = append(want, s.name+": "+s.want)
			}
		}
		n := run(steps).Night(nil, nil)
		for _, e := range n.Drift {
			got = append(got, e.Task+": "+e.Kind)
		}
		for _, list := range [][]history.Finding{n.Unknown, n.Failed, n.Unreachable} {
			for _, f := range list {
				got = append(got, f.Task+": "+f.Kind)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestNights compares a night with the one before.
func TestNights(t *testing.T) {
	t.Parallel()
	first := run([]step{{name: "a", changed: true}, {name: "b", changed: true, result: value.DictOf("path", "/b")}, {name: "secret", changed: true}})
	n := first.Night(nil, rules(t, "task=sec*"))
	if n.Compared || len(n.Drift) != 2 || n.Ignored != 1 || n.Drift[0].State != "" {
		t.Errorf("%+v", n)
	}
	kept, examined := n.Keep()
	before := map[string]history.Night{"web1": {Run: 1, Findings: kept}}
	if !slices.Equal(examined, []string{"web1"}) {
		t.Error(examined)
	}
	second := run([]step{{name: "a", changed: true}, {name: "c", changed: true}}).Night(before, nil)
	if second.Count(drift.Still) != 1 || second.Count(drift.New) != 1 || len(second.Gone) != 1 || second.Gone[0].Task != "b" ||
		!second.Drift[0].First.Equal(n.Drift[0].First) {
		t.Errorf("%+v", second)
	}
	// A host that failed was not looked at wholly: nothing is gone there.
	third := run([]step{{name: "a", changed: true}, {name: "x", status: event.Failed}}).Night(before, nil)
	if kept, _ := third.Keep(); len(third.Gone) != 0 || len(kept) != 2 || kept[1].Kind != drift.Unchecked {
		t.Errorf("%+v", third)
	}
}

func rules(t *testing.T, lines string) []drift.Rule {
	t.Helper()
	r, err := drift.ParseRules(lines)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRules leaves out what rules name and refuses what is no rule.
func TestRules(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]int{
		"host=web*": 0, "host=db*": 1, "path=/etc/*": 1, "path=/etc/**": 0, "task=motd,path=/etc/a/b": 0, "task=other, path=/etc/a/b": 1, "# none": 1,
		"path=/etc/a/?": 0,
	} {
		n := run([]step{{name: "motd", changed: true, result: value.DictOf("dest", "/etc/a/b")}}).Night(nil, rules(t, rule+"\n"))
		if len(n.Drift) != want {
			t.Errorf("%s leaves %d, want %d", rule, len(n.Drift), want)
		}
	}
	for _, bad := range []string{"web1", "hosts=web1", "path="} {
		if _, err := drift.ParseRule(bad); err == nil || !strings.HasPrefix(err.Error(), "cannot read the rule") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestForms writes a night in every form.
func TestForms(t *testing.T) {
	t.Parallel()
	n := run([]step{
		{name: "motd", changed: true, result: value.DictOf("dest", "/etc/motd", "diff", value.DictOf("before", "a\x1b\n", "after", "b\n"))},
		{name: "ask", action: "command", status: event.Skipped, result: value.DictOf("msg", "Command would have run if not in check mode")},
	}).Night(nil, nil)
	n.Playbooks, n.ExitCode = []string{`/srv/a "b".yml`}, 2
	var text, js, junit, prom strings.Builder
	for _, err := range []error{n.WriteText(&text, true), n.WriteJSON(&js), n.WriteJUnit(&junit), n.WritePrometheus(&prom)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{text.String(), `Drift of a "b".yml: 1 on 1 of 1 host, 1 unknown`},
		{text.String(), "      -a^[\n      +b\n"},
		{text.String(), "check mode cannot predict command\n      on web1\n"},
		{prom.String(), `play_drift_findings{playbook="/srv/a \"b\".yml",state="first"} 1`},
		{prom.String(), `host="web1"} 1`},
		{junit.String(), `<testsuites tests="2" failures="1" errors="0" skipped="1">`},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("there is no %q in\n%s", c.want, c.text)
		}
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(js.String()), &doc); err != nil || doc["exit_code"] != 2.0 {
		t.Errorf("%v: %v", doc, err)
	}
	if err := xml.Unmarshal([]byte(junit.String()), new(struct{})); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(prom.String()) {
		if !strings.HasPrefix(line, "# ") && len(strings.Fields(line)) < 2 {
			t.Errorf("no metric: %q", line)
		}
	}
}
