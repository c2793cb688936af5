package value

import (
	"math"
	"math/big"
	"sort"
	"strconv"
	"unicode/utf8"
)

// maxJSONDepth bounds the nesting that DecodeJSON and EncodeJSON follow, so
// that hostile or circular data ends in an error, not in an exhausted stack.
const maxJSONDepth = 1000

// JSONOptions choose how EncodeJSON prints. The zero value prints as Python's
// json.dumps(v, ensure_ascii=False) does.
type JSONOptions struct {
	// Multiline puts every item on a line of its own, indented by Indent times
	// its depth; the item separator is then "," unless ItemSep is set.
	Multiline bool
	Indent    string
	// SortKeys orders dicts by key; keys that cannot be compared are an error.
	SortKeys bool
	// ItemSep and KeySep default to ", " and ": ".
	ItemSep, KeySep string
	// EnsureASCII prints every character over 0x7e as \uXXXX.
	EnsureASCII bool
	// EscapeInvalid prints the bytes that are not UTF-8 as \udcXX even without
	// EnsureASCII (which always does), so that the output is valid UTF-8.
	EscapeInvalid bool
}

// WireJSON are the options for data that a program reads: compact, valid UTF-8.
func WireJSON() JSONOptions {
	return JSONOptions{ItemSep: ",", KeySep: ":", EscapeInvalid: true}
}

// JSONValuer is implemented by types outside this package that can stand in a
// value: JSONValue returns the plain value that JSON shows in their place.
type JSONValuer interface {
	JSONValue() (any, error)
}

// EncodeJSON prints a value as Python's json.dumps would. It is an error if v
// holds something JSON has no form for, or nests deeper than 1000 levels.
func EncodeJSON(v any, o JSONOptions) (string, error) {
	b, err := AppendJSON(nil, v, o)
	return string(b), err
}

// AppendJSON is EncodeJSON into a buffer: it returns dst with the text added.
func AppendJSON(dst []byte, v any, o JSONOptions) ([]byte, error) {
	e := jsonEncoder{JSONOptions: o, buf: dst}
	if e.ItemSep == "" {
		e.ItemSep = ", "
		if e.Multiline {
			e.ItemSep = ","
		}
	}
	if e.KeySep == "" {
		e.KeySep = ": "
	}
	err := e.value(v, 0)
	return e.buf, err
}

type jsonEncoder struct {
	JSONOptions
	buf []byte
}

// JSONError says why text is not JSON, or why a value has no JSON form.
type JSONError struct {
	Msg    string // as Python words it: "Expecting value"
	Offset int    // bytes before the error; -1 when encoding
	Char   int    // characters before the error
	Line   int    // from 1
	Col    int    // characters, from 1
}

// Error gives Python's message: "Expecting value: line 1 column 1 (char 0)".
func (e *JSONError) Error() string {
	if e.Offset < 0 {
		return e.Msg
	}
	return e.Msg + ": line " + strconv.Itoa(e.Line) + " column " + strconv.Itoa(e.Col) +
		" (char " + strconv.Itoa(e.Char) + ")"
}

func encodeError(msg string) error { return &JSONError{Msg: msg, Offset: -1} }

func (e *jsonEncoder) value(v any, depth int) error {
	if depth > maxJSONDepth {
		return encodeError("Circular reference detected, or nested deeper than 1000 levels")
	}
	switch v := v.(type) {
	case string:
		e.string(v)
	case *Dict:
		return e.dict(v, depth)
	case *List:
		return e.items(v.Items, depth)
	case Tuple:
		return e.items(v, depth)
	case JSONValuer:
		plain, err := v.JSONValue()
		if err != nil {
			return err
		}
		return e.value(plain, depth+1)
	default:
		if !e.scalar(v) {
			return encodeError("Object of type " + jsonTypeName(v) + " is not JSON serializable")
		}
	}
	return nil
}

// scalar prints None, a bool or a number; it is false for anything else.
func (e *jsonEncoder) scalar(v any) bool {
	switch v := v.(type) {
	case nil:
		e.buf = append(e.buf, "null"...)
	case bool:
		e.buf = strconv.AppendBool(e.buf, v)
	case int:
		e.buf = strconv.AppendInt(e.buf, int64(v), 10)
	case *big.Int:
		e.buf = v.Append(e.buf, 10)
	case float64:
		e.buf = appendJSONFloat(e.buf, v)
	default:
		return false
	}
	return true
}

func (e *jsonEncoder) items(items []any, depth int) error {
	if len(items) == 0 {
		e.buf = append(e.buf, "[]"...)
		return nil
	}
	e.buf = append(e.buf, '[')
	for i, item := range items {
		e.separate(i, depth+1)
		if err := e.value(item, depth+1); err != nil {
			return err
		}
	}
	e.newline(depth)
	e.buf = append(e.buf, ']')
	return nil
}

