package jinja

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"play/modules/value"
)

// counting is a scope that counts its look-ups.
type counting struct {
	Vars
	seen map[string]int
}

func (c *counting) Lookup(name string) (any, bool) {
	c.seen[name]++
	return c.Vars.Lookup(name)
}

func TestOnlyWhatIsUsedIsEvaluated(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	c := withVars(t, e, "a", value.DictOf("b", value.DictOf("c", "{{ one }}", "d", "{{ 1 / 0 }}"), "e", "{{ nope }}"), "one", 1, "unused", "{{ boom }}")
	vars := &counting{c.Vars.(Vars), map[string]int{}}
	c.Vars = vars
	v, err := eval(t, e, "{{ a.b.c + 1 }}", c)
	if err != nil || v != 2 {
		t.Fatalf("got %v, %v", v, err)
	}
	if vars.seen["unused"]+vars.seen["nope"] > 0 {
		t.Errorf("looked up %v", vars.seen)
	}
	if _, err := eval(t, e, "{{ a.b }}", c); err == nil || !strings.Contains(err.Error(), "division by zero") {
		t.Errorf("whole dict: %v", err)
	}
}

func TestLoopAmongVariablesShowsTheChain(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	for name, tc := range map[string]struct {
		vars  *value.Dict
		chain string
	}{
		"direct":     {value.DictOf("a", "{{ a }}"), "a → a"},
		"two":        {value.DictOf("a", "{{ b }}", "b", "{{ a }}x"), "a → b → a"},
		"three":      {value.DictOf("a", "{{ b.k }}", "b", value.DictOf("k", "{{ c }}"), "c", "{{ a }}"), "a → b.k → c → a"},
		"after some": {value.DictOf("a", "{{ b }}", "b", "{{ c }}", "c", "{{ b }}"), "b → c → b"},
		"in a list":  {value.DictOf("a", value.NewList("{{ a }}")), "→"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := loaded(t, e, tc.vars)
			_, err := eval(t, e, "{{ a }}", &Context{Vars: Vars{v.(*value.Dict)}})
			var loop *LoopError
			if !errors.As(err, &loop) || !strings.Contains(err.Error(), tc.chain) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestUndefinedInsideAVariableCountsAsUndefined(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	c := withVars(t, e, "a", "{{ nope }}", "d", value.DictOf("k", "{{ nope.x }}", "ok", 1))
	for src, want := range map[string]any{
		"{{ a | default('x') }}": "x", "{{ a is defined }}": false, "{{ d.k | default('y') }}": "y", "{{ d.ok }}": 1,
		"{{ d | default('z') }}": "z",
	} {
		if v, err := eval(t, e, src, c); err != nil || v != want {
			t.Errorf("%s: got %v, %v", src, v, err)
		}
	}
	_, err := eval(t, e, "{{ a }}", c)
	var u *UndefinedError
	if !errors.As(err, &u) || u.Msg != "{{ nope }}: 'nope' is undefined" {
		t.Errorf("got %v", err)
	}
}

func TestVariablesSeeVariablesNotTemplateNames(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	c := withVars(t, e, "x", 1, "y", "{{ x }}")
	v, err := eval(t, e, "{% set x = 2 %}{% for x in [3] %}{{ y }}{{ x }}{% endfor %}", c)
	if err != nil || v != "13" {
		t.Errorf("got %v, %v", v, err)
	}
	c.Locals = value.DictOf("x", 5)
	if v, err = eval(t, e, "{{ y }}", c); err != nil || v != 5 {
		t.Errorf("with locals: got %v, %v", v, err)
	}
}

func TestChangesStayInTheTemplate(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	list := value.NewList(1)
	c := &Context{Vars: Vars{value.DictOf("l", list, "d", value.DictOf("k", list))}}
	for src, want := range map[string]string{
		"{% do l.append(2) %}{{ l }}":                                        "[1, 2]",
		"{{ l.append(2) or l }}":                                             "[1, 2]",
		"{% set m = d %}{% do m.k.append(3) %}{{ d.k }}":                     "[1, 3]",
		"{% for x in [d] %}{% do x.update({'z': 1}) %}{% endfor %}{{ d.z }}": "1",
		"{{ [l.append(5), l, l] | last }}":                                   "[1, 5]",
	} {
		if v, err := eval(t, e, src, c); err != nil || value.Str(v) != want {
			t.Errorf("%s: got %v, %v", src, value.Str(v), err)
		}
	}
	if list.Len() != 1 {
		t.Errorf("the variable was changed: %v", value.Repr(list))
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	c := withVars(t, e, "x", 7)
	raw, _ := loaded(t, e, value.DictOf("a", value.NewList("{{ x }}", "plain")))
	v, err := c.Resolve(raw)
	if err != nil || value.Repr(v) != "{'a': [7, 'plain']}" {
		t.Errorf("got %v, %v", value.Repr(v), err)
	}
	plain := value.DictOf("a", value.NewList(1))
	if v, _ := c.Resolve(plain); v != any(plain) {
		t.Error("a value in which nothing waits must come back as it is")
	}
}

// view is a mapping whose values depend on who asks.
type view struct{ ask *Context }

func (v *view) Bind(c *Context) any { return &view{c} }
func (v *view) Keys() []any         { return []any{"a"} }
func (v *view) Get(key any) (any, bool, error) {
	other := v.ask.With(v.ask.Vars)
	x, ok, err := other.Lookup(value.Str(key))
	return x, ok, err
}

func TestLoopThroughAMapping(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	c := withVars(t, e, "a", "{{ other.b }}", "b", "{{ other.a }}", "ok", "{{ other.plain }}", "plain", 3)
	c.Vars.(Vars).Set("other", &view{})
	_, err := eval(t, e, "{{ a }}", c)
	var loop *LoopError
	if !errors.As(err, &loop) {
		t.Errorf("got %v", err)
	}
	if v, err := eval(t, e, "{{ ok }}{{ other.nope is defined }}", c); err != nil || v != "3False" {
		t.Errorf("got %v, %v", v, err)
	}
}

// facts is a mapping that hands out one shared list.
type facts struct{ l *value.List }

func (m *facts) Keys() []any                { return []any{"l"} }
func (m *facts) Get(any) (any, bool, error) { return m.l, true, nil }

func TestChangesDoNotReachMappings(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	m := &facts{value.NewList(1)}
	c := &Context{Vars: Vars{value.DictOf("m", value.DictOf("h", m), "top", m)}}
	for _, src := range []string{
		"{% do top.l.append(2) %}", "{% do top['l'].append(2) %}", "{% do m.h.l.append(2) %}", "{% set x = top.values() | first %}{% do x.append(2) %}",
		"{% set x = 'l' | extract(top) %}{% do x.append(2) %}", "{{ top.l.append(2) }}",
	} {
		if _, err := eval(t, e, src, c); err != nil {
			t.Errorf("%s: %v", src, err)
		}
		if m.l.Len() != 1 {
			t.Fatalf("%s changed the mapping's list", src)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	for _, kind := range []string{"filter", "test", "lookup", "global"} {
		names := e.Names(kind)
		if len(names) < 5 || !slices.IsSorted(names) {
			t.Errorf("%s: %v", kind, names)
		}
		for _, n := range names {
			if b, ok := e.Describe(kind, "ansible.builtin."+n); !ok || b.Doc == "" {
				t.Errorf("%s %s has no line of documentation", kind, n)
			}
		}
	}
	if _, ok := e.Describe("filter", "nope"); ok || e.Names("nope") != nil {
		t.Error("found what is not there")
	}
}
