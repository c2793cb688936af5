package yamlload

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, pos, msg, hint string }{
		{"a: 1\nb: c: d\ne: 1\n", "2:5", "mapping values are not allowed in this context", `a value that holds ": " must be quoted`},
		{"a: 1\nb: c\n d: e\n", "3:3", "mapping values are not allowed in this context", "this line should start in the same column as the lines it belongs to"},
		{"a:\n  - b\n c: d\n", "3:2", "did not find expected key", "this line should start in the same column as the lines it belongs to"},
		{"- a\nb: c\nd: e\n", "2:1", "did not find expected '-' indicator", "this line should start in the same column as the lines it belongs to"},
		{"a: 'x\nb: c\n", "1:4", "the quoted text that begins here never ends", "close the quotes, or write the quote character twice inside single quotes"},
		{"a: [1,2\nb: 3\n", "2:1", "did not find expected ',' or ']'", `a list that starts with "[" must end with "]"`},
		{"x: {a: 1\n", "1:5", "did not find expected ',' or '}'", `a dict that starts with "{" must end with "}"`},
		{"a: \"\\q\"\nb: 1\n", "1:5", "found unknown escape character", `in double quotes a backslash starts an escape: write \\q, or use single quotes`},
		{"a:\n\tb: 1\n", "2:1", "a tab cannot be used as indentation", "indent with spaces"},
		{"a: {{ x }}/y\nb: 1\n", "1:11", "did not find expected key", quoteBraces},
		{"a: @x\n", "1:4", "found character that cannot start any token", `a value that starts with "@" must be quoted`},
		{"a: `x`\n", "1:4", "found character that cannot start any token", "a value that starts with \"`\" must be quoted"},
		{"a: %x\n", "1:4", "found character that cannot start any token", `a value that starts with "%" must be quoted`},
		{"a: *x\nb: 1\n", "1:4", `unknown anchor "x" referenced`, `a value that starts with "*" must be quoted`},
		{"key:value\nb: 1\n", "2:2", "mapping values are not allowed in this context", `put a space after the colon in the line above: "name: value"`},
		{"a: \"x\" y\nb: 1\n", "1:8", "did not find expected key", "a value that starts with a quote must end with it: put quotes around the whole value"},
		{"a: 1\nb=2\nc: 3\n", "2:1", "could not find expected ':'", `write "name: value", not "name=value"`},
		{"a: \xff\n", "1:4", `byte 0xff is not valid UTF-8`, "save the file as UTF-8"},
		{"a: 1\nb: x\x07\n", "2:5", "control character U+0007 is not allowed in YAML", `write it as an escape in a double-quoted string: "\x07"`},
		{"a: b\n\nc\n", "3:1", "could not find expected ':'", `every line of a mapping must read "name: value"`},
		{"a: 1\n---\nb: 2\n", "3:1", "it must hold one YAML document, and a second one begins here", `remove the "---" in front of this line, or split the file`},
		{"a: {{ x }}\n", "1:5", `cannot read this value: unquoted "{{" begins a dict`, quoteBraces},
		{"a: !foo x\n", "1:4", `cannot read a value with the tag "!foo": no such tag is known`, `quote the value if it is meant to start with "!"; known tags are !vault and !unsafe`},
		{"? [1]\n: 2\n", "1:3", "cannot use a list or dict as a key", ""},
		{"<<: 3\n", "1:5", `cannot merge this: "<<" takes a mapping or a list of mappings`, ""},
		{"a: &x [1, *x]\n", "1:11", `alias "*x" stands inside the value it names`, ""},
		{"a: !!int x\n", "1:4", `cannot read "x" as !!int: "x" is not an integer`, ""},
		{"- a\n", "1:1", "cannot use this as variables: expected a mapping of names to values, found a list", `write "name: value"`},
		{strings.Repeat("[", 500) + strings.Repeat("]", 500), "1:500", "lists and dicts nest deeper than 400 levels", ""},
	} {
		_, err := (&Loader{}).VarsText("v.yml", []byte(c.text))
		var e *source.Error
		if !errors.As(err, &e) {
			t.Errorf("%.40q: got %v, want an error with a place", c.text, err)
			continue
		}
		pos := fmt.Sprintf("%d:%d", e.Pos.Line, e.Pos.Col)
		if pos != c.pos || !strings.HasSuffix(e.Msg, c.msg) || e.Hint != c.hint {
			t.Errorf("%.40q:\n got %s %s (%s)\nwant %s %s (%s)", c.text, pos, e.Msg, e.Hint, c.pos, c.msg, c.hint)
		}
	}
}

