package pyre

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/dlclark/regexp2"
)

// open reads what starts with a parenthesis.
func (t *translator) open() error {
	start := t.pos
	if t.peek(1) != '?' {
		t.pos++
		return t.capture(start, "")
	}
	for _, plain := range []string{"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"} {
		if t.has(plain) {
			t.pos += len(plain)
			t.push(start, 0, plain)
			return nil
		}
	}
	switch t.peek(2) {
	case 'P':
		return t.python(start)
	case '#':
		return t.comment(start)
	case '(':
		return t.conditional(start)
	case -1:
		return t.fail(len(t.src), "unexpected end of pattern")
	case '<':
		if t.peek(3) < 0 {
			return t.fail(len(t.src), "unexpected end of pattern")
		}
		return t.fail(start+1, "unknown extension ?<%s", encode([]rune{t.peek(3)}))
	}
	if strings.ContainsRune("aiLmsux-", t.peek(2)) {
		return t.flags(start)
	}
	return t.fail(start+1, "unknown extension ?%s", encode([]rune{t.peek(2)}))
}

func (t *translator) push(start, capture int, prefix string) {
	t.stack = append(t.stack, scope{start, t.out.Len(), capture, t.ascii, t.verbose})
	t.assertion(prefix)
}

func (t *translator) close() error {
	n := len(t.stack)
	if n == 0 {
		return t.fail(t.pos, "unbalanced parenthesis")
	}
	s := t.stack[n-1]
	t.stack = t.stack[:n-1]
	t.pos++
	t.out.WriteByte(')')
	t.atom, t.repeated = s.out, false
	t.ascii, t.verbose = s.ascii, s.verbose
	if s.capture > 0 {
		t.closed[s.capture] = true
	}
	return nil
}

func (t *translator) capture(start int, name string) error {
	t.groups++
	if name != "" {
		if old, ok := t.names[name]; ok {
			return t.fail(start+4, "redefinition of group name %s as group %d; was group %d", quote(name), t.groups, old)
		}
		t.names[name] = t.groups
	}
	t.opened[t.groups] = start
	t.push(start, t.groups, "(")
	return nil
}

// python reads (?P<name>…) and (?P=name).
func (t *translator) python(start int) error {
	switch t.peek(3) {
	case '<':
		t.pos += 4
		name, err := t.name('>')
		if err != nil {
			return err
		}
		return t.capture(start, name)
	case '=':
		t.pos += 4
		at := t.pos
		name, err := t.name(')')
		if err != nil {
			return err
		}
		group, ok := t.names[name]
		if !ok {
			return t.fail(at, "unknown group name %s", quote(name))
		}
		return t.backreference(at, group)
	case -1:
		return t.fail(len(t.src), "unexpected end of pattern")
	}
	return t.fail(start+1, "unknown extension ?P%s", encode([]rune{t.peek(3)}))
}

// name reads an identifier and its terminator.
func (t *translator) name(end rune) (string, error) {
	start := t.pos
	for t.pos < len(t.src) && t.src[t.pos] != end {
		t.pos++
	}
	if start == len(t.src) {
		return "", t.fail(start, "missing group name")
	}
	if t.pos == len(t.src) {
		return "", t.fail(start, "missing %c, unterminated name", end)
	}
	name := encode(t.src[start:t.pos])
	t.pos++
	if name == "" {
		return "", t.fail(start, "missing group name")
	}
	if !isIdentifier(name) {
		return "", t.fail(start, "bad character in group name %s", quote(name))
	}
	return name, nil
}

func (t *translator) backreference(pos, group int) error {
	if !t.closed[group] {
		return t.fail(pos, "cannot refer to an open group")
	}
	t.item(`\k<` + strconv.Itoa(group) + `>`)
	return nil
}

func (t *translator) comment(start int) error {
	for t.pos < len(t.src) && t.src[t.pos] != ')' {
		t.pos++
	}
	if t.pos == len(t.src) {
		return t.fail(start, "missing ), unterminated comment")
	}
	t.pos++
	return nil
}

// conditional reads the head of (?(group)yes|no).
func (t *translator) conditional(start int) error {
	t.pos += 3
	at := t.pos
	for t.pos < len(t.src) && t.src[t.pos] != ')' {
		t.pos++
	}
	if t.pos == len(t.src) {
		return t.fail(at, "missing ), unterminated name")
	}
	name := encode(t.src[at:t.pos])
	t.pos++
	group, ok := t.names[name]
	if n, err := strconv.Atoi(name); !ok && err == nil {
		group, ok = n, true
		if n == 0 {
			return t.fail(at, "bad group number")
		}
		t.tests = append(t.tests, groupTest{at, n})
	}
	switch {
	case name == "":
		return t.fail(at, "missing group name")
	case !ok && !isIdentifier(name):
		return t.fail(at, "bad character in group name %s", quote(name))
	case !ok:
		return t.fail(at, "unknown group name %s", quote(name))
	}
	t.push(start, 0, "(?("+strconv.Itoa(group)+")")
	return nil
}

// flags reads (?i), (?i:…) and (?i-s:…).
func (t *translator) flags(start int) error {
	t.pos += 2
	on := t.letters()
	off := ""
	if t.peek(0) == '-' {
		t.pos++
		if off = t.letters(); off == "" {
			return t.badFlag("missing flag")
		}
	}
	switch {
	case t.peek(0) == ')' && off == "" && on != "":
		t.pos++
		return t.globalFlags(start, on)
	case t.peek(0) != ':':
		return t.badFlag("missing -, : or )")
	}
	t.pos++
	t.push(start, 0, "(?"+engineFlags(on, off)+":")
	t.setLocal(on, true)
	t.setLocal(off, false)
	return nil
}

func (t *translator) badFlag(missing string) error {
	if r := t.peek(0); r >= 0 && unicode.IsLetter(r) {
		return t.fail(t.pos, "unknown flag")
	}
	return t.fail(t.pos, "%s", missing)
}

func (t *translator) letters() string {
	start := t.pos
	for t.pos < len(t.src) && strings.ContainsRune("aiLmsux", t.src[t.pos]) {
		t.pos++
	}
	return string(t.src[start:t.pos])
}

func (t *translator) globalFlags(start int, on string) error {
	if t.out.Len() > 0 || len(t.stack) > 0 {
		return t.fail(start, "global flags not at the start of the expression")
	}
	for letter, option := range map[rune]regexp2.RegexOptions{
		'i': regexp2.IgnoreCase, 'm': regexp2.Multiline, 's': regexp2.Singleline,
	} {
		if strings.ContainsRune(on, letter) {
			t.options |= option
		}
	}
	t.setLocal(on, true)
	return nil
}

func (t *translator) setLocal(letters string, on bool) {
	if strings.Contains(letters, "x") {
		t.verbose = on
	}
	if strings.Contains(letters, "a") {
		t.ascii = true
	}
	if strings.Contains(letters, "u") {
		t.ascii = t.bytes
	}
}

// engineFlags keeps the letters that regexp2 handles itself.
func engineFlags(on, off string) string {
	keep := func(r rune) rune {
		if strings.ContainsRune("ims", r) {
			return r
		}
		return -1
	}
	on, off = strings.Map(keep, on), strings.Map(keep, off)
	if off != "" {
		return on + "-" + off
	}
	return on
}

func isIdentifier(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

func quote(s string) string { return "'" + s + "'" }
