package source

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// files serves texts as files.
func files(texts map[string]string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		if text, ok := texts[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	f := &Formatter{ReadFile: files(map[string]string{
		"site.yml":   "- hosts: all\n  tasks:\n    - copi: src=a\n      name: é\tx\n",
		"evil.yml":   "a: \x1b]0;title\x07\nb: \u202egnp\n",
		"long.yml":   strings.Repeat("x", 300) + "\n",
		"secret.yml": "$ANSIBLE_VAULT;1.1;AES256\n6162\n",
	})}
	inner := &Error{Pos: Pos{"site.yml", 1, 3}, Msg: "the cause", Hint: "look here"}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"plain": {errors.New("cannot do it"), "cannot do it"},
		"placed": {(&Error{Pos: Pos{"site.yml", 3, 7}, Msg: "couldn't resolve module/action 'copi'"}).WithHint("did you mean %q?", "copy"), `couldn't resolve module/action 'copi'
  site.yml:3:7
  2 |   tasks:
  3 |     - copi: src=a
    |       ^
  4 |       name: é    x
hint: did you mean "copy"?`},
		"last line": {Errorf(Pos{"site.yml", 4, 15}, "no"), `no
  site.yml:4:15
  3 |     - copi: src=a
  4 |       name: é    x
    |                  ^`},
		"no column":   {Errorf(Pos{"site.yml", 1, 0}, "no"), "no\n  site.yml:1\n  1 | - hosts: all\n  2 |   tasks:"},
		"no file":     {Errorf(Pos{"gone.yml", 3, 7}, "no"), "no\n  gone.yml:3:7"},
		"beyond":      {Errorf(Pos{"site.yml", 99, 1}, "no"), "no\n  site.yml:99:1"},
		"whole file":  {Errorf(Pos{File: "site.yml"}, "no"), "no\n  site.yml"},
		"control":     {Errorf(Pos{"evil.yml", 1, 4}, "bad \x1b[2J"), "bad \\x1b[2J\n  evil.yml:1:4\n  1 | a: \\x1b]0;title\\x07\n    |    ^\n  2 | b: \\u202egnp"},
		"encrypted":   {Errorf(Pos{"secret.yml", 2, 1}, "no"), "no\n  secret.yml:2:1"},
		"cause":       {Errorf(Pos{"site.yml", 2, 3}, "cannot load: %w", inner), "cannot load: site.yml:1:3: the cause\n  site.yml:2:3\n  1 | - hosts: all\n  2 |   tasks:\n    |   ^\n  3 |     - copi: src=a\ncaused by: the cause\n  site.yml:1:3\n  1 | - hosts: all\n    |   ^\n  2 |   tasks:\nhint: look here"},
		"several":     {errors.Join(errors.New("one"), errors.New("two")), "one\n\ntwo"},
		"long line":   {Errorf(Pos{"long.yml", 1, 250}, "no"), "no\n  long.yml:1:250\n  1 | …" + strings.Repeat("x", 110) + "\n    | " + strings.Repeat(" ", 60) + "^"},
		"wrapped too": {fmt.Errorf("outer: %w", inner), "the cause\n  site.yml:1:3\n  1 | - hosts: all\n    |   ^\n  2 |   tasks:\nhint: look here"},
	} {
		if got := f.Format(c.err); got != c.want {
			t.Errorf("%s: got:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}

func TestFormatColour(t *testing.T) {
	t.Parallel()
	f := &Formatter{ReadFile: files(nil), Colour: func(part, text string) string { return "<" + part + ">" + text }}
	err := (&Error{Pos: Pos{"x", 1, 1}, Msg: "m"}).WithHint("h")
	if got := f.Format(err); got != "<error>m\n  <place>x:1:1\n<hint>hint: h" {
		t.Errorf("got %q", got)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"command", "copy", "debug", "file", "gather_facts", "template", "when"}
	for word, want := range map[string]string{
		"copi": "copy", "cpoy": "copy", "templat": "template", "tempalte": "template", "gatherfacts": "gather_facts",
		"whenn": "when", "wehn": "when", "xyz": "", "": "", "copy": "", "fil": "file", "deploy": "", "comand": "command",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain é 😀\n": "plain é 😀\n", "a\tb": "a    b", "\x1b[31m": `\x1b[31m`, "a\r\nb": "a\nb", "a\rb": `a\x0db`,
		"\xff": `\xff`, "\u0085": `\x85`, "\u2028": `\u2028`, "\u2066": `\u2066`, "\x00": `\x00`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestPos(t *testing.T) {
	t.Parallel()
	for pos, want := range map[Pos]string{{}: "", {File: "a"}: "a", {"a", 1, 0}: "a:1", {"a", 1, 2}: "a:1:2"} {
		if got := pos.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
