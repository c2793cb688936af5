package jinja

import (
	"testing"

	"play/engine/source"
	"play/modules/value"
)

// fuzzEnv has small bounds, so that no input takes long.
func fuzzEnv() *Env { return NewEnv(Options{MaxSteps: 20_000, MaxOutput: 1 << 18}) }

func fuzzVars() *Context {
	return &Context{Vars: Vars{value.DictOf("i", 7, "s", "héllo", "l", value.NewList(3, 1, 2),
		"d", value.DictOf("a", 1, "b", value.NewList("x")), "f", 2.5, "n", nil)}}
}

func seeds(f *testing.F, modes ...string) {
	f.Helper()
	for _, r := range readRecorded(f, "testdata/language.jsonl") {
		for _, m := range modes {
			if r.Mode == m {
				f.Add(r.Template)
			}
		}
	}
}

// FuzzExpression parses and evaluates expressions: no panic, and every end of
// time within the bounds.
func FuzzExpression(f *testing.F) {
	seeds(f, "cond")
	for _, s := range []string{"a.b[1:2]|default('x') is not in [1]", "'%s%05d' % (1, 2)", "'{:>{}}'.format(1, 2)", "[1,*2]", "1 if 2 else 3 ~ 4", "f(*a, **b)"} {
		f.Add(s)
	}
	e := fuzzEnv()
	f.Fuzz(func(t *testing.T, src string) {
		k, err := e.Cond(src, source.Pos{File: "f", Line: 1, Col: 1})
		if err != nil {
			return
		}
		_, _ = k.Eval(fuzzVars())
	})
}

// FuzzTemplate scans, bridges, parses and renders documents.
func FuzzTemplate(f *testing.F) {
	seeds(f, "file", "value")
	e := fuzzEnv()
	f.Fuzz(func(t *testing.T, src string) {
		tmpl, err := e.TemplateFile("f.j2", []byte(src), FileOptions{})
		if err == nil {
			_, _ = tmpl.Render(fuzzVars())
		}
		v, err := e.Load(src, source.Pos{File: "f", Line: 1, Col: 1})
		if err != nil {
			t.Fatalf("Load fails: %v", err)
		}
		if tmpl, ok := v.(*Template); ok {
			_, _ = tmpl.Value(fuzzVars())
		}
	})
}

// FuzzPlainText checks that text without tags comes through pongo2 unchanged.
func FuzzPlainText(f *testing.F) {
	for _, s := range []string{"a{", "{ {", "\x01", "%}}}#}", "{% verbatim %", "é\xff\x00\u2028", "a\tb\\n\"'"} {
		f.Add(s)
	}
	e := fuzzEnv()
	f.Fuzz(func(t *testing.T, src string) {
		c := &Context{Vars: Vars{value.DictOf("s", src)}}
		tmpl, err := e.Template("<{{ s }}{% if true %}{{ s }}{% endif %}>", source.Pos{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tmpl.Render(c); err != nil || got != "<"+src+src+">" {
			t.Errorf("as data: got %q, %v", got, err)
		}
		pieces := []piece{{kind: pieceText, text: text{src: src}}, {kind: pieceText, text: text{src: src}}}
		doc, err := e.compileDocument(pieces, "f")
		if err != nil {
			t.Fatal(err)
		}
		c.frame()
		if got, err := doc.render(c, false); err != nil || got != src+src {
			t.Errorf("as text: got %q, %v", got, err)
		}
	})
}

// FuzzFormat runs the two format languages and literals over any text.
func FuzzFormat(f *testing.F) {
	for _, s := range []string{"{:>10,.2f}", "%05d%s", "[1, {'a': (2,)}]", "{0[a].b!r:{1}}", "%(a)*.*f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, v := range []any{5, -2.5, "x", nil, value.Tuple{1, 2.0, "z"}, value.DictOf("a", 1)} {
			_, _ = percentFormat(src, v, 1<<16)
			w := &formatter{args: []any{v, 3}, kwargs: value.DictOf("a", v)}
			_ = w.write(src, 2)
		}
		if v, err := parseLiteral(src); err == nil {
			again, err := parseLiteral(value.Repr(v))
			if err == nil && !value.Equal(v, again) && value.Equal(v, v) {
				t.Errorf("%q reads as %s, and that as %s", src, value.Repr(v), value.Repr(again))
			}
		}
	})
}
