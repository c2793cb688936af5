package pyre

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dlclark/regexp2"
)

// translator rewrites a Python pattern in regexp2's (.NET's) dialect. Groups
// lose their names on the way, because .NET numbers named groups behind all
// others; the names stay in a table.
type translator struct {
	pattern string
	src     []rune
	pos     int
	out     strings.Builder
	options regexp2.RegexOptions

	bytes          bool
	ascii, verbose bool // may change inside a group

	groups int
	names  map[string]int
	opened map[int]int // group number to where it was opened, in characters
	closed map[int]bool
	stack  []scope
	tests  []groupTest

	atom     int  // offset in out of the last thing that can be repeated; -1: none
	repeated bool // the last thing is a repeat already
}

// scope is what an open group gives back when it closes.
type scope struct {
	start          int // position of its parenthesis
	out            int // offset in out
	capture        int // 0: none
	ascii, verbose bool
}

// groupTest is a (?(group)…) by number; the group may come later.
type groupTest struct{ pos, group int }

func newTranslator(pattern string, flags Flags) *translator {
	t := &translator{
		pattern: pattern, bytes: flags&Bytes != 0, src: decode(pattern, flags&Bytes != 0),
		ascii: flags&(ASCII|Bytes) != 0, verbose: flags&Verbose != 0,
		names: map[string]int{}, opened: map[int]int{}, closed: map[int]bool{}, atom: -1,
	}
	for _, f := range []struct {
		flag   Flags
		option regexp2.RegexOptions
	}{{IgnoreCase, regexp2.IgnoreCase}, {Multiline, regexp2.Multiline}, {DotAll, regexp2.Singleline}} {
		if flags&f.flag != 0 {
			t.options |= f.option
		}
	}
	return t
}

func (t *translator) fail(pos int, format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...), Pattern: t.pattern, Pos: pos}
}

func (t *translator) run() error {
	for t.pos < len(t.src) {
		if err := t.step(); err != nil {
			return err
		}
	}
	if n := len(t.stack); n > 0 {
		return t.fail(t.stack[n-1].start, "missing ), unterminated subpattern")
	}
	for _, test := range t.tests {
		if test.group > t.groups {
			return t.fail(test.pos, "invalid group reference %d", test.group)
		}
	}
	return nil
}

func (t *translator) step() error {
	r := t.src[t.pos]
	if t.verbose && t.skipVerbose(r) {
		return nil
	}
	switch r {
	case '\\':
		return t.escape()
	case '[':
		return t.class()
	case '(':
		return t.open()
	case ')':
		return t.close()
	case '*', '+', '?':
		return t.repeat(t.pos, string(r), 1)
	case '{':
		return t.brace()
	case '|', '^', '$':
		t.pos++
		t.assertion(string(r))
	case '.':
		t.pos++
		t.item(".")
	default:
		t.pos++
		t.item(literal(r))
	}
	return nil
}

func (t *translator) skipVerbose(r rune) bool {
	switch {
	case strings.ContainsRune(" \t\n\r\v\f", r):
		t.pos++
	case r == '#':
		for t.pos < len(t.src) && t.src[t.pos] != '\n' {
			t.pos++
		}
	default:
		return false
	}
	return true
}

// item writes something that can be repeated.
func (t *translator) item(s string) {
	t.atom, t.repeated = t.out.Len(), false
	t.out.WriteString(s)
}

// assertion writes something that cannot be repeated.
func (t *translator) assertion(s string) {
	t.atom, t.repeated = -1, false
	t.out.WriteString(s)
}

// brace reads {m}, {m,}, {,n} or {m,n}; anything else is a literal brace.
func (t *translator) brace() error {
	end := t.pos + 1
	for end < len(t.src) && (isDigit(t.src[end]) || t.src[end] == ',') {
		end++
	}
	body := string(t.src[t.pos+1 : end])
	if end >= len(t.src) || t.src[end] != '}' || body == "" || strings.Count(body, ",") > 1 {
		t.pos++
		t.item(`\{`)
		return nil
	}
	low, high, comma := strings.Cut(body, ",")
	if low == "" {
		low = "0"
	}
	m, err1 := strconv.Atoi(low)
	n, err2 := strconv.Atoi(high)
	if err1 != nil || (high != "" && err2 != nil) {
		return t.fail(-1, "the repetition number is too large")
	}
	if high != "" && n < m {
		return t.fail(t.pos+1, "min repeat greater than max repeat")
	}
	quantifier := "{" + low + "}"
	if comma {
		quantifier = "{" + low + "," + high + "}"
	}
	return t.repeat(t.pos, quantifier, end+1-t.pos)
}

// repeat writes a quantifier with its lazy or possessive suffix.
func (t *translator) repeat(pos int, quantifier string, size int) error {
	if t.repeated {
		return t.fail(pos, "multiple repeat")
	}
	if t.atom < 0 {
		return t.fail(pos, "nothing to repeat")
	}
	t.pos += size
	if t.peek(0) == '?' {
		t.pos++
		quantifier += "?"
	} else if t.peek(0) == '+' {
		t.pos++
		t.wrapAtom("(?>")
		quantifier += ")"
	}
	t.out.WriteString(quantifier)
	t.repeated = true
	return nil
}

// wrapAtom puts a prefix before the last item.
func (t *translator) wrapAtom(prefix string) {
	s := t.out.String()
	t.out.Reset()
	t.out.WriteString(s[:t.atom] + prefix + s[t.atom:])
}

// peek returns the rune i places ahead, or -1 behind the end.
func (t *translator) peek(i int) rune {
	if t.pos+i >= len(t.src) {
		return -1
	}
	return t.src[t.pos+i]
}

func (t *translator) has(prefix string) bool {
	end := t.pos + len(prefix)
	return end <= len(t.src) && string(t.src[t.pos:end]) == prefix
}

// literal writes one character so that it means itself, inside a class too.
func literal(r rune) string {
	switch {
	case isByte(r):
		return fmt.Sprintf(`\u%04X`, r)
	case r == 0:
		return `\x00`
	case strings.ContainsRune(`\*+?|{}[]()^$.#-&~ `, r):
		return `\` + string(r)
	}
	return string(r)
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
func isOctal(r rune) bool { return r >= '0' && r <= '7' }
func isASCIILetter(r rune) bool {
	return (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
}
