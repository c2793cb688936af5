package value

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Object is a value of another package (a macro, a namespace, hostvars) that
// says how Python would show it.
type Object interface {
	// TypeName is the name of the Python type, such as "dict" or "Macro".
	TypeName() string
	// Repr is what repr() would print.
	Repr() string
}

// Mapping is a dict-like object that makes its values on demand, such as
// hostvars. What Get returns is final: nothing in it waits to be evaluated,
// though it may be a Mapping again. Get is false for an absent key.
type Mapping interface {
	Get(key any) (v any, ok bool, err error)
	Keys() []any
}

// Ordered is a value of another package (a date) that has an order: Compare is
// negative, zero or positive, and ok is false for another type of value.
type Ordered interface {
	Compare(other any) (n int, ok bool)
}

// Bytes is a Python bytes object: what str.encode gives.
type Bytes string

// maxReprDepth bounds the printing of containers inside containers.
const maxReprDepth = 1000

// TypeName returns the name of v's Python type.
func TypeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case Bytes:
		return "bytes"
	case *List:
		return "list"
	case Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case Object:
		return v.TypeName()
	case Mapping:
		return "dict"
	}
	return "object"
}

// Str returns what Python's str() gives. It stops at MaxText bytes.
func Str(v any) string {
	s, _ := StrWithin(v, MaxText)
	return s
}

// StrWithin returns what Python's str() gives; ok is false, and the text cut
// off, when it would be longer than limit bytes.
func StrWithin(v any, limit int) (s string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, len(v) <= limit
	case int:
		return strconv.Itoa(v), true
	case interface{ Str() string }:
		return v.Str(), true
	}
	w := &reprWriter{limit: limit}
	w.write(v)
	return w.b.String(), !w.full()
}

// Repr returns what Python's repr() gives. It stops at MaxText bytes.
func Repr(v any) string {
	w := &reprWriter{limit: MaxText}
	w.write(v)
	return w.b.String()
}

// MaxText bounds, in bytes, the text that Str and Repr make.
const MaxText = 256 << 20

// reprWriter prints one value.
type reprWriter struct {
	b     strings.Builder
	limit int
	path  []any // the containers around what is printed, to find those that hold themselves
}

func (w *reprWriter) full() bool { return w.b.Len() > w.limit }

func (w *reprWriter) write(v any) {
	switch v := v.(type) {
	case nil:
		w.b.WriteString("None")
	case bool:
		if v {
			w.b.WriteString("True")
		} else {
			w.b.WriteString("False")
		}
	case int:
		w.b.WriteString(strconv.Itoa(v))
	case *big.Int:
		w.b.WriteString(v.String())
	case float64:
		w.b.WriteString(FloatRepr(v))
	case string:
		writeStrRepr(&w.b, v)
	case Bytes:
		writeBytesRepr(&w.b, string(v))
	case Object:
		w.b.WriteString(v.Repr())
	default:
		w.container(v)
	}
}

func (w *reprWriter) container(v any) {
	switch v := v.(type) {
	case *List:
		w.within(v, "[...]", func() { w.items(v.Items, "[", "]") })
	case Tuple:
		closing := ")"
		if len(v) == 1 {
			closing = ",)"
		}
		w.within(nil, "(...)", func() { w.items(v, "(", closing) })
	case *Dict:
		w.within(v, "{...}", func() { w.dict(v) })
	case Mapping:
		w.within(nil, "{...}", func() { w.dict(mappingDict(v)) })
	default:
		w.b.WriteString("<object>")
	}
}

// within prints the inside of a container, or dots when it stands inside itself.
func (w *reprWriter) within(container any, dots string, inside func()) {
	if len(w.path) > maxReprDepth {
		w.b.WriteString(dots)
		return
	}
	for _, outer := range w.path {
		if container != nil && outer == container {
			w.b.WriteString(dots)
			return
		}
	}
	w.path = append(w.path, container)
	inside()
	w.path = w.path[:len(w.path)-1]
}

func mappingDict(m Mapping) *Dict {
	d := NewDict()
	for _, k := range m.Keys() {
		if v, ok, err := m.Get(k); ok && err == nil {
			_ = d.SetKey(k, v) // a mapping's keys are hashable
		}
	}
	return d
}

func (w *reprWriter) items(items []any, opening, closing string) {
	w.b.WriteString(opening)
	for i, item := range items {
		if w.full() {
			return
		}
		if i > 0 {
			w.b.WriteString(", ")
		}
		w.write(item)
	}
	w.b.WriteString(closing)
}

func (w *reprWriter) dict(d *Dict) {
	w.b.WriteByte('{')
	first := true
	for k, v := range d.All() {
		if w.full() {
			return
		}
		if !first {
			w.b.WriteString(", ")
		}
		first = false
		w.write(k)
		w.b.WriteString(": ")
		w.write(v)
	}
	w.b.WriteByte('}')
}

// FloatRepr prints a float as Python does: the shortest digits that read back
// as the same number, with an exponent below 1e-4 and from 1e16 on.
func FloatRepr(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func writeStrRepr(b *strings.Builder, s string) {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteByte(quote)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteString(`\udc`)
			b.WriteString(strconv.FormatUint(uint64(s[i]), 16))
		} else {
			writeRune(b, r, rune(quote))
		}
		i += size
	}
	b.WriteByte(quote)
}

func writeRune(b *strings.Builder, r, quote rune) {
	switch {
	case r == quote || r == '\\':
		b.WriteByte('\\')
		b.WriteRune(r)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case unicode.IsPrint(r):
		b.WriteRune(r)
	default:
		b.WriteString(EscapeRune(r))
	}
}

// EscapeRune writes a character as a Python escape: \xe9, \u20ac, \U0001f600.
func EscapeRune(r rune) string {
	switch {
	case r < 0x100:
		return `\x` + hexPad(r, 2)
	case r < 0x10000:
		return `\u` + hexPad(r, 4)
	}
	return `\U` + hexPad(r, 8)
}

func hexPad(r rune, width int) string {
	s := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", max(0, width-len(s))) + s
}

func writeBytesRepr(b *strings.Builder, s string) {
	quote := rune('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteByte('b')
	b.WriteRune(quote)
	for i := 0; i < len(s); i++ {
		if s[i] < 0x7f {
			writeRune(b, rune(s[i]), quote)
		} else {
			b.WriteString(`\x` + hexPad(rune(s[i]), 2))
		}
	}
	b.WriteRune(quote)
}