func TestAliasBomb(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	_, err := (&Loader{}).VarsText("bomb.yml", []byte(b.String()))
	if err == nil || !strings.Contains(err.Error(), "aliases expand") {
		t.Errorf("got %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "big.yml")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(50 << 20); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := (&Loader{}).Vars(path); err == nil || !strings.Contains(err.Error(), "limit of 32 MB") {
		t.Errorf("got %v", err)
	}
}

func TestBadTemplates(t *testing.T) {
	t.Parallel()
	const text = "a: 1\nb: [\"{{ x | }}\"]\n"
	var told []string
	l := &Loader{Env: jinja.NewEnv(jinja.Options{}), Defect: func(err error) { told = append(told, err.Error()) }}
	f, err := l.Parse("v.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Value(f.Root); err == nil || !strings.HasPrefix(err.Error(), "v.yml:2:") || told != nil {
		t.Errorf("in a task: %v, told %q", err, told)
	}
	d, err := f.Vars(f.Root)
	if err != nil || len(told) != 1 || !strings.HasPrefix(told[0], "v.yml:2:") || !d.Lazy {
		t.Errorf("in variables: %v, told %q", err, told)
	}
	l.Lenient = true
	if _, err := f.Value(f.Root); err != nil || len(told) != 2 {
		t.Errorf("lenient: %v, told %q", err, told)
	}
	if v, err := f.Data(f.Root); err != nil || show(v, false) != `{"a": 1, "b": ["{{ x | }}"]}` {
		t.Errorf("as data: %v, %v", v, err)
	}
}

func TestUnsafeIsNoTemplate(t *testing.T) {
	t.Parallel()
	l := &Loader{Env: jinja.NewEnv(jinja.Options{})}
	d, err := l.VarsText("v.yml", []byte("a: !unsafe '{{ x }}'\nb: !unsafe ['{{ x }}', {c: '{{ x }}'}]\nc: '{{ x }}'\n"))
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := d.Get("a"); a != "{{ x }}" {
		t.Errorf("a is %T", a)
	}
	b, _ := d.Get("b")
	if l := b.(*value.List); l.Lazy || l.Items[0] != "{{ x }}" {
		t.Errorf("b is %v", l.Items)
	}
	if c, _ := d.Get("c"); c == "{{ x }}" {
		t.Error("c is no template")
	}
}

func TestDuplicateKeyWarns(t *testing.T) {
	t.Parallel()
	var warned []string
	l := &Loader{Warn: func(msg string, pos source.Pos) { warned = append(warned, pos.String()+" "+msg) }}
	d, err := l.VarsText("v.yml", []byte("a: 1\nb: &b {x: 1}\na: 3\nc:\n  <<: *b\n  x: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := d.Get("a"); v != 3 {
		t.Errorf("a is %v", v)
	}
	want := "v.yml:3:1 While constructing a mapping from v.yml, line 1, column 1, found a duplicate dict key (a). Using last defined value only."
	if len(warned) != 1 || warned[0] != want {
		t.Errorf("warned %q", warned)
	}
}

func TestTextPos(t *testing.T) {
	t.Parallel()
	f, err := (&Loader{}).Parse("v.yml", []byte("a: x\nb: 'x'\nc: |\n  x\nd: !unsafe \"x\"\ne: &n x\nf: >-\n\n    x\n"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := f.Entries(f.Root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1:4", "2:5", "4:3", "5:13", "6:7", "8:5"}
	for i, e := range entries {
		pos := f.TextPos(e.Node)
		if got := fmt.Sprintf("%d:%d", pos.Line, pos.Col); got != want[i] {
			t.Errorf("%s: got %s, want %s", e.Name, got, want[i])
		}
	}
}

type rot struct{ calls int }

func (r *rot) Decrypt(text []byte) ([]byte, error) {
	r.calls++
	if !bytes.HasPrefix(text, []byte(vaultHeader)) {
		return nil, errors.New("no header")
	}
	return []byte("secret: '{{ x }}'"), nil
}

func TestVault(t *testing.T) {
	t.Parallel()
	r := &rot{}
	l := &Loader{Env: jinja.NewEnv(jinja.Options{}), Vault: r}
	d, err := l.VarsText("v.yml", []byte("a: [!vault \"$ANSIBLE_VAULT;1.1;AES256\\n61\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if r.calls != 0 || !d.Lazy {
		t.Errorf("decrypted too early (%d calls), lazy is %v", r.calls, d.Lazy)
	}
	list, _ := d.Get("a")
	secret := list.(*value.List).Items[0].(*Encrypted)
	for range 2 {
		if v, err := secret.Value(nil); err != nil || v != "secret: '{{ x }}'" {
			t.Errorf("got %v, %v", v, err)
		}
	}
	if r.calls != 1 {
		t.Errorf("decrypted %d times", r.calls)
	}
	path := filepath.Join(t.TempDir(), "v.yml")
	if err := os.WriteFile(path, []byte(vaultHeader+"1.1;AES256\n61"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := l.Vars(path); err != nil || d.Len() != 1 {
		t.Errorf("encrypted file: %v, %v", d, err)
	}
	if _, err := (&Loader{}).Vars(path); !errors.Is(err, ErrNoVault) {
		t.Errorf("without a password: %v", err)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	v, err := (&Loader{}).Data("v.json", []byte("{\"a\": 1e3,\t\"b\": \"\\ud83d\\ude00\\/\\\\/\", \"c\": [1.5, -2, null]}"))
	if err != nil {
		t.Fatal(err)
	}
	d := v.(*value.Dict)
	if a, _ := d.Get("a"); a != 1000.0 {
		t.Errorf("a is %v", a)
	}
	if b, _ := d.Get("b"); b != "\U0001F600/\\/" {
		t.Errorf("b is %q", b)
	}
}

func TestLoadsFast(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 3300 {
		fmt.Fprintf(&b, "name_%d:\n  - \"{{ x }} text\"\n  - {a: 1, b: yes}\n", i)
	}
	start := time.Now()
	if _, err := (&Loader{}).VarsText("v.yml", []byte(b.String())); err != nil {
		t.Fatal(err)
	}
	// Far more than what it takes on an idle machine.
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("10 000 lines took %v", took)
	}
}

func BenchmarkVars(b *testing.B) {
	var text strings.Builder
	for i := range 3300 {
		fmt.Fprintf(&text, "name_%d:\n  - \"{{ x }} text\"\n  - {a: 1, b: yes}\n", i)
	}
	for b.Loop() {
		if _, err := (&Loader{}).VarsText("v.yml", []byte(text.String())); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"a: b\n", "- [1, {x: *y}]\n", "a: &a [*a]\n", "<<: [{a: 1}]\n", "a: \"\\/\"\n", "\t", "a: |2\n  x", "%YAML 1.2\n---\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := (&Loader{}).DataAll("f.yml", data)
		var e *source.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("an error without a place: %v", err)
		}
	})
}
