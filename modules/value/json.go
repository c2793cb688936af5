package value

import (
	"math"
	"math/big"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxIntDigits is the longest integer that is read, as in Python: reading and
// printing longer ones takes time that grows faster than their length.
const maxIntDigits = 4300

// DecodeJSON reads one JSON document as Python's json.loads does: dicts keep
// their order (a repeated key keeps its first place and last value), ints have
// any size, NaN and Infinity are floats, and a lone surrogate \udcXX stands for
// a raw byte. The error is a *JSONError.
func DecodeJSON(data []byte) (any, error) {
	d := jsonDecoder{data: data}
	if len(data) >= 3 && string(data[:3]) == "\ufeff" {
		return nil, d.fail("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0)
	}
	d.space()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(data) {
		return nil, d.fail("Extra data", d.pos)
	}
	return v, nil
}

type jsonDecoder struct {
	data []byte
	pos  int
}

func (d *jsonDecoder) fail(msg string, at int) error {
	e := &JSONError{Msg: msg, Offset: at, Line: 1, Col: 1}
	for i := 0; i < at; {
		_, size := utf8.DecodeRune(d.data[i:at])
		e.Char++
		e.Col++
		if d.data[i] == '\n' {
			e.Line++
			e.Col = 1
		}
		i += size
	}
	return e
}

func (d *jsonDecoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// peek returns the byte at the current position, or 0 at the end.
func (d *jsonDecoder) peek() byte {
	if d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

func (d *jsonDecoder) value(depth int) (any, error) {
	if depth > maxJSONDepth {
		return nil, d.fail("Nested deeper than 1000 levels", d.pos)
	}
	switch d.peek() {
	case '"':
		return d.string()
	case '{':
		return d.dict(depth)
	case '[':
		return d.list(depth)
	case 't':
		return d.word("true", true)
	case 'f':
		return d.word("false", false)
	case 'n':
		return d.word("null", nil)
	case 'N':
		return d.word("NaN", math.NaN())
	case 'I':
		return d.word("Infinity", math.Inf(1))
	}
	return d.number()
}

func (d *jsonDecoder) word(word string, v any) (any, error) {
	if len(d.data)-d.pos < len(word) || string(d.data[d.pos:d.pos+len(word)]) != word {
		return nil, d.fail("Expecting value", d.pos)
	}
	d.pos += len(word)
	return v, nil
}

func (d *jsonDecoder) dict(depth int) (any, error) {
	out := NewDict()
	d.pos++
	d.space()
	if d.peek() == '}' {
		d.pos++
		return out, nil
	}
	for {
		if d.peek() != '"' {
			return nil, d.fail("Expecting property name enclosed in double quotes", d.pos)
		}
		if err := d.entry(out, depth); err != nil {
			return nil, err
		}
		d.space()
		switch d.peek() {
		case '}':
			d.pos++
			return out, nil
		case ',':
			d.pos++
			d.space()
		default:
			return nil, d.fail("Expecting ',' delimiter", d.pos)
		}
	}
}

func (d *jsonDecoder) entry(out *Dict, depth int) error {
	key, err := d.string()
	if err != nil {
		return err
	}
	d.space()
	if d.peek() != ':' {
		return d.fail("Expecting ':' delimiter", d.pos)
	}
	d.pos++
	d.space()
	v, err := d.value(depth + 1)
	if err != nil {
		return err
	}
	out.Set(key, v)
	return nil
}

func (d *jsonDecoder) list(depth int) (any, error) {
	out := NewList()
	d.pos++
	d.space()
	if d.peek() == ']' {
		d.pos++
		return out, nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, v)
		d.space()
		switch d.peek() {
		case ']':
			d.pos++
			return out, nil
		case ',':
			d.pos++
			d.space()
		default:
			return nil, d.fail("Expecting ',' delimiter", d.pos)
		}
	}
}

func (d *jsonDecoder) number() (any, error) {
	start, pos := d.pos, d.pos
	if d.peek() == '-' {
		pos++
	}
	whole := pos
	pos = d.digits(pos)
	if pos == whole {
		if pos > start && pos < len(d.data) && d.data[pos] == 'I' {
			d.pos = pos
			v, err := d.word("Infinity", math.Inf(-1))
			if err == nil {
				return v, nil
			}
		}
		return nil, d.fail("Expecting value", start)
	}
	if d.data[whole] == '0' {
		pos = whole + 1
	}
	end := d.exponent(d.fraction(pos))
	d.pos = end
	text := string(d.data[start:end])
	if end > pos {
		// An exponent out of range yields an infinity, as in Python.
		f, _ := strconv.ParseFloat(text, 64)
		return f, nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	if len(text) > maxIntDigits {
		return nil, d.fail("Exceeds the limit (4300 digits) for integer string conversion", start)
	}
	n, _ := new(big.Int).SetString(text, 10)
	return n, nil
}

func (d *jsonDecoder) digits(pos int) int {
	for pos < len(d.data) && d.data[pos] >= '0' && d.data[pos] <= '9' {
		pos++
	}
	return pos
}

// fraction returns the position after ".123" at pos, or pos.
func (d *jsonDecoder) fraction(pos int) int {
	if pos >= len(d.data) || d.data[pos] != '.' {
		return pos
	}
	if end := d.digits(pos + 1); end > pos+1 {
		return end
	}
	return pos
}

// exponent returns the position after "e+12" at pos, or pos.
func (d *jsonDecoder) exponent(pos int) int {
	if pos >= len(d.data) || d.data[pos]|0x20 != 'e' {
		return pos
	}
	at := pos + 1
	if at < len(d.data) && (d.data[at] == '+' || d.data[at] == '-') {
		at++
	}
	if end := d.digits(at); end > at {
		return end
	}
	return pos
}

// string reads a string whose opening quote is at the current position.
func (d *jsonDecoder) string() (string, error) {
	open := d.pos
	for i := open + 1; i < len(d.data); i++ {
		switch c := d.data[i]; {
		case c == '"':
			d.pos = i + 1
			return string(d.data[open+1 : i]), nil
		case c == '\\':
			return d.escaped(open, i)
		case c < 0x20:
			return "", d.fail("Invalid control character at", i)
		}
	}
	return "", d.fail("Unterminated string starting at", open)
}

// escaped reads on in a string whose first backslash is at i.
func (d *jsonDecoder) escaped(open, i int) (string, error) {
	buf := make([]byte, 0, 2*(i-open)+16)
	buf = append(buf, d.data[open+1:i]...)
	for i < len(d.data) {
		c := d.data[i]
		switch {
		case c == '"':
			d.pos = i + 1
			return string(buf), nil
		case c < 0x20:
			return "", d.fail("Invalid control character at", i)
		case c != '\\':
			buf = append(buf, c)
			i++
			continue
		}
		if i+1 >= len(d.data) {
			break
		}
		if d.data[i+1] == 'u' {
			r, next, err := d.unicode(i)
			if err != nil {
				return "", err
			}
			buf, i = appendJSONRune(buf, r), next
			continue
		}
		c, ok := unescape(d.data[i+1])
		if !ok {
			return "", d.fail("Invalid \\escape", i)
		}
		buf = append(buf, c)
		i += 2
	}
	return "", d.fail("Unterminated string starting at", open)
}

func unescape(c byte) (byte, bool) {
	switch c {
	case '"', '\\', '/':
		return c, true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	}
	return 0, false
}

// unicode reads \uXXXX at i, and the second half of a surrogate pair after it.
func (d *jsonDecoder) unicode(i int) (r rune, next int, err error) {
	r, ok := d.hex4(i + 2)
	if !ok {
		return 0, 0, d.fail("Invalid \\uXXXX escape", i+1)
	}
	next = i + 6
	if r < 0xd800 || r > 0xdbff || next+1 >= len(d.data) || d.data[next] != '\\' || d.data[next+1] != 'u' {
		return r, next, nil
	}
	low, ok := d.hex4(next + 2)
	if !ok {
		return 0, 0, d.fail("Invalid \\uXXXX escape", next+1)
	}
	if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
		return pair, next + 6, nil
	}
	return r, next, nil
}

func (d *jsonDecoder) hex4(at int) (rune, bool) {
	if at+4 > len(d.data) {
		return 0, false
	}
	n := rune(0)
	for _, c := range d.data[at : at+4] {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// appendJSONRune adds a character; a lone surrogate of the range that Python
// maps bytes to becomes that byte, and any other one the replacement character.
func appendJSONRune(buf []byte, r rune) []byte {
	if r >= 0xdc80 && r <= 0xdcff {
		return append(buf, byte(r-0xdc00))
	}
	return utf8.AppendRune(buf, r)
}
