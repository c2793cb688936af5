package iterator

import (
	"slices"
	"strings"
	"testing"

	"play/engine/playbook"
)

func job(name string) *playbook.Task { return &playbook.Task{Name: name} }

func block(body, rescue, always []playbook.Node) *playbook.Block {
	return &playbook.Block{Body: body, Rescue: rescue, Always: always}
}

func nodes(list ...playbook.Node) []playbook.Node { return list }

// walk runs one host to its end; the tasks named in fail do fail.
func walk(it *Iterator, host string, fail ...string) string {
	var ran []string
	for t, _ := it.Next(host); t != nil; t, _ = it.Next(host) {
		name := t.Name.(string)
		ran = append(ran, name)
		if slices.Contains(fail, name) {
			it.Fail(host)
			continue
		}
		it.Ran(host)
		it.Done(host)
	}
	return strings.Join(ran, " ")
}

func TestUnwinding(t *testing.T) {
	t.Parallel()
	inner := block(nodes(job("i1"), job("i2")), nodes(job("ir")), nodes(job("ia")))
	outer := block(nodes(job("o1"), inner, job("o2")), nodes(job("or")), nodes(job("oa")))
	plain := block(nodes(job("p1"), job("p2")), nil, nodes(job("pa")))
	for _, c := range []struct {
		name   string
		nodes  []playbook.Node
		fail   []string
		want   string
		failed bool
	}{
		{"nothing fails", nodes(outer, job("end")), nil, "o1 i1 i2 ia o2 oa end", false},
		{"the inner rescue", nodes(outer, job("end")), []string{"i1"}, "o1 i1 ir ia o2 oa end", false},
		{"a rescue that fails goes to the outer one", nodes(outer, job("end")), []string{"i2", "ir"}, "o1 i1 i2 ir ia or oa end", false},
		{"an always part that fails", nodes(outer, job("end")), []string{"ia"}, "o1 i1 i2 ia or oa end", false},
		{"no rescue is left", nodes(outer, job("end")), []string{"o1", "or"}, "o1 or oa", true},
		{"always without rescue", nodes(plain, job("end")), []string{"p1"}, "p1 pa", true},
		{"no block", nodes(job("a"), job("b")), []string{"a"}, "a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			it := New([]string{"h"}, c.nodes)
			if got := walk(it, "h", c.fail...); got != c.want {
				t.Errorf("ran %q, want %q", got, c.want)
			}
			if it.Failed("h") != c.failed {
				t.Errorf("failed: %v", it.Failed("h"))
			}
		})
	}
}

func TestWillRescueAndRecovering(t *testing.T) {
	t.Parallel()
	it := New([]string{"h"}, nodes(block(nodes(block(nodes(job("x")), nil, nodes(job("a")))), nodes(job("r")), nil)))
	it.Next("h")
	if !it.WillRescue("h") || it.Recovering("h") {
		t.Error("the body of a block with a rescue part")
	}
	it.Fail("h")
	if next, _ := it.Next("h"); next.Name != "a" || !it.WillRescue("h") || !it.Recovering("h") {
		t.Errorf("the inner always part comes before the outer rescue, got %v", next.Name)
	}
	it.Done("h")
	if next, _ := it.Next("h"); next.Name != "r" || it.WillRescue("h") || !it.Recovering("h") {
		t.Errorf("then the rescue part, got %v", next.Name)
	}
}

func TestPositionsMeet(t *testing.T) {
	t.Parallel()
	first, included := job("include"), job("included")
	it := New([]string{"a", "b"}, nodes(first, job("after")))
	_, pos := it.Next("a")
	it.Next("b")
	it.Done("a")
	it.Done("b")
	it.Queue("a", 0, nodes(block(nodes(included), nil, nil)))
	it.Release("a")
	ta, pa := it.Next("a")
	tb, pb := it.Next("b")
	if ta != included || tb.Name != "after" || pa.Compare(pb) >= 0 || pa.Compare(pos) <= 0 {
		t.Errorf("a is at %v %v, b at %v %v", ta.Name, pa, tb.Name, pb)
	}
}

func TestQueueKeepsOrder(t *testing.T) {
	t.Parallel()
	it := New([]string{"h"}, nodes(job("include"), job("end")))
	it.Next("h")
	it.Done("h")
	it.Queue("h", 0, nodes(job("one")))
	it.Queue("h", 1, nodes(job("two")))
	it.Release("h")
	if got := walk(it, "h"); got != "one two end" {
		t.Errorf("ran %q", got)
	}
}

func TestHandlers(t *testing.T) {
	t.Parallel()
	a, b, c := job("a"), job("b"), job("c")
	it := New([]string{"h"}, nodes(job("flush"), job("flush again"), job("end")))
	it.Next("h")
	if !it.Notify("h", c) || !it.Notify("h", a) || it.Notify("h", a) {
		t.Error("a handler is marked once")
	}
	it.Flush("h", nodes(a, b, c))
	it.Done("h")
	if next, _ := it.Next("h"); next != a {
		t.Fatalf("handlers run in the order of their definition, got %v", next.Name)
	}
	it.Notify("h", b) // comes later in this flush
	if it.Notify("h", a) {
		t.Error("a handler that notifies itself is not run again")
	}
	it.Done("h")
	it.Next("h")
	it.Notify("h", a) // waits for the next one
	for _, want := range []*playbook.Task{b, c} {
		if next, _ := it.Next("h"); next != want {
			t.Fatalf("want %v, got %v", want.Name, next.Name)
		}
		it.Done("h")
	}
	it.Next("h")
	it.Flush("h", nodes(a, b, c))
	it.Done("h")
	if got := walk(it, "h"); got != "a end" {
		t.Errorf("ran %q", got)
	}
}

func TestRoleOnce(t *testing.T) {
	t.Parallel()
	role := &playbook.Role{Name: "r"}
	apply := func(name string) *playbook.Block {
		b := &playbook.Block{Role: role, Once: "key"}
		t := &playbook.Task{Name: name, Role: role, Parent: b}
		b.Body = nodes(t)
		return b
	}
	it := New([]string{"ran", "skipped"}, nodes(apply("first"), apply("second"), job("end")))
	if got := walk(it, "ran"); got != "first end" {
		t.Errorf("ran %q", got)
	}
	it.Next("skipped")
	it.Done("skipped") // without Ran: the task was skipped
	if next, _ := it.Next("skipped"); next.Name != "second" {
		t.Errorf("a role whose tasks were skipped runs again, got %v", next.Name)
	}
}

func TestSelectPassesHandlers(t *testing.T) {
	t.Parallel()
	it := New([]string{"h"}, nodes(job("x"), &playbook.Task{Name: "included handler", Handler: true}))
	it.Select = func(*playbook.Task) bool { return false }
	if got := walk(it, "h"); got != "included handler" {
		t.Errorf("ran %q", got)
	}
}

func TestForgiveAndDrop(t *testing.T) {
	t.Parallel()
	it := New([]string{"f", "d"}, nodes(job("x"), job("y")))
	it.Next("f")
	it.Fail("f")
	it.Forgive("f")
	if next, _ := it.Next("f"); next != nil || it.Failed("f") {
		t.Error("a forgiven host is sound and has nothing left")
	}
	it.Drop("d")
	if next, _ := it.Next("d"); next != nil || it.Failed("d") {
		t.Error("a dropped host is sound and has nothing left")
	}
}
