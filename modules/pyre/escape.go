package pyre

import (
	"strconv"
	"strings"
)

// escape reads a backslash sequence outside of a set.
func (t *translator) escape() error {
	start := t.pos
	c := t.peek(1)
	if c < 0 {
		return t.fail(start, "bad escape (end of pattern)")
	}
	t.pos += 2
	switch {
	case strings.ContainsRune("wWdDsS", c):
		t.item(classEscape(c, t.ascii, false))
	case c == 'A':
		t.assertion(`\A`)
	case c == 'Z':
		t.assertion(`\z`)
	case c == 'b' || c == 'B':
		t.assertion(t.boundary(c))
	case c == 'x' || c == 'u' || c == 'U':
		return t.charEscape(t.hex(start, c))
	case c == '0':
		return t.charEscape(t.octal(start))
	case isDigit(c):
		return t.numberEscape(start)
	case strings.ContainsRune("afnrtv", c):
		t.item(literal(simpleEscape(c)))
	case isASCIILetter(c):
		return t.fail(start, `bad escape \%c`, c)
	default:
		t.item(literal(c))
	}
	return nil
}

func (t *translator) charEscape(r rune, err error) error {
	if err == nil {
		t.item(literal(r))
	}
	return err
}

// boundary spells \b and \B; regexp2's own know Unicode, so ASCII ones are
// made of look-arounds. In bytes mode no unit above 0x7f is a word character.
func (t *translator) boundary(c rune) string {
	if !t.ascii || t.bytes {
		return `\` + string(c)
	}
	const in, notIn = `(?<=[a-zA-Z0-9_])`, `(?<![a-zA-Z0-9_])`
	const next, notNext = `(?=[a-zA-Z0-9_])`, `(?![a-zA-Z0-9_])`
	if c == 'b' {
		return "(?:" + in + notNext + "|" + notIn + next + ")"
	}
	return "(?:" + in + next + "|" + notIn + notNext + ")"
}

// numberEscape reads \1 to \99, or three octal digits.
func (t *translator) numberEscape(start int) error {
	t.pos = start + 1
	if isOctal(t.peek(0)) && isOctal(t.peek(1)) && isOctal(t.peek(2)) {
		return t.charEscape(t.octal(start))
	}
	size := 1
	if isDigit(t.peek(1)) {
		size = 2
	}
	group, _ := strconv.Atoi(string(t.src[t.pos : t.pos+size]))
	t.pos += size
	if group > t.groups {
		return t.fail(start+1, "invalid group reference %d", group)
	}
	return t.backreference(start, group)
}

// octal reads up to three octal digits behind the backslash at start.
func (t *translator) octal(start int) (rune, error) {
	t.pos = start + 1
	end := t.pos
	for end < len(t.src) && end < t.pos+3 && isOctal(t.src[end]) {
		end++
	}
	digits := string(t.src[t.pos:end])
	t.pos = end
	n, _ := strconv.ParseInt(digits, 8, 32)
	if n > 0o377 {
		return 0, t.fail(start, `octal escape value \%s outside of range 0-0o377`, digits)
	}
	return t.unitOf(rune(n)), nil
}

// hex reads the digits of \xNN, \uNNNN and \UNNNNNNNN.
func (t *translator) hex(start int, c rune) (rune, error) {
	want := map[rune]int{'x': 2, 'u': 4, 'U': 8}[c]
	if t.bytes && c != 'x' {
		return 0, t.fail(start, `bad escape \%c`, c)
	}
	end := t.pos
	for end < len(t.src) && end < t.pos+want && strings.ContainsRune("0123456789abcdefABCDEF", t.src[end]) {
		end++
	}
	text := string(t.src[start:end])
	n, err := strconv.ParseUint(string(t.src[t.pos:end]), 16, 32)
	if end-t.pos != want || err != nil {
		return 0, t.fail(start, `incomplete escape %s`, text)
	}
	if n > 0x10FFFF {
		return 0, t.fail(start, `bad escape %s`, text)
	}
	t.pos = end
	return t.unitOf(rune(n)), nil
}

// unitOf maps an escaped byte value to its unit in bytes mode.
func (t *translator) unitOf(r rune) rune {
	if t.bytes && r >= 0x80 {
		return byteRune + r
	}
	return r
}

func simpleEscape(c rune) rune {
	return map[rune]rune{
		'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\',
	}[c]
}
