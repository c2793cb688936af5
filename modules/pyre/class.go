package pyre

import "strings"

// class reads a character set.
func (t *translator) class() error {
	start := t.pos
	t.pos++
	var b strings.Builder
	b.WriteByte('[')
	if t.peek(0) == '^' {
		t.pos++
		b.WriteByte('^')
	}
	for first := true; ; first = false {
		if t.pos >= len(t.src) {
			return t.fail(start, "unterminated character set")
		}
		if t.src[t.pos] == ']' && !first {
			t.pos++
			break
		}
		if err := t.member(start, &b); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	t.item(b.String())
	return nil
}

// member reads one character, escape or range of a set.
func (t *translator) member(set int, b *strings.Builder) error {
	start := t.pos
	low, class, err := t.unit(set)
	if err != nil {
		return err
	}
	if t.peek(0) != '-' || t.peek(1) == ']' {
		b.WriteString(class)
		if class == "" {
			b.WriteString(literal(low))
		}
		return nil
	}
	t.pos++
	high, other, err := t.unit(set)
	if err != nil {
		return err
	}
	if class != "" || other != "" || high < low {
		return t.fail(start, "bad character range %s", encode(t.src[start:t.pos]))
	}
	b.WriteString(literal(low) + "-" + literal(high))
	return nil
}

// unit reads one side of a range: a character, or a class such as \d.
func (t *translator) unit(set int) (r rune, class string, err error) {
	if t.pos >= len(t.src) {
		return 0, "", t.fail(set, "unterminated character set")
	}
	r = t.src[t.pos]
	if r != '\\' {
		t.pos++
		return r, "", nil
	}
	start := t.pos
	c := t.peek(1)
	if c < 0 {
		return 0, "", t.fail(start, "bad escape (end of pattern)")
	}
	if strings.ContainsRune("wWdDsS", c) {
		t.pos += 2
		return 0, classEscape(c, t.ascii, true), nil
	}
	t.pos += 2
	switch {
	case c == 'x', c == 'u', c == 'U':
		r, err = t.hex(start, c)
		return r, "", err
	case isOctal(c):
		r, err = t.octal(start)
		return r, "", err
	case isDigit(c):
		return 0, "", t.fail(start, `bad escape \%c`, c)
	case strings.ContainsRune(`abfnrtv\`, c):
		return simpleEscape(c), "", nil
	case isASCIILetter(c):
		return 0, "", t.fail(start, `bad escape \%c`, c)
	}
	return c, "", nil
}

// classEscape spells \w, \d and \s and their opposites as Python defines them:
// \w is letters, numbers and the underscore, \s also the separators 0x1c-0x1f.
func classEscape(c rune, ascii, inside bool) string {
	if inside && !ascii && c == 'W' {
		return `\W` // a complement cannot be spelled inside a set; regexp2's is the nearest
	}
	body := map[rune]string{
		'w': `\p{L}\p{N}_`, 'd': `\d`, 's': `\s\x1c-\x1f`,
		'D': `\D`, 'S': `\S`, 'W': `\p{L}\p{N}_`,
	}
	if ascii {
		body = map[rune]string{
			'w': `a-zA-Z0-9_`, 'd': `0-9`, 's': ` \t\n\r\f\v`,
			'W': "\\x00-/:-@\\[-\\^`{-\U0010FFFF", 'D': "\\x00-/:-\U0010FFFF",
			'S': "\\x00-\\x08\\x0e-\\x1f!-\U0010FFFF",
		}
	}
	switch {
	case inside:
		return body[c]
	case c == 'W' && !ascii:
		return "[^" + body[c] + "]"
	}
	return "[" + body[c] + "]"
}
