package jinja

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape reads the escapes of a Python str literal; unknown ones stay.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		size, err := writeEscape(&b, s[i:])
		if err != nil {
			return "", err
		}
		i += size
	}
	return b.String(), nil
}

// simpleEscapes are the escapes of one letter.
const simpleEscapes = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v"

// writeEscape writes what the escape at the start of s means and tells its length.
func writeEscape(b *strings.Builder, s string) (int, error) {
	c := s[1]
	for i := 0; i < len(simpleEscapes); i += 2 {
		if simpleEscapes[i] == c {
			b.WriteByte(simpleEscapes[i+1])
			return 2, nil
		}
	}
	switch {
	case c == '\n':
		return 2, nil
	case c >= '0' && c <= '7':
		return writeOctal(b, s), nil
	case c == 'x':
		return writeHex(b, s, 2)
	case c == 'u':
		return writeHex(b, s, 4)
	case c == 'U':
		return writeHex(b, s, 8)
	}
	b.WriteString(s[:2])
	return 2, nil
}

func writeOctal(b *strings.Builder, s string) int {
	n, i := 0, 1
	for ; i < len(s) && i < 4 && s[i] >= '0' && s[i] <= '7'; i++ {
		n = n*8 + int(s[i]-'0')
	}
	b.WriteRune(rune(n))
	return i
}

func writeHex(b *strings.Builder, s string, width int) (int, error) {
	if len(s) >= 2+width {
		n, err := strconv.ParseUint(s[2:2+width], 16, 32)
		if err == nil && n <= utf8.MaxRune {
			writeCodePoint(b, rune(n))
			return 2 + width, nil
		}
	}
	return 0, errorText(`cannot decode the escape "\` + s[1:2] + `" in a string`)
}

// writeCodePoint writes a code point; the surrogates that stand for raw bytes
// become those bytes, as everywhere in play.
func writeCodePoint(b *strings.Builder, r rune) {
	if r >= 0xdc80 && r <= 0xdcff {
		b.WriteByte(byte(r - 0xdc00))
		return
	}
	b.WriteRune(r)
}
