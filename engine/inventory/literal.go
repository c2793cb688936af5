package inventory

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"play/modules/value"
)

// literalDepth bounds nesting, as Python's parser does.
const literalDepth = 200

// literal reads text as a Python literal, which is how values in INI
// inventories get their types: numbers, strings, lists, tuples, dicts, True,
// False and None. It is false for anything else; then the text itself is the
// value. Sets become lists; complex numbers are not read.
func literal(text string) (any, bool) {
	p := &literalParser{s: text}
	v, ok := p.tuple(0, false)
	p.space(true)
	if !ok || p.i < len(p.s) {
		return nil, false
	}
	return v, true
}

type literalParser struct {
	s string
	i int
}

// space skips blanks and comments; line ends only inside brackets or at the end.
func (p *literalParser) space(lines bool) {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == ' ' || c == '\t' || c == '\f':
			p.i++
		case lines && (c == '\n' || c == '\r'):
			p.i++
		case c == '#':
			p.i += lineLen(p.s[p.i:])
		default:
			return
		}
	}
}

func lineLen(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

func (p *literalParser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// tuple reads expressions separated by commas; a single one without a comma is
// itself. Closed says that it stands in parentheses.
func (p *literalParser) tuple(depth int, closed bool) (any, bool) {
	p.space(closed)
	if closed && p.peek() == ')' {
		return value.Tuple{}, true
	}
	first, ok := p.value(depth, closed)
	if !ok {
		return nil, false
	}
	p.space(closed)
	if p.peek() != ',' {
		return first, true
	}
	items := value.Tuple{first}
	for p.peek() == ',' {
		p.i++
		p.space(closed)
		if p.i >= len(p.s) || p.peek() == ')' || p.peek() == '\n' {
			break
		}
		v, ok := p.value(depth, closed)
		if !ok {
			return nil, false
		}
		items = append(items, v)
		p.space(closed)
	}
	return items, true
}

func (p *literalParser) value(depth int, inside bool) (any, bool) {
	if depth > literalDepth {
		return nil, false
	}
	switch c := p.peek(); {
	case c == '+' || c == '-':
		return p.signed(depth, c == '-', inside)
	case c == '[':
		return p.list(depth)
	case c == '{':
		return p.braces(depth)
	case c == '(':
		return p.parens(depth)
	case c >= '0' && c <= '9' || c == '.':
		return p.number()
	case c == '\'' || c == '"' || isLetter(c):
		return p.word(inside)
	}
	return nil, false
}

func (p *literalParser) signed(depth int, minus, inside bool) (any, bool) {
	p.i++
	p.space(inside)
	if c := p.peek(); c == '+' || c == '-' {
		return nil, false
	}
	v, ok := p.value(depth+1, inside)
	if !ok {
		return nil, false
	}
	switch n := v.(type) {
	case int:
		if minus {
			return -n, true
		}
		return n, true
	case *big.Int:
		if minus {
			n = new(big.Int).Neg(n)
		}
		if n.IsInt64() {
			return int(n.Int64()), true
		}
		return n, true
	case float64:
		if minus {
			return -n, true
		}
		return n, true
	}
	return nil, false
}

func (p *literalParser) parens(depth int) (any, bool) {
	p.i++
	v, ok := p.tuple(depth+1, true)
	p.space(true)
	if !ok || p.peek() != ')' {
		return nil, false
	}
	p.i++
	return v, true
}

func (p *literalParser) list(depth int) (any, bool) {
	p.i++
	l := value.NewList()
	for {
		p.space(true)
		if p.peek() == ']' {
			p.i++
			return l, true
		}
		v, ok := p.value(depth+1, true)
		if !ok || !p.separator(']') {
			return nil, false
		}
		l.Append(v)
	}
}

// separator passes a comma, or stops before the closing bracket.
func (p *literalParser) separator(closing byte) bool {
	p.space(true)
	if p.peek() == ',' {
		p.i++
		return true
	}
	return p.peek() == closing
}

// braces reads a dict, or a set, which becomes a list.
func (p *literalParser) braces(depth int) (any, bool) {
	p.i++
	p.space(true)
	if p.peek() == '}' {
		p.i++
		return value.NewDict(), true
	}
	first, ok := p.value(depth+1, true)
	if !ok {
		return nil, false
	}
	p.space(true)
	if p.peek() == ':' {
		return p.dict(first, depth)
	}
	return p.set(first, depth)
}

func (p *literalParser) dict(key any, depth int) (any, bool) {
	d := value.NewDict()
	for {
		p.space(true)
		if p.peek() != ':' {
			return nil, false
		}
		p.i++
		p.space(true)
		v, ok := p.value(depth+1, true)
		if !ok || d.SetKey(key, v) != nil || !p.separator('}') {
			return nil, false
		}
		p.space(true)
		if p.peek() == '}' {
			p.i++
			return d, true
		}
		if key, ok = p.value(depth+1, true); !ok {
			return nil, false
		}
	}
}

func (p *literalParser) set(item any, depth int) (any, bool) {
	seen := value.NewDict()
	for {
		if seen.SetKey(item, nil) != nil || !p.separator('}') {
			return nil, false
		}
		p.space(true)
		if p.peek() == '}' {
			p.i++
			return value.NewList(seen.Keys()...), true
		}
		var ok bool
		if item, ok = p.value(depth+1, true); !ok {
			return nil, false
		}
	}
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func isWordByte(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c >= utf8.RuneSelf }

// word reads True, False, None, set() or a string with its prefix.
func (p *literalParser) word(inside bool) (any, bool) {
	start := p.i
	for p.i < len(p.s) && isWordByte(p.s[p.i]) {
		p.i++
	}
	name := p.s[start:p.i]
	if c := p.peek(); c == '\'' || c == '"' {
		p.i = start
		return p.strings(inside)
	}
	switch name {
	case "True":
		return true, true
	case "False":
		return false, true
	case "None":
		return nil, true
	case "set":
		if strings.HasPrefix(p.s[p.i:], "()") {
			p.i += 2
			return value.NewList(), true
		}
	}
	return nil, false
}

// number reads an int or a float in any of Python's spellings.
func (p *literalParser) number() (any, bool) {
	start := p.i
	for p.i < len(p.s) && (isWordByte(p.s[p.i]) || p.s[p.i] == '.' || p.exponentSign(start)) {
		p.i++
	}
	return pythonNumber(p.s[start:p.i])
}

// exponentSign reports whether the cursor is on the sign of a decimal exponent.
func (p *literalParser) exponentSign(start int) bool {
	if p.i == start || p.s[p.i] != '+' && p.s[p.i] != '-' {
		return false
	}
	hex := strings.HasPrefix(p.s[start:], "0x") || strings.HasPrefix(p.s[start:], "0X")
	return strings.IndexByte("eE", p.s[p.i-1]) >= 0 && !hex
}

func pythonNumber(s string) (any, bool) {
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i+1 == len(s) || !isHexDigitOrBase(s[i-1]) || !isHexDigit(s[i+1])) {
			return nil, false
		}
	}
	plain := strings.ReplaceAll(s, "_", "")
	if len(plain) > 1 && plain[0] == '0' && strings.IndexByte("xXoObB", plain[1]) >= 0 {
		return parseInt(plain, 0)
	}
	if strings.Trim(plain, "0123456789") == "" {
		if len(plain) > 1 && plain[0] == '0' && strings.Trim(plain, "0") != "" {
			return nil, false // 010 is not a Python number
		}
		return parseInt(plain, 10)
	}
	if strings.Trim(plain, "0123456789.eE+-") != "" || plain == "." || plain[0] == 'e' {
		return nil, false
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil && !strings.Contains(err.Error(), "range") {
		return nil, false
	}
	return f, true
}

func parseInt(s string, base int) (any, bool) {
	n, ok := new(big.Int).SetString(s, base)
	if !ok {
		return nil, false
	}
	if n.IsInt64() {
		return int(n.Int64()), true
	}
	return n, true
}

func isHexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// isHexDigitOrBase also takes the letter of a base prefix: 0x_ff is a number.
func isHexDigitOrBase(c byte) bool {
	return isHexDigit(c) || strings.IndexByte("xXoO", c) >= 0
}
