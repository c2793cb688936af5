package jinja

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"play/modules/value"
)

// TestDataIsNeverATemplate sends the text of a template as data through every
// part of the language: it must come out as it went in.
func TestDataIsNeverATemplate(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	const canary = "{{ 1 + 1 }}{% set x = 1 %}"
	data := value.DictOf("s", canary, "l", value.NewList(canary), "d", value.DictOf(canary, canary), "nested", value.DictOf("k", value.NewList(canary)))
	c := &Context{Vars: Vars{data}}
	for _, src := range []string{
		"{{ s }}", "{{ s ~ '' }}", "{{ '' + s }}", "{{ l[0] }}", "{{ l | first }}", "{{ l | join }}", "{{ d.values() | list | first }}", "{{ d.keys() | list | last }}",
		"{{ nope | default(s) }}", "{{ s if true }}", "{{ '%s' % s }}", "{{ '{}'.format(s) }}", "{{ [s][0] }}", "{{ {'a': s}.a }}", "{{ nested.k[0] }}",
		"{% set y = s %}{{ y }}", "{% for x in l %}{{ x }}{% endfor %}", "{% for k, v in d.items() %}{{ v }}{% endfor %}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(s) }}",
		"{% set y %}{{ s }}{% endset %}{{ y }}", "{% filter trim %}{{ s }}{% endfilter %}", "{% with y = s %}{{ y }}{% endwith %}", "{{ s | string }}", "{{ s.replace('q', '') }}",
		"{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ s }}{% endcall %}", "{{ namespace(a=s).a }}", "{% print s %}", "{{ s[:5] ~ s[5:] }}",
	} {
		v, err := eval(t, e, src, c)
		if err != nil || v != canary {
			t.Errorf("%s: got %v, %v", src, v, err)
		}
	}
	for src, want := range map[string]string{
		"{{ l }}": "[" + value.Repr(canary) + "]", "x{{ s }}": "x" + canary, "[{{ s | to_json }}]": "[" + value.Repr(canary) + "]",
	} {
		v, err := eval(t, e, src, c)
		if err != nil || value.Str(v) != want {
			t.Errorf("%s: got %v, %v", src, v, err)
		}
	}
	v, err := c.Resolve(data)
	if err != nil || v != any(data) {
		t.Errorf("Resolve changed data: %v", err)
	}
}

func TestConditionNeverEvaluatesData(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	c := &Context{Vars: Vars{value.DictOf("s", "1 == 1", "u", "') or ('1' == '1")}}
	for src, want := range map[string]string{
		"{{ s }}":            "error",
		"'{{ u }}' == 'x'":   "false",
		"{{ s }} == 'other'": "false",
	} {
		k, err := e.Cond(src, inFile(1))
		if err != nil {
			t.Fatal(err)
		}
		ok, err := k.Eval(c)
		if (want == "error") != (err != nil) || ok {
			t.Errorf("%s: got %v, %v", src, ok, err)
		}
	}
}

// TestNoBuiltinEvaluatesData calls every filter, test and global with the text
// of a template as value and as every argument. Had any of them evaluated it,
// the file would be there.
func TestNoBuiltinEvaluatesData(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	canary := filepath.Join(t.TempDir(), "CANARY")
	text := "{{ lookup('pipe', 'touch " + canary + "') }}"
	values := []any{
		text, value.NewList(text, text), value.DictOf("k", text, "name", text), value.NewList(value.DictOf("name", text, "k", text)),
		value.DictOf("stdout", text, "rc", 0, "failed", false),
	}
	try := func(b *builtin, v any) {
		args := make([]any, 0, len(b.sig.params))
		for _, p := range b.sig.params[:max(b.sig.npos, 0)] {
			if p.required {
				args = append(args, v)
			}
		}
		for _, args := range [][]any{args, append(append([]any{}, args...), text)} {
			c := &Context{Vars: Vars{value.DictOf("x", v)}, Now: time.Now}
			r, err := b.invoke(&Call{Ctx: c, Env: e, Name: b.Name, Value: v}, args, nil)
			if err == nil {
				_, _ = c.Resolve(r)
				_, _ = printed(r, 1<<20)
			}
		}
	}
	for _, v := range values {
		for _, r := range []registry{e.filters, e.tests, e.globals} {
			for name, b := range r {
				if name == "password_hash" || name == "lookup" || name == "query" || name == "q" {
					continue // slow, and those that run what they are told to
				}
				try(b, v)
			}
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("data was evaluated")
	}
	if _, err := eval(t, e, text, &Context{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(canary); err != nil {
		t.Error("the same text, loaded, should have made the file")
	}
}
