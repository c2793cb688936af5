package inventory

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"play/modules/value"
)

// recorded reads a file of recorded answers: one JSON object a line, of which
// the first names the version and the command that gave them.
func recorded[T any](t *testing.T, path string) []T {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []T
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for first := true; lines.Scan(); first = false {
		var c T
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %s: %v", path, lines.Text(), err)
		}
		if !first {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		t.Fatalf("%s holds no case", path)
	}
	return cases
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	type literalCase struct {
		Text string
		Repr *string
	}
	for _, c := range recorded[literalCase](t, "testdata/literals.json") {
		v, ok := literal(c.Text)
		switch {
		case ok != (c.Repr != nil):
			t.Errorf("literal(%q) = %v, %v, Python says %v", c.Text, v, ok, c.Repr)
		case ok && value.Repr(v) != *c.Repr:
			t.Errorf("literal(%q) = %s, Python says %s", c.Text, value.Repr(v), *c.Repr)
		}
	}
}

func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"5", "[1,'a',{}]", "{'a':(1,)}", "'\\x41'", "-1.5e-3", "b'x' b'y'", "{{ x }}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := literal(text)
		if !ok || !utf8.ValidString(text) || strings.Contains(value.Repr(v), "inf") || strings.Contains(value.Repr(v), `\udc`) {
			return // no literal, or one whose repr is none
		}
		if again, ok := literal(value.Repr(v)); !ok || value.Repr(again) != value.Repr(v) {
			t.Errorf("literal(%q) = %s, which reads back as %v, %v", text, value.Repr(v), again, ok)
		}
	})
}
