package jinja

import (
	"strings"
	"testing"

	"play/modules/value"
)

// TestConditionForms covers what is no text: testdata/language.jsonl has the rest.
func TestConditionForms(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	for _, tc := range []struct {
		v    any
		want bool
	}{{true, true}, {false, false}, {nil, true}, {"", true}, {0, false}, {1, true}, {value.NewList(), false}} {
		k, err := e.Cond(tc.v, inFile(1))
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := k.Eval(&Context{}); err != nil || ok != tc.want {
			t.Errorf("%v: got %v, %v", tc.v, ok, err)
		}
	}
}

func TestOldConditionWarns(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	v, err := e.Load("{{ x == 1 }}", inFile(4))
	if err != nil {
		t.Fatal(err)
	}
	k, err := e.Cond(v, inFile(4))
	if err != nil {
		t.Fatal(err)
	}
	var warned []string
	c := &Context{Vars: Vars{value.DictOf("x", 1)}, Warn: func(msg string) { warned = append(warned, msg) }}
	if ok, err := k.Eval(c); !ok || err != nil {
		t.Errorf("got %v, %v", ok, err)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "{{ x == 1 }}") {
		t.Errorf("warnings: %q", warned)
	}
}

func TestBrokenConditionHasAPlace(t *testing.T) {
	t.Parallel()
	_, err := NewEnv(Options{}).Cond("x is defined and (y", inFile(7))
	if err == nil || !strings.HasPrefix(err.Error(), "site.yml:7:20: ") {
		t.Errorf("got %v", err)
	}
}
