package output

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// screen writes the lines of one output: it colours them, keeps the order
// between its two writers, and writes once per event.
type screen struct {
	Options
	buf bytes.Buffer
	to  io.Writer       // where buf belongs
	say map[string]bool // warnings that were shown
}

func newScreen(o Options) screen {
	o.Colors = o.Colors.withDefaults()
	o.Width = max(o.Width, 79)
	return screen{Options: o, say: map[string]bool{}}
}

// flush writes what is buffered. A write error has nobody to be told to.
func (s *screen) flush() {
	if s.buf.Len() == 0 {
		return
	}
	_, _ = s.to.Write(s.buf.Bytes())
	s.buf.Reset()
}

// line shows text on Out, ended by one newline.
func (s *screen) line(text, color string) { s.lineTo(s.Out, text, color) }

func (s *screen) lineTo(w io.Writer, text, color string) {
	if s.to != w {
		s.flush()
		s.to = w
	}
	text = strings.TrimSuffix(text, "\n")
	if !utf8.ValidString(text) {
		text = validUTF8(text)
	}
	if s.Color {
		text = paint(text, color)
	}
	s.buf.WriteString(text)
	s.buf.WriteByte('\n')
}

// validUTF8 shows a question mark for each byte that is no text.
func validUTF8(text string) string {
	var b strings.Builder
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				r = '?'
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// banner shows a heading with stars up to the width, and an empty line before.
func (s *screen) banner(text string) {
	text = strings.TrimSpace(printable(text))
	stars := max(s.Width-Columns(text), 3)
	s.line("\n"+text+" "+strings.Repeat("*", stars), "")
}

// Columns returns how many columns of a terminal a text takes.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Printable takes the control characters but newline and tab out of a text, so
// that no host can steer the terminal.
func Printable(text string) string { return printable(text) }

// printable takes the control characters but newline and tab out of a name or
// label, so that no host can steer the terminal.
func printable(text string) string {
	if strings.IndexFunc(text, steers) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if steers(r) {
			return -1
		}
		return r
	}, text)
}

// visible shows the control characters of a file's or program's text as ^X,
// but newlines (also after a carriage return) and tabs as they are.
func visible(text string) string {
	if strings.IndexFunc(text, steers) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case !steers(r) || r == '\r' && strings.HasPrefix(text[i+1:], "\n"):
			b.WriteRune(r)
		case r < 0x80:
			b.WriteByte('^')
			b.WriteByte(byte(r) ^ 0x40)
		default:
			b.WriteString("^[")
			b.WriteByte(byte(r) - 0x40)
		}
	}
	return b.String()
}

// steers reports whether a terminal takes r for a command.
func steers(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}
