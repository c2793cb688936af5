package agent

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"play/modules/wire"
)

// unsent is a lastLine that never sends, to look at what it would.
func unsent(pieces ...string) *lastLine {
	l := &lastLine{wake: make(chan struct{}, 1)}
	for _, p := range pieces {
		_, _ = l.Write([]byte(p))
	}
	return l
}

// TestLastLine: what is sent is the last line that has something in it.
func TestLastLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", wire.MaxLine)
	for _, c := range []struct {
		pieces []string
		want   string
	}{
		{[]string{"one\n"}, "one"},
		{[]string{"one\ntw", "o\nthr", "ee"}, "three"},
		{[]string{"one\n", "\n \t\r\n"}, "one"},
		{[]string{" 10%\r", " 20%\r"}, " 20%"},
		{[]string{"10%\r20"}, "20"},
		{[]string{"one\r\n"}, "one"},
		{[]string{"Continue? "}, "Continue? "},
		{[]string{"", "\n"}, ""},
		{[]string{long + "y", "z\n"}, long},
		{[]string{long + "y", "z\nend"}, "end"},
		{[]string{long[1:] + "é"}, long[1:]},
		{[]string{long[2:] + "é"}, long[2:] + "é"},
		{[]string{long[3:] + "語"}, long[3:] + "語"},
		{[]string{long[2:] + "語"}, long[2:]},
		{[]string{long[1:] + "\xff\xff"}, long[1:] + "\xff"},
	} {
		if got := string(unsent(c.pieces...).take()); got != c.want {
			t.Errorf("%q: got %q, want %q", c.pieces, got, c.want)
		}
	}
	l := unsent("one\n")
	l.take()
	if again := l.take(); again != nil {
		t.Errorf("a line that was sent comes again: %q", again)
	}
}

// FuzzLastLine cuts any output anywhere.
func FuzzLastLine(f *testing.F) {
	f.Add("one\ntwo\r\nthree", uint(3))
	f.Add(strings.Repeat("語", 200)+"\r\x1b[31m\n", uint(7))
	f.Fuzz(func(t *testing.T, text string, at uint) {
		cut := int(at % uint(len(text)+1))
		l := unsent(text[:cut], text[cut:])
		got, whole := l.take(), unsent(text).take()
		if !bytes.Equal(got, whole) || len(got) > wire.MaxLine || bytes.ContainsAny(got, "\r\n") || !strings.Contains(text, string(got)) {
			t.Errorf("%q cut at %d: %q, whole %q", text, cut, got, whole)
		}
		if utf8.ValidString(text) && !utf8.Valid(got) {
			t.Errorf("%q: half a character: %q", text, got)
		}
		if len(l.part) > wire.MaxLine {
			t.Errorf("%d bytes are kept", len(l.part))
		}
	})
}

// TestLinePace: however fast a command prints, few lines are sent, none of them
// after the end, and writing waits for nobody.
func TestLinePace(t *testing.T) {
	t.Parallel()
	var sent []time.Time
	held := make(chan struct{})
	l := startLastLine(func([]byte) {
		sent = append(sent, time.Now())
		<-held
	})
	for range 100_000 { // the first line waits to be taken all the while
		_, _ = l.Write([]byte("line\n"))
	}
	close(held)
	for begun := time.Now(); time.Since(begun) < 3*linePace; {
		_, _ = l.Write([]byte("line\n"))
	}
	l.close()
	count := len(sent)
	_, _ = l.Write([]byte("late\n"))
	for i := range sent[1:] {
		if pause := sent[i+1].Sub(sent[i]); pause < linePace {
			t.Errorf("a line after %s", pause)
		}
	}
	if count == 0 || len(sent) != count {
		t.Errorf("%d lines, then %d", count, len(sent))
	}
}
