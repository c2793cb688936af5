package jinja

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/engine/source"
	"play/modules/value"
)

// recorded is one case of testdata/language.jsonl: see record.py there.
type recorded struct {
	Mode, Template string
	Vars           *value.Dict
	Files          *value.Dict
	Want, Error    string
	failed         bool
}

func readRecorded(t testing.TB, path string) []recorded {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	var out []recorded
	for lines.Scan() {
		v, err := value.DecodeJSON(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		d := v.(*value.Dict)
		if _, ok := d.Get("template"); ok {
			out = append(out, recordedCase(d))
		}
	}
	return out
}

func recordedCase(d *value.Dict) recorded {
	text := func(key string) string {
		s, _ := d.Get(key)
		text, _ := s.(string)
		return text
	}
	r := recorded{Mode: text("mode"), Template: text("template"), Want: text("want"), Error: text("error")}
	_, r.failed = d.Get("error")
	if v, ok := d.Get("vars"); ok {
		r.Vars = v.(*value.Dict)
	}
	if v, ok := d.Get("files"); ok {
		r.Files = v.(*value.Dict)
	}
	return r
}

// loaded compiles every string of a value tree, as the YAML loader does.
func loaded(t *testing.T, e *Env, v any) (any, bool) {
	t.Helper()
	switch v := v.(type) {
	case string:
		tmpl, err := e.Load(v, source.Pos{File: "vars.yml", Line: 1, Col: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, lazy := tmpl.(*Template)
		return tmpl, lazy
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			x, lazy := loaded(t, e, item)
			out.Append(x)
			out.Lazy = out.Lazy || lazy
		}
		return out, out.Lazy
	case *value.Dict:
		out := value.NewDict()
		for k, item := range v.All() {
			x, lazy := loaded(t, e, item)
			if err := out.SetKey(k, x); err != nil {
				t.Fatal(err)
			}
			out.Lazy = out.Lazy || lazy
		}
		return out, out.Lazy
	}
	return v, false
}

// folder finds files in one folder.
type folder string

func (f folder) Find(_, name string) (string, bool) {
	path := filepath.Join(string(f), name)
	_, err := os.Stat(path)
	return path, err == nil
}

func (f folder) Dir() string { return string(f) }

// answer evaluates a recorded case; native values are shown as repr does.
func (r recorded) answer(t *testing.T, e *Env) (string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range r.Files.All() {
		if err := os.WriteFile(filepath.Join(dir, name.(string)), []byte(text.(string)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	vars, _ := loaded(t, e, r.Vars)
	d, _ := vars.(*value.Dict)
	c := &Context{Vars: Vars{d}, Files: folder(dir)}
	if r.Mode == "file" {
		tmpl, err := e.TemplateFile(filepath.Join(dir, "case.j2"), []byte(r.Template), FileOptions{})
		if err != nil {
			return "", err
		}
		return tmpl.Render(c)
	}
	if r.Mode == "cond" {
		k, err := e.Cond(r.Template, inFile(1))
		if err != nil {
			return "", err
		}
		ok, err := k.Eval(c)
		return value.Repr(ok), err
	}
	v, err := e.Load(r.Template, source.Pos{File: "play.yml", Line: 3, Col: 5})
	if err != nil {
		return "", err
	}
	if tmpl, ok := v.(*Template); ok {
		if v, err = tmpl.Value(c); err != nil {
			return "", err
		}
	}
	return value.Repr(v), nil
}

// TestLanguage compares with the answers of ansible-core 2.14 and Jinja2 3.1.
// What differs on purpose stands in testdata/language_deviations.json with the
// answer that play gives, and in docs/jinja.md with its reason.
func TestLanguage(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{Compat: compat218})
	differs := readDeviations(t, "testdata/language_deviations.json")
	cases := readRecorded(t, "testdata/language.jsonl")
	if len(cases) < 900 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, r := range cases {
		got, err := r.answer(t, e)
		want := r.Want
		if r.failed {
			want = "error: " + r.Error
		}
		if ours, ok := differs[r.Mode+" "+r.Template]; ok {
			want = ours
			delete(differs, r.Mode+" "+r.Template)
		}
		if !agrees(want, got, err) {
			t.Errorf("%s %q\nwant %s\ngot  %q %v", r.Mode, r.Template, want, got, err)
		}
	}
	for key := range differs {
		t.Errorf("no case for the deviation %q", key)
	}
}

// agrees compares an answer with a wanted text, or a wanted error: the error's
// text must contain the wanted one.
func agrees(want, got string, err error) bool {
	if msg, ok := strings.CutPrefix(want, "error: "); ok {
		if strings.HasPrefix(msg, "unexpected char ") { // Jinja2 adds an offset: play has line and column
			msg, _, _ = strings.Cut(msg, " at ")
		}
		return err != nil && strings.Contains(err.Error(), strings.TrimSuffix(msg, "."))
	}
	return err == nil && got == want
}

// readDeviations reads {"mode template": "answer"}.
func readDeviations(t *testing.T, path string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.DecodeJSON(b)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, group := range v.(*value.Dict).All() {
		for k, v := range group.(*value.Dict).All() {
			out[k.(string)] = v.(string)
		}
	}
	return out
}
