package pyre

import (
	"fmt"
	"strconv"
	"strings"
)

// Template is a parsed replacement text: literals and group references.
type Template struct {
	parts []templatePart
}

type templatePart struct {
	literal string
	group   int // -1: the literal
}

// Expand fills the template from a match; a group that took no part is empty.
func (t *Template) Expand(m *Match) string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.group < 0 {
			b.WriteString(p.literal)
			continue
		}
		s, _ := m.Group(p.group)
		b.WriteString(s)
	}
	return b.String()
}

// Template parses a replacement text. The error is an *Error.
func (re *Regexp) Template(text string) (*Template, error) {
	p := &templateParser{re: re, text: text, src: decode(text, re.bytes)}
	for p.pos < len(p.src) {
		if err := p.step(); err != nil {
			return nil, err
		}
	}
	p.flush()
	return &p.out, nil
}

type templateParser struct {
	re      *Regexp
	text    string
	src     []rune
	pos     int
	literal []rune
	out     Template
}

func (p *templateParser) fail(pos int, format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...), Pattern: p.text, Pos: pos}
}

func (p *templateParser) flush() {
	if len(p.literal) > 0 {
		p.out.parts = append(p.out.parts, templatePart{literal: encode(p.literal), group: -1})
		p.literal = nil
	}
}

func (p *templateParser) step() error {
	r := p.src[p.pos]
	if r != '\\' {
		p.literal = append(p.literal, r)
		p.pos++
		return nil
	}
	if p.pos+1 >= len(p.src) {
		return p.fail(p.pos, "bad escape (end of pattern)")
	}
	start := p.pos
	c := p.src[p.pos+1]
	p.pos += 2
	switch {
	case c == 'g':
		return p.named()
	case c >= '0' && c <= '9':
		return p.number(start, c)
	case strings.ContainsRune(`abfnrtv\`, c):
		p.literal = append(p.literal, simpleEscape(c))
	case isASCIILetter(c):
		return p.fail(start, `bad escape \%c`, c)
	default:
		p.literal = append(p.literal, '\\', c)
	}
	return nil
}

// named reads the rest of \g<name> or \g<number>.
func (p *templateParser) named() error {
	if p.pos >= len(p.src) || p.src[p.pos] != '<' {
		return p.fail(p.pos, "missing <")
	}
	start := p.pos + 1
	end := start
	for end < len(p.src) && p.src[end] != '>' {
		end++
	}
	switch {
	case start == len(p.src):
		return p.fail(start, "missing group name")
	case end == len(p.src):
		return p.fail(start, "missing >, unterminated name")
	case end == start:
		return p.fail(start, "missing group name")
	}
	name := encode(p.src[start:end])
	p.pos = end + 1
	if i, ok := p.re.names[name]; ok {
		return p.reference(start, i)
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 {
		return p.reference(start, i)
	}
	if !isIdentifier(name) {
		return p.fail(start, "bad character in group name %s", quote(name))
	}
	// Python raises IndexError here, which has no position.
	return p.fail(-1, "unknown group name %s", quote(name))
}

// number reads the rest of an octal escape or a group reference.
func (p *templateParser) number(start int, first rune) error {
	digits := string(first)
	for len(digits) < 3 && p.pos < len(p.src) && isOctal(p.src[p.pos]) && (first == '0' || len(digits) < 2 || isOctal(rune(digits[1]))) {
		digits += string(p.src[p.pos])
		p.pos++
	}
	if first == '0' || (len(digits) == 3 && first <= '7') {
		return p.octal(start, digits)
	}
	p.pos = start + 2
	digits = string(first)
	if p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		digits += string(p.src[p.pos])
		p.pos++
	}
	i, _ := strconv.Atoi(digits)
	return p.reference(start+1, i)
}

func (p *templateParser) octal(start int, digits string) error {
	n, _ := strconv.ParseInt(digits, 8, 32)
	if n > 0o377 {
		return p.fail(start, `octal escape value \%s outside of range 0-0o377`, digits)
	}
	if p.re.bytes && n >= 0x80 {
		n += byteRune
	}
	p.literal = append(p.literal, rune(n))
	return nil
}

func (p *templateParser) reference(pos, group int) error {
	if group > p.re.groups {
		return p.fail(pos, "invalid group reference %d", group)
	}
	p.flush()
	p.out.parts = append(p.out.parts, templatePart{group: group})
	return nil
}
