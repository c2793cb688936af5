package inventory

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// strings reads one or more adjacent Python string literals as one string.
// Byte strings are read as UTF-8 text; they do not mix with text strings.
func (p *literalParser) strings(inside bool) (any, bool) {
	var out strings.Builder
	kind := -1
	for {
		isBytes, ok := p.oneString(&out)
		if !ok || kind >= 0 && (kind == 1) != isBytes {
			return nil, false
		}
		kind = 0
		if isBytes {
			kind = 1
		}
		mark := p.i
		p.space(inside)
		if !p.atString() {
			p.i = mark
			return out.String(), true
		}
	}
}

// atString reports whether a string literal, with or without prefix, starts here.
func (p *literalParser) atString() bool {
	i := p.i
	for i < len(p.s) && i < p.i+2 && strings.IndexByte("rRbBuU", p.s[i]) >= 0 {
		i++
	}
	return i < len(p.s) && (p.s[i] == '\'' || p.s[i] == '"')
}

func (p *literalParser) oneString(out *strings.Builder) (isBytes, ok bool) {
	start := p.i
	for p.i < len(p.s) && p.s[p.i] != '\'' && p.s[p.i] != '"' {
		p.i++
	}
	raw := false
	switch strings.ToLower(p.s[start:p.i]) {
	case "", "u":
	case "r":
		raw = true
	case "b":
		isBytes = true
	case "br", "rb":
		raw, isBytes = true, true
	default:
		return false, false
	}
	quote := p.s[p.i : p.i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.s[p.i:], triple) {
		quote = triple
	}
	p.i += len(quote)
	return isBytes, p.body(out, quote, raw, isBytes)
}

// body reads up to the closing quote.
func (p *literalParser) body(out *strings.Builder, quote string, raw, isBytes bool) bool {
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case strings.HasPrefix(p.s[p.i:], quote):
			p.i += len(quote)
			return true
		case c == '\n' && len(quote) == 1, isBytes && c >= utf8.RuneSelf:
			return false
		case c == '\\' && p.i+1 < len(p.s):
			if raw {
				out.WriteString(p.s[p.i : p.i+2])
				p.i += 2
			} else if !p.escape(out, isBytes) {
				return false
			}
		default:
			out.WriteByte(c)
			p.i++
		}
	}
	return false
}

// escape reads one backslash sequence. Named characters (\N{…}) are not known,
// so a string with one is taken as it was written.
func (p *literalParser) escape(out *strings.Builder, isBytes bool) bool {
	c := p.s[p.i+1]
	p.i += 2
	if at := strings.IndexByte("abfnrtv\\'\"", c); at >= 0 {
		out.WriteByte("\a\b\f\n\r\t\v\\'\""[at])
		return true
	}
	switch {
	case c == '\n':
		return true
	case c >= '0' && c <= '7':
		p.i--
		return p.code(out, p.octalLen(), 8, isBytes)
	case c == 'x':
		return p.code(out, 2, 16, isBytes)
	case isBytes || strings.IndexByte("uUN", c) < 0:
		out.WriteByte('\\')
		out.WriteByte(c)
		return true
	case c == 'u':
		return p.code(out, 4, 16, false)
	case c == 'U':
		return p.code(out, 8, 16, false)
	}
	return false
}

func (p *literalParser) octalLen() int {
	n := 1
	for n < 3 && p.i+n < len(p.s) && p.s[p.i+n] >= '0' && p.s[p.i+n] <= '7' {
		n++
	}
	return n
}

func (p *literalParser) code(out *strings.Builder, digits, base int, isBytes bool) bool {
	if p.i+digits > len(p.s) {
		return false
	}
	n, err := strconv.ParseUint(p.s[p.i:p.i+digits], base, 32)
	if err != nil || n > utf8.MaxRune || n >= 0xd800 && n < 0xe000 {
		return false
	}
	p.i += digits
	if isBytes {
		out.WriteByte(byte(n))
	} else {
		out.WriteRune(rune(n))
	}
	return true
}
