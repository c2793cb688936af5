package live

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"play/engine/output"
)

// withoutEscapes takes the escape sequences out of a text: those that colour or
// move (CSI), and those with text of their own such as a window's title (OSC).
func withoutEscapes(text string) string {
	if !strings.ContainsAny(text, "\x1b\u009b\u009d") && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	text = strings.NewReplacer("\u009b", "\x1b[", "\u009d", "\x1b]").Replace(strings.ToValidUTF8(text, "?"))
	for {
		before, rest, found := strings.Cut(text, "\x1b")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		text = afterEscape(rest)
	}
}

// afterEscape is what follows an escape sequence, whose first byte is gone.
func afterEscape(rest string) string {
	if rest == "" {
		return ""
	}
	switch rest[0] {
	case '[':
		for i := 1; i < len(rest); i++ {
			if rest[i] >= 0x40 && rest[i] <= 0x7e {
				return rest[i+1:]
			}
		}
		return ""
	case ']', 'P', '^', '_', 'X':
		if i := strings.IndexAny(rest, "\a\x1b"); i >= 0 {
			return strings.TrimPrefix(strings.TrimPrefix(rest[i:], "\a"), "\x1b\\")
		}
		return ""
	}
	_, size := utf8.DecodeRuneInString(rest)
	return rest[size:]
}

// lastWritten is what a progress display leaves, which begins its line again and
// again.
func lastWritten(text string) string {
	text = strings.TrimRight(text, "\r\n \t")
	text = text[strings.LastIndexByte(text, '\r')+1:]
	return strings.TrimLeft(strings.ReplaceAll(text, "\t", " "), " ")
}

// fit cuts a text to a number of columns, with mark at the cut.
func fit(text string, columns int, mark string) string {
	if columns <= 0 {
		return ""
	}
	if output.Columns(text) <= columns {
		return text
	}
	room := columns - output.Columns(mark)
	for i, r := range text {
		if room -= output.Columns(string(r)); room < 0 {
			return text[:i] + mark
		}
	}
	return text
}

// pad fills a text up to a number of columns.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-output.Columns(text)))
}

// clock prints a time span as 4:05 or 1:04:05.
func clock(d time.Duration) string {
	s := int(max(0, d).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
