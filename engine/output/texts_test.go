package output

import (
	"os"
	"slices"
	"strings"
	"testing"

	"play/modules/value"
)

func readTexts(t *testing.T, key string) []any {
	t.Helper()
	data, err := os.ReadFile("testdata/texts.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := value.DecodeJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	cases := listOf(doc.(*value.Dict), key)
	if len(cases) < 100 {
		t.Fatalf("only %d cases of %s", len(cases), key)
	}
	return cases
}

// TestWrap compares wrap with Python's textwrap.wrap.
func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range readTexts(t, "wraps") {
		c := c.(*value.Dict)
		text, width := textOf(c, "text"), intOf(c, "width")
		for key, trim := range map[string]bool{"trimmed": true, "kept": false} {
			var want []string
			for _, line := range listOf(c, key) {
				want = append(want, line.(string))
			}
			if got := wrap(text, width, trim); !slices.Equal(got, want) {
				t.Errorf("wrap(%q, %d, %v)\n got %q\nwant %q", text, width, trim, got, want)
			}
		}
	}
}

// TestUnifiedDiff compares diffs with those of Python's difflib.
func TestUnifiedDiff(t *testing.T) {
	t.Parallel()
	for i, c := range readTexts(t, "diffs") {
		c := c.(*value.Dict)
		context := intOf(c, "context")
		if context == 0 {
			context = -1
		}
		s := newScreen(Options{DiffContext: context})
		want := textOf(c, "diff")
		if want != "" {
			want += "\n"
		}
		if got := s.diffText(value.DictOf("before", textOf(c, "before"), "after", textOf(c, "after"))); got != want {
			t.Errorf("diff %d:\n got %q\nwant %q", i, got, want)
		}
	}
}

// TestColumns knows how wide characters are on a terminal.
func TestColumns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "日本": 4, "ｗ": 2, "\u200b": 0} {
		if got := Columns(text); got != want {
			t.Errorf("Columns(%q) = %d, want %d", text, got, want)
		}
	}
}

// TestSteer shows that no control character reaches the terminal as one.
func TestSteer(t *testing.T) {
	t.Parallel()
	hostile := "a\x1b]0;owned\x07b\u009b31mc\rd\x7fe\tf\r\ng"
	for name, text := range map[string]string{
		"printable": printable(hostile), "visible": visible(hostile), "json": toJSON(hostile, 0),
	} {
		left := strings.ReplaceAll(text, "\r\n", "")
		if strings.IndexFunc(left, steers) >= 0 {
			t.Errorf("%s leaves control characters: %q", name, text)
		}
	}
	if got, want := visible(hostile), "a^[]0;owned^Gb^[[31mc^Md^?e\tf\r\ng"; got != want {
		t.Errorf("visible gives %q, want %q", got, want)
	}
}
