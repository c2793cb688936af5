package jinja_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"play/engine/jinja"
	"play/engine/vault"
	"play/engine/yamlload"
	"play/modules/value"
)

// The answers in testdata/builtins/*.jsonl are those of ansible-core 2.14.18
// with Jinja2 3.1.2 on Python 3.11.2, recorded by testdata/builtins/record.py.

const caseDir = "testdata/builtins"

// caseFiles finds files below the folder of the cases, as the recorder's
// loader does.
type caseFiles struct{ dir string }

func (f caseFiles) Dir() string { return f.dir }

func (f caseFiles) Find(kind, name string) (string, bool) {
	for _, path := range []string{filepath.Join(f.dir, kind, name), filepath.Join(f.dir, name), name} {
		if !filepath.IsAbs(path) {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return path, true
		}
	}
	return "", false
}

func builtinEnv() *jinja.Env {
	read := func(text []byte) ([]any, error) { return (&yamlload.Loader{}).DataAll("text", text) }
	return jinja.NewEnv(jinja.Options{ReadYAML: read, Vaults: vault.ForTemplates(nil)})
}

func builtinContext(t *testing.T) (*jinja.Context, string) {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "vars.json"))
	if err != nil {
		t.Fatal(err)
	}
	vars, err := value.DecodeJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	return &jinja.Context{
		Vars:   scopeWithNames{jinja.Vars{Dict: vars.(*value.Dict)}},
		Files:  caseFiles{dir},
		Config: func(string) (any, bool) { return nil, false },
		Now:    func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) },
	}, dir
}

type scopeWithNames struct{ jinja.Vars }

func (s scopeWithNames) Names() []string {
	var names []string
	for _, k := range s.Keys() {
		names = append(names, k.(string))
	}
	return names
}

func TestBuiltinCases(t *testing.T) {
	t.Chdir(caseDir)
	t.Setenv("PLAY_TEST_ENV", "from the environment")
	t.Setenv("HOME", "/home/someone")
	files, err := filepath.Glob("*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	env := builtinEnv()
	count := 0
	for _, file := range files {
		rows := readCases(t, file)
		count += len(rows)
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, row := range rows {
				checkCase(t, env, row)
			}
		})
	}
	if count < 900 {
		t.Errorf("only %d cases", count)
	}
}

func readCases(t *testing.T, file string) []*value.Dict {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []*value.Dict
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		row, err := value.DecodeJSON(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row.(*value.Dict))
	}
	return rows
}

func checkCase(t *testing.T, env *jinja.Env, row *value.Dict) {
	t.Helper()
	expr, _ := row.Get("expr")
	want, _ := row.Get("want")
	wantErr, fails := row.Get("err")
	ctx, dir := builtinContext(t)
	got, err := env.Expression(expr.(string), ctx)
	if fails {
		if err == nil {
			t.Errorf("%s\n got %s\nwant error %s", expr, value.Repr(got), wantErr)
		} else if _, loose := row.Get("loose"); !loose && !sameError(err.Error(), wantErr.(string)) {
			t.Errorf("%s\n got error %s\nwant error %s", expr, err, wantErr)
		}
		return
	}
	if err != nil {
		t.Errorf("%s\n got error %s\nwant %s", expr, err, value.Repr(want))
		return
	}
	a, aerr := value.EncodeJSON(tagged(got, dir), value.WireJSON())
	b, berr := value.EncodeJSON(want, value.WireJSON())
	if aerr != nil || berr != nil || a != b {
		t.Errorf("%s\n got %s %v\nwant %s %v", expr, a, aerr, b, berr)
	}
}

// sameError compares the essential part: one text holds the other, quotes,
// case and Python's class names aside.
func sameError(got, want string) bool {
	plain := func(s string) string {
		s = strings.ToLower(s)
		return strings.NewReplacer("'", "", `"`, "", "<class ", "", ">", "", ".", "", "ansibleunicode", "str").Replace(s)
	}
	g, w := plain(got), plain(want)
	if strings.Contains(g, w) {
		return true
	}
	// Python's text may go on, or have more in front.
	if _, rest, ok := strings.Cut(g, " failed: "); ok {
		g = rest
	} else if i := strings.Index(g, ": "); i >= 0 {
		g = g[i+2:]
	}
	return strings.Contains(w, g)
}

// tagged is the recorder's form of a value.
func tagged(v any, dir string) any {
	switch v := v.(type) {
	case *jinja.Undefined:
		return value.DictOf("!undefined", true)
	case string:
		return strings.ReplaceAll(v, dir, "$DIR")
	case *value.List:
		return taggedItems(v.Items, dir)
	case value.Tuple:
		return value.DictOf("!tuple", taggedItems(v, dir))
	case *value.Dict:
		return taggedDict(v, dir)
	case interface{ Items() []any }:
		return value.DictOf("!tuple", taggedItems(v.Items(), dir))
	case value.Object:
		return value.DictOf("!object", v.Repr())
	}
	return v
}

func taggedItems(items []any, dir string) *value.List {
	out := value.NewList()
	for _, item := range items {
		out.Append(tagged(item, dir))
	}
	return out
}

func taggedDict(d *value.Dict, dir string) any {
	out, rows, plain := value.NewDict(), value.NewList(), true
	for k, v := range d.All() {
		key := tagged(k, dir)
		rows.Append(value.NewList(key, tagged(v, dir)))
		if s, ok := key.(string); ok {
			out.Set(s, tagged(v, dir))
		} else {
			plain = false
		}
	}
	if plain {
		return out
	}
	return value.DictOf("!dict", rows)
}
