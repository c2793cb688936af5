package jinja

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/engine/source"
	"play/modules/value"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{MaxSteps: 100_000, MaxOutput: 1 << 20})
	c := &Context{Vars: Vars{value.DictOf("s", "abc", "l", value.NewList(1))}}
	for src, want := range map[string]string{
		"{% set l = [] %}{% do l.append(l) %}{% do l.append(l) %}{{ l }}":                                                                                      "nothing",
		"{% set ns = namespace(a=[]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a }}":                                            "too large",
		"{% set ns = namespace(a=[], b=[]) %}{% for i in range(20) %}{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}{% endfor %}{{ ns.a == ns.b }}": "nothing",
		"{{ 'x' ~ l.append(l) ~ l.append(l) ~ l }}":                                                                                                            "nothing",
		"{% for x in range(1000000000) %}{% endfor %}":                                                                                                         "too many steps",
		"{% for x in range(999) %}{% for y in range(999) %}{% endfor %}{% endfor %}":                                                                           "too many steps",
		"{% for x in range(999) %}{{ 'x' * 100000 }}{% endfor %}":                                                                                              "too much text",
		"{{ 'x' * 10000000000 }}": "too large",
		"{{ [0] * 10000000000 }}": "too large",
		"{{ 10 ** 10000000000 }}": "too large",
		"{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}": "too large",
		"{% set ns = namespace(x=9) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}":    "too large",
		"{{ range(10000000000) | list }}":                         "",
		"{{ '%99999999999d' % 1 }}":                               "",
		"{{ '{:99999999999}'.format(1) }}":                        "",
		"{{ 'a'.center(99999999999) }}":                           "",
		"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}":         "recursion depth",
		"{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}": "recursion depth",
		strings.Repeat("{{ ", 1) + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + " }}": "nested too deeply",
		"{{ " + strings.Repeat("not ", 5000) + "1 }}":                                                  "nested too deeply",
		"{{ " + strings.Repeat("-", 5000) + "1 }}":                                                     "nested too deeply",
		"{{ 1 / 0 }}":   "division by zero",
		"{{ 1 // 0 }}":  "by zero",
		"{{ 1.0 % 0 }}": "modulo",
		"{% set l = [] %}{% do l.append(l) %}{{ l }}":                       "nothing",
		"{% set l = [] %}{% do l.append(l) %}{% set m = [l] %}{{ l == m }}": "nothing",
	} {
		_, err := eval(t, e, src, c)
		if want == "nothing" {
			continue // only has to end
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %.200v", src, err)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := eval(t, NewEnv(Options{}), "{% for x in range(100000) %}{% endfor %}", &Context{Go: ctx})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestIncludeOfItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, src := range map[string]string{"a.j2": "{% include 'a.j2' %}", "b.j2": "{% extends 'b.j2' %}", "c.j2": "{% import 'c.j2' as c %}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		e := NewEnv(Options{})
		tmpl, err := e.TemplateFile(filepath.Join(dir, name), []byte(src), FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tmpl.Render(&Context{}); err == nil || !strings.Contains(err.Error(), "recursion depth") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestErrorPlaces checks file, line and column of mistakes.
func TestErrorPlaces(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	for src, want := range map[string]source.Pos{
		"{{ 1 / 0 }}":                {File: "f.j2", Line: 1, Col: 6},
		"a\nb {{ 1 +\n  nope + 2 }}": {File: "f.j2", Line: 3, Col: 3},
		"a\n{% if true %}\n  {{ [] | nope }}\n{% endif %}": {File: "f.j2", Line: 3, Col: 9},
		"\n\n{% for x in 5 %}{% endfor %}":                 {File: "f.j2", Line: 3, Col: 7},
		"é{{ 1 / 0 }}":                                     {File: "f.j2", Line: 1, Col: 7},
		"x\n{% if y z %}{% endif %}":                       {File: "f.j2", Line: 2, Col: 9},
		"x\n\n  {% endif %}":                               {File: "f.j2", Line: 3, Col: 6},
		"{{ 'a' + 1 }}":                                    {File: "f.j2", Line: 1, Col: 8},
		"{{ d.x.y }}{{ 1 }}":                               {File: "f.j2", Line: 1, Col: 4},
	} {
		tmpl, err := e.TemplateFile("f.j2", []byte(src), FileOptions{})
		if err == nil {
			_, err = tmpl.Render(&Context{})
		}
		var located *source.Error
		if !errors.As(err, &located) || located.Pos != want {
			t.Errorf("%q: got %v", src, err)
		}
	}
}

func TestCannotCompile(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	v, err := e.Load("docker inspect -f '{{.State}}'", inFile(9))
	if err != nil {
		t.Fatal(err)
	}
	tmpl, ok := v.(*Template)
	if !ok || tmpl.Err() == nil {
		t.Fatalf("got %v", v)
	}
	if _, err := tmpl.Value(&Context{}); err == nil || !strings.HasPrefix(err.Error(), "site.yml:9:") {
		t.Errorf("got %v", err)
	}
	if v, _ := e.Load("no tags { here }", inFile(1)); v != "no tags { here }" {
		t.Errorf("plain text came back as %v", v)
	}
}