func (e *jsonEncoder) dict(d *Dict, depth int) error {
	if d.Len() == 0 {
		e.buf = append(e.buf, "{}"...)
		return nil
	}
	order, err := e.order(d)
	if err != nil {
		return err
	}
	e.buf = append(e.buf, '{')
	for i := range d.Len() {
		at := i
		if order != nil {
			at = order[i]
		}
		k, v := d.At(at)
		e.separate(i, depth+1)
		if err := e.key(k); err != nil {
			return err
		}
		e.buf = append(e.buf, e.KeySep...)
		if err := e.value(v, depth+1); err != nil {
			return err
		}
	}
	e.newline(depth)
	e.buf = append(e.buf, '}')
	return nil
}

func (e *jsonEncoder) separate(i, depth int) {
	if i > 0 {
		e.buf = append(e.buf, e.ItemSep...)
	}
	e.newline(depth)
}

func (e *jsonEncoder) newline(depth int) {
	if !e.Multiline {
		return
	}
	e.buf = append(e.buf, '\n')
	for range depth {
		e.buf = append(e.buf, e.Indent...)
	}
}

// key prints a dict key: JSON has only strings, so Python's other simple keys
// are printed as JSON would print them, in quotes.
func (e *jsonEncoder) key(k any) error {
	if s, ok := k.(string); ok {
		e.string(s)
		return nil
	}
	e.buf = append(e.buf, '"')
	if !e.scalar(k) {
		return encodeError("keys must be str, int, float, bool or None, not " + jsonTypeName(k))
	}
	e.buf = append(e.buf, '"')
	return nil
}

// order returns the positions of d's entries in key order, or nil when the
// order of insertion is asked for.
func (e *jsonEncoder) order(d *Dict) ([]int, error) {
	if !e.SortKeys {
		return nil, nil
	}
	order := make([]int, d.Len())
	for i := range order {
		order[i] = i
	}
	var failed error
	sort.SliceStable(order, func(i, j int) bool {
		a, _ := d.At(order[i])
		b, _ := d.At(order[j])
		less, err := jsonKeyLess(a, b)
		if err != nil && failed == nil {
			failed = err
		}
		return less
	})
	return order, failed
}

func jsonKeyLess(a, b any) (bool, error) {
	x, xs := a.(string)
	y, ys := b.(string)
	if xs && ys {
		return x < y, nil
	}
	m, mok := jsonKeyNumber(a)
	n, nok := jsonKeyNumber(b)
	if mok && nok {
		return m.Cmp(n) < 0, nil
	}
	return false, encodeError("'<' not supported between instances of '" +
		jsonTypeName(a) + "' and '" + jsonTypeName(b) + "'")
}

func jsonKeyNumber(k any) (*big.Float, bool) {
	switch k := k.(type) {
	case bool:
		if k {
			return big.NewFloat(1), true
		}
		return new(big.Float), true
	case int:
		return new(big.Float).SetInt64(int64(k)), true
	case *big.Int:
		return new(big.Float).SetInt(k), true
	case float64:
		if math.IsNaN(k) {
			return new(big.Float), true
		}
		return big.NewFloat(k), true
	}
	return nil, false
}

// jsonTypeName is the Python name of v's type, for messages.
func jsonTypeName(v any) string {
	switch v.(type) {
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
	case *List:
		return "list"
	case Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	}
	if n, ok := v.(interface{ TypeName() string }); ok {
		return n.TypeName()
	}
	return "object"
}

// appendJSONFloat prints a float as json.dumps does: the shortest text that
// reads back as the same number, with an exponent from 1e16 and below 1e-4.
func appendJSONFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	abs := math.Abs(f)
	if abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	for _, c := range dst[start:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

const hexDigits = "0123456789abcdef"

func (e *jsonEncoder) string(s string) {
	e.buf = append(e.buf, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' && (c != 0x7f || !e.EnsureASCII) {
				i++
				continue
			}
			e.buf = append(e.buf, s[start:i]...)
			e.escape(c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		invalid := r == utf8.RuneError && size == 1
		if !e.EnsureASCII && !(invalid && e.EscapeInvalid) {
			i += size
			continue
		}
		e.buf = append(e.buf, s[start:i]...)
		if invalid {
			r = 0xdc00 + rune(c)
		}
		e.unicode(r)
		i += size
		start = i
	}
	e.buf = append(e.buf, s[start:]...)
	e.buf = append(e.buf, '"')
}

func (e *jsonEncoder) escape(c byte) {
	switch c {
	case '"', '\\':
		e.buf = append(e.buf, '\\', c)
	case '\n':
		e.buf = append(e.buf, '\\', 'n')
	case '\r':
		e.buf = append(e.buf, '\\', 'r')
	case '\t':
		e.buf = append(e.buf, '\\', 't')
	case '\b':
		e.buf = append(e.buf, '\\', 'b')
	case '\f':
		e.buf = append(e.buf, '\\', 'f')
	default:
		e.unicode(rune(c))
	}
}

func (e *jsonEncoder) unicode(r rune) {
	if r > 0xffff {
		r -= 0x10000
		e.unicode(0xd800 + r>>10)
		r = 0xdc00 + r&0x3ff
	}
	e.buf = append(e.buf, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15],
		hexDigits[r>>4&15], hexDigits[r&15])
}
