package strategy

import (
	"slices"
	"testing"

	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/task"
	"play/engine/vars"
	"play/modules/value"
)

func TestSelects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tags, only, skip []string
		want             bool
	}{
		{nil, nil, nil, true},
		{[]string{"a"}, []string{"a"}, nil, true},
		{[]string{"a"}, []string{"b"}, nil, false},
		{nil, []string{"b"}, nil, false},
		{[]string{"always"}, []string{"b"}, nil, true},
		{[]string{"always"}, nil, []string{"always"}, false},
		{[]string{"always", "a"}, nil, []string{"a"}, false},
		{[]string{"never"}, nil, nil, false},
		{[]string{"never"}, []string{"all"}, nil, false},
		{[]string{"never", "a"}, []string{"a"}, nil, true},
		{[]string{"a"}, []string{"tagged"}, nil, true},
		{nil, []string{"tagged"}, nil, false},
		{nil, []string{"untagged"}, nil, true},
		{[]string{"a"}, []string{"untagged"}, nil, false},
		{[]string{"a"}, nil, []string{"tagged"}, false},
		{nil, nil, []string{"untagged"}, false},
		{[]string{"always"}, nil, []string{"all"}, true},
		{[]string{"a"}, nil, []string{"all"}, false},
	} {
		if got := selects(c.tags, c.only, c.skip); got != c.want {
			t.Errorf("tags %v with --tags %v --skip-tags %v: %v", c.tags, c.only, c.skip, got)
		}
	}
}

func TestBatchSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    any
		want int
	}{{nil, 10}, {3, 3}, {"4", 4}, {"30%", 3}, {"35%", 3}, {"1%", 1}, {"100%", 10}} {
		if got, err := batchSize(c.v, 10, source.Pos{}); got != c.want || err != nil {
			t.Errorf("serial: %v of 10 hosts is %d, %v; want %d", c.v, got, err, c.want)
		}
	}
	if _, err := batchSize("many", 10, source.Pos{}); err == nil {
		t.Error("serial: many is a mistake")
	}
}

// none is an empty inventory.
type none struct{}

func (none) HostLayers(string) ([]vars.Layer, error) { return nil, nil }
func (none) GroupNames(string) []string              { return nil }
func (none) Groups() *value.Dict                     { return value.NewDict() }
func (none) HostNames() []string                     { return nil }
func (none) HasHost(string) bool                     { return false }

func newEval(keywords playbook.Keywords) *playEval {
	p := &playbook.Play{Vars: value.NewDict(), Keywords: keywords}
	context := func(s *vars.Scope, _ *task.Files) *jinja.Context { return &jinja.Context{Vars: s} }
	r := &Run{Builder: &vars.Builder{Inventory: none{}, Store: vars.NewStore(), Run: value.NewDict()}, Executor: &task.Executor{Context: context}}
	return &playEval{run: r, view: r.Builder.Play(p, value.NewDict(), nil), play: p}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	hosts := []string{"a", "b", "c", "d", "e"}
	e := newEval(playbook.Keywords{"serial": {Value: value.NewList(1, "40%")}})
	got, err := e.batches(hosts)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"a"}, {"b", "c"}, {"d", "e"}}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("batches are %v, want %v", got, want)
	}
}

func TestOrdered(t *testing.T) {
	t.Parallel()
	hosts := []string{"b", "c", "a"}
	for order, want := range map[string][]string{
		"inventory": {"b", "c", "a"}, "reverse_inventory": {"a", "c", "b"}, "sorted": {"a", "b", "c"}, "reverse_sorted": {"c", "b", "a"},
	} {
		got, err := newEval(playbook.Keywords{"order": {Value: order}}).ordered(hosts)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("order: %s gives %v, %v", order, got, err)
		}
	}
	if _, err := newEval(playbook.Keywords{"order": {Value: "random"}}).ordered(hosts); err == nil {
		t.Error("order: random is a mistake")
	}
}

func TestFanOut(t *testing.T) {
	t.Parallel()
	hosts := []string{"a", "b", "c", "d"}
	var got []string
	fanOut(hosts, 2, func(h string) string { return h + "!" }, func(s string) { got = append(got, s) })
	slices.Sort(got)
	if !slices.Equal(got, []string{"a!", "b!", "c!", "d!"}) {
		t.Errorf("results are %v", got)
	}
}

func TestRegisteredDropsHints(t *testing.T) {
	t.Parallel()
	item := value.DictOf("msg", "x", "_ansible_verbose_always", true)
	kept := registered(value.DictOf("rc", 0, "invocation", value.NewDict(), "_ansible_no_log", false, "results", value.NewList(item)))
	if got := value.Repr(kept); got != "{'rc': 0, 'results': [{'msg': 'x'}]}" {
		t.Errorf("registered %s", got)
	}
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, v, want any }{
		{1, 2, 3}, {"a", "b", "ab"}, {1.5, 1, 2.5}, {true, false, false}, {"a", 1, 1},
	} {
		if got := aggregate(c.old, c.v); got != c.want {
			t.Errorf("%v and %v make %v, want %v", c.old, c.v, got, c.want)
		}
	}
}
