package shellquote_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"

	"play/modules/shellquote"
)

// TestAsPython compares with the answers of Python's shlex (testdata/record.py).
func TestAsPython(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Cases []struct {
			Line  string
			Quote string
			Split struct {
				Words []string
				Error string
			}
		}
	}
	if err := json.Unmarshal(data, &recorded); err != nil || len(recorded.Cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range recorded.Cases {
		words, err := shellquote.Split(c.Line)
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if msg != c.Split.Error || !slices.Equal(words, c.Split.Words) {
			t.Errorf("Split(%q) = %q, %q; want %q, %q", c.Line, words, msg, c.Split.Words, c.Split.Error)
		}
		if got := shellquote.Quote(c.Line); got != c.Quote {
			t.Errorf("Quote(%q) = %s, want %s", c.Line, got, c.Quote)
		}
	}
}

func TestShellReadsItBack(t *testing.T) {
	t.Parallel()
	all := make([]byte, 0, 255)
	for c := 1; c < 256; c++ {
		all = append(all, byte(c))
	}
	for _, word := range []string{string(all), "", "'", "a'b\"c`d$e\\"} {
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+shellquote.Join([]string{word})).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q came back as %q (%v)", word, out, err)
		}
	}
}

func FuzzSplitJoin(f *testing.F) {
	f.Add("a", "b c'")
	f.Fuzz(func(t *testing.T, a, b string) {
		got, err := shellquote.Split(shellquote.Join([]string{a, b}))
		if err != nil || !slices.Equal(got, []string{a, b}) {
			t.Errorf("%q, %q came back as %q (%v)", a, b, got, err)
		}
	})
}
