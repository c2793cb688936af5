package pyre

import (
	"strings"
	"unicode/utf8"
)

// byteRune is where a byte that is no character stands among the runes, as
// Python's surrogateescape does it.
const byteRune = 0xDC00

// decode turns a string into the runes that the engine matches on. In bytes
// mode every byte from 0x80 up is a unit of its own.
func decode(s string, bytes bool) []rune {
	runes := make([]rune, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if s[i] >= utf8.RuneSelf && (bytes || (r == utf8.RuneError && size == 1)) {
			r, size = byteRune+rune(s[i]), 1
		}
		runes = append(runes, r)
		i += size
	}
	return runes
}

// encode is the reverse of decode.
func encode(runes []rune) string {
	var b strings.Builder
	for _, r := range runes {
		if isByte(r) {
			b.WriteByte(byte(r - byteRune))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isByte(r rune) bool { return r >= byteRune+0x80 && r <= byteRune+0xFF }
