package jinja

import (
	"os"
	"testing"

	"play/modules/value"
)

func benchVars(b *testing.B) *Context {
	b.Helper()
	data, err := os.ReadFile("benchcmp/vars.json")
	if err != nil {
		b.Fatal(err)
	}
	v, err := value.DecodeJSON(data)
	if err != nil {
		b.Fatal(err)
	}
	return &Context{Vars: Vars{v.(*value.Dict)}}
}

// BenchmarkConfig compiles and renders a configuration file of 200 lines.
func BenchmarkConfig(b *testing.B) {
	src, err := os.ReadFile("benchcmp/config.j2")
	if err != nil {
		b.Fatal(err)
	}
	e, c := NewEnv(Options{}), benchVars(b)
	tmpl, err := e.TemplateFile("config.j2", src, FileOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			if _, err := e.TemplateFile("config.j2", src, FileOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("render", func(b *testing.B) {
		for b.Loop() {
			if _, err := tmpl.Render(c); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchValue(b *testing.B, src string) {
	b.Helper()
	b.ReportAllocs()
	e, c := NewEnv(Options{}), benchVars(b)
	tmpl, err := e.Template(src, inFile(1))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := tmpl.Value(c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExpression(b *testing.B) { benchValue(b, "{{ a.b | default('x') }}") }
func BenchmarkText(b *testing.B)       { benchValue(b, "/srv/{{ user.name }}/{{ a.b }}") }
func BenchmarkEmptyLoop(b *testing.B)  { benchValue(b, "{% for i in range(3000000) %}{% endfor %}") }
func BenchmarkLoop(b *testing.B) {
	benchValue(b, "{% for i in range(100) %}{{ loop.index }}:{{ i }}{% if not loop.last %},{% endif %}{% endfor %}")
}

func BenchmarkCondition(b *testing.B) {
	b.ReportAllocs()
	e, c := NewEnv(Options{}), benchVars(b)
	k, err := e.Cond("a.b == 5 and log.level in ['warn', 'info'] and nope is not defined", inFile(1))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if ok, err := k.Eval(c); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// TestConditionAllocations checks that judging a condition costs the same
// memory whatever the number of variables.
func TestConditionAllocations(t *testing.T) { // not parallel: it counts allocations
	e := NewEnv(Options{})
	k, err := e.Cond("v1 == 1 and v2 is defined and d.x.y | default(3) == 3", inFile(1))
	if err != nil {
		t.Fatal(err)
	}
	allocs := func(n int) float64 {
		vars := value.DictOf("d", value.DictOf("x", value.NewDict()))
		for i := range n {
			vars.Set("v"+itoa(i), i)
		}
		c := &Context{Vars: Vars{vars}}
		return testing.AllocsPerRun(100, func() {
			if ok, err := k.Eval(c); !ok || err != nil {
				t.Fatal(ok, err)
			}
		})
	}
	if few, many := allocs(5), allocs(50_000); many > few || few > 10 {
		t.Errorf("%v allocations with few variables, %v with many", few, many)
	}
}
