package jinja

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"play/modules/value"
)

func TestFileOptions(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	off, on := false, true
	c := &Context{Vars: Vars{value.DictOf("x", 5)}}
	for _, tc := range []struct {
		src, want string
		o         FileOptions
	}{
		{"[[ x ]] {{ x }}", "5 {{ x }}", FileOptions{VariableStart: "[[", VariableEnd: "]]"}},
		{"<% if x %>\ny<# c #>\n<% endif %>", "y", FileOptions{BlockStart: "<%", BlockEnd: "%>", CommentStart: "<#", CommentEnd: "#>"}},
		{"{% if x %}\ny\n{% endif %}\n", "\ny\n", FileOptions{TrimBlocks: &off}},
		{"  {% if x %}\ny\n  {% endif %}\n", "y\n", FileOptions{LstripBlocks: &on}},
		{"a\n{{ x }}\n", "a\r\n5\r\n", FileOptions{NewlineSequence: "\r\n"}},
		{"((* if x *))y((* endif *))((( x )))", "y5", FileOptions{BlockStart: "((*", BlockEnd: "*))", VariableStart: "(((", VariableEnd: ")))"}},
		{"<%= x %><% if x %>z<% endif %>", "5z", FileOptions{BlockStart: "<%", BlockEnd: "%>", VariableStart: "<%=", VariableEnd: "%>"}},
	} {
		tmpl, err := e.TemplateFile("t.j2", []byte(tc.src), tc.o)
		if err != nil {
			t.Errorf("%q: %v", tc.src, err)
			continue
		}
		if got, err := tmpl.Render(c); err != nil || got != tc.want {
			t.Errorf("%q: got %q, %v", tc.src, got, err)
		}
	}
	for _, src := range []string{"#jinja2: nonsense\nx", "#jinja2: trim_blocks: maybe\nx", "#jinja2: variable_start_string: 5\nx"} {
		if _, err := e.TemplateFile("t.j2", []byte(src), FileOptions{}); err == nil || !strings.HasPrefix(err.Error(), "t.j2:1:1: cannot read the override") {
			t.Errorf("%q: got %v", src, err)
		}
	}
}

// TestIncludedFileMayChange renders again after the included file was changed.
func TestIncludedFileMayChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "part.j2")
	e := NewEnv(Options{})
	tmpl, err := e.TemplateFile(filepath.Join(dir, "main.j2"), []byte("<{% include 'part.j2' %}>"), FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"one", "two", "three"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		stamp := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path, stamp, stamp); err != nil {
			t.Fatal(err)
		}
		if got, err := tmpl.Render(&Context{}); err != nil || got != "<"+text+">" {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// TestConcurrentRenders renders one template from many goroutines, and
// compiles others meanwhile.
func TestConcurrentRenders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"base.j2":  "<{% block a %}base{% endblock %}>{% block b %}{% endblock %}",
		"m.j2":     "{% macro m(x) %}[{{ x }}]{% endmacro %}",
		"child.j2": "{% extends 'base.j2' %}{% import 'm.j2' as lib %}{% block a %}{{ super() }}{{ host }}{% for i in l if i > 1 %}{{ loop.index }}{{ lib.m(i) }}{% endfor %}{% do l.append(host) %}{{ l|length }}{% endblock %}",
	}
	for name, src := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := NewEnv(Options{})
	tmpl, err := e.TemplateFile(filepath.Join(dir, "child.j2"), []byte(files["child.j2"]), FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	shared, _ := loaded(t, e, value.DictOf("l", value.NewList(1, 2, 3), "lazy", "{{ host }}!", "both", "{{ lazy }}{{ l }}"))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			host := "h" + itoa(g)
			for range 50 {
				vars := shared.(*value.Dict).Clone()
				vars.Set("host", host)
				c := &Context{Vars: Vars{vars}, Files: folder(dir)}
				if got, err := tmpl.Render(c); err != nil || got != "<base"+host+"1[2]2[3]4>" {
					t.Errorf("got %q, %v", got, err)
				}
				if v, err := eval(t, e, "{{ both }}{% if true %}{% endif %}", c); err != nil || v != host+"![1, 2, 3]" {
					t.Errorf("got %v, %v", v, err)
				}
			}
		}()
	}
	wg.Wait()
}

func TestVariables(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	for src, want := range map[string]string{
		"{{ a.b + c[d] | default(e) }}": "a c d e",
		"{% set x = y %}{{ x }}{% for i in l if i > m %}{{ i }}{{ loop.index }}{% endfor %}": "l m y",
		"{% macro f(p, q=r) %}{{ p }}{{ caller() }}{{ z }}{% endmacro %}{{ f(1) }}":          "r z",
		"{{ range(n) }}{{ lookup('env', h) }}":                                               "h n",
		"plain":                                                                              "",
	} {
		tmpl, err := e.Template(src, inFile(1))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(tmpl.Variables(), " "); got != want {
			t.Errorf("%s: got %q", src, got)
		}
	}
}
