package pyre

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// recorded are Python's own answers, see testdata/record.py.
type recorded struct {
	Finds []struct {
		Pattern, Flags, Text string
		Groups               int
		Names                map[string]int
		Find                 [][][2]int
		Match, Full          [][2]int
	}
	Errors []struct{ Pattern, Error string }
	Subs   []struct {
		Pattern, Template, Text string
		Count                   int
		Result, Error           string
		N                       int
	}
	Splits []struct {
		Pattern, Text string
		Limit         int
		Parts         []*string
	}
	Escapes []struct{ Text, Escaped string }
}

func load(t *testing.T) *recorded {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func flagsOf(letters string) (f Flags) {
	for letter, flag := range map[string]Flags{"i": IgnoreCase, "m": Multiline, "s": DotAll, "x": Verbose, "a": ASCII} {
		if strings.Contains(letters, letter) {
			f |= flag
		}
	}
	return f
}

func spans(m *Match) [][2]int {
	if m == nil {
		return nil
	}
	return m.spans
}

func TestFindsAsPython(t *testing.T) {
	t.Parallel()
	for _, c := range load(t).Finds {
		re, err := Compile(c.Pattern, flagsOf(c.Flags))
		if err != nil {
			t.Errorf("%q: %v", c.Pattern, err)
			continue
		}
		if re.NumGroups() != c.Groups || !reflect.DeepEqual(re.names, c.Names) {
			t.Errorf("%q: groups %d %v, want %d %v", c.Pattern, re.NumGroups(), re.names, c.Groups, c.Names)
		}
		found, err := re.FindAll(c.Text)
		if err != nil {
			t.Errorf("%q: %v", c.Pattern, err)
		}
		all := make([][][2]int, 0)
		for _, m := range found {
			all = append(all, spans(m))
		}
		match, _ := re.Match(c.Text)
		full, _ := re.FullMatch(c.Text)
		if !reflect.DeepEqual(all, c.Find) {
			t.Errorf("%q in %q (%s): found %v, want %v", c.Pattern, c.Text, re.source, all, c.Find)
		}
		if !reflect.DeepEqual(spans(match), c.Match) || !reflect.DeepEqual(spans(full), c.Full) {
			t.Errorf("%q on %q: match %v full %v, want %v %v", c.Pattern, c.Text, spans(match), spans(full), c.Match, c.Full)
		}
	}
}

func TestErrorsAsPython(t *testing.T) {
	t.Parallel()
	for _, c := range load(t).Errors {
		_, err := Compile(c.Pattern, 0)
		if err == nil || err.Error() != c.Error {
			t.Errorf("%q: got %v, want %s", c.Pattern, err, c.Error)
		}
	}
}

func TestSubAsPython(t *testing.T) {
	t.Parallel()
	for _, c := range load(t).Subs {
		re, err := Compile(c.Pattern, 0)
		if err != nil {
			t.Fatalf("%q: %v", c.Pattern, err)
		}
		got, n, err := re.Sub(c.Template, c.Text, c.Count)
		if c.Error != "" {
			if err == nil || err.Error() != c.Error {
				t.Errorf("%q by %q: got %v, want %s", c.Pattern, c.Template, err, c.Error)
			}
			continue
		}
		if err != nil || got != c.Result || n != c.N {
			t.Errorf("%q by %q in %q: got %q %d %v, want %q %d", c.Pattern, c.Template, c.Text, got, n, err, c.Result, c.N)
		}
	}
}

func TestSplitAndEscapeAsPython(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, c := range r.Splits {
		re, err := Compile(c.Pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := re.Split(c.Text, c.Limit)
		if err != nil || !reflect.DeepEqual(parts, c.Parts) {
			t.Errorf("split %q by %q: wrong parts (%v)", c.Text, c.Pattern, err)
		}
	}
	for _, c := range r.Escapes {
		if got := Escape(c.Text); got != c.Escaped {
			t.Errorf("escape %q: got %q, want %q", c.Text, got, c.Escaped)
		}
	}
}

func TestInvalidBytesSurvive(t *testing.T) {
	t.Parallel()
	re, err := Compile("b", 0)
	if err != nil {
		t.Fatal(err)
	}
	got, n, err := re.Sub("\xfe", "a\xffb\xc3", 0)
	if err != nil || n != 1 || got != "a\xff\xfe\xc3" {
		t.Errorf("got %q %d %v", got, n, err)
	}
}

func TestBytesMode(t *testing.T) {
	t.Parallel()
	re, err := Compile("é(.)(\\xa9?)[^\\w](?i:A)", Bytes)
	if err != nil {
		t.Fatal(err)
	}
	m, err := re.Search("x\u00e9\u00e9!a")
	if err != nil || m == nil {
		t.Fatalf("no match: %v", err)
	}
	one, _ := m.Group(1)
	two, _ := m.Group(2)
	if one != "\xc3" || two != "\xa9" {
		t.Errorf("groups %q %q: a unit is a byte", one, two)
	}
}

func TestSlowPatternTimesOut(t *testing.T) {
	t.Parallel()
	re, err := Compile(`(a+)+(b|c)+$`, 0)
	if err != nil {
		t.Fatal(err)
	}
	re.search.MatchTimeout = 50 * time.Millisecond
	if _, err = re.Search(strings.Repeat("a", 60)); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want a time-out", err)
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`a(b)?`, `[]^-]`, `(?P<x>a)(?P=x)`, `(?x) a #`, `a{2,}+`, `\N{DASH}`} {
		f.Add(seed, "subject")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := Compile(pattern, 0)
		if err != nil {
			return
		}
		re.timeout = 50 * time.Millisecond
		re.search.MatchTimeout = re.timeout
		got, _, err := re.SubFunc(text, 0, func(m *Match) (string, error) { return m.Text(), nil })
		if err == nil && got != text {
			t.Errorf("replacing each match of %q by itself changed %q to %q", pattern, text, got)
		}
	})
}
