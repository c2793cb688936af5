package connection

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSaid bounds what a message repeats of a host's words, in bytes.
const maxSaid = 2000

// Printable makes a host's words fit for a message on a terminal: control
// characters become spaces, and long text is cut.
func Printable(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxSaid {
		cut := maxSaid
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}
