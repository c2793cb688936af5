package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// This file is the part of CBOR (RFC 8949) that frames use. It goes by a list of
// fields instead of reflection, which keeps the agent small. What is read comes
// from a peer that may be hostile: lengths are checked against what is there,
// depth and numbers of items are bounded, and open-ended items and tags are
// refused.

// The major types.
const (
	majorUint = iota
	majorNegative
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorSimple
)

// Bounds of what one frame may hold.
const (
	maxDepth = 8
	maxItems = 1 << 16
	maxPairs = 64
)

// Simple values, as their whole byte.
const (
	codeFalse, codeTrue, codeNull = 0xf4, 0xf5, 0xf6
	codeDouble                    = 0xfb
)

// field is one entry of a message's map. Those that are zero are left out, but
// for the ones that are always there.
type field struct {
	key    uint64
	always bool
	into   any // *int, *string, *[]byte, *bool, *float64, *[]string or **Async
}

// message is a type that travels as a map.
type message interface{ fields() []field }

// appendHead writes a major type with its number.
func appendHead(b []byte, major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}

func appendInt(b []byte, n int) []byte {
	if n < 0 {
		return appendHead(b, majorNegative, uint64(-(n + 1)))
	}
	return appendHead(b, majorUint, uint64(n))
}

func appendText(b []byte, s string) []byte {
	return append(appendHead(b, majorText, uint64(len(s))), s...)
}

func appendBytes(b, data []byte) []byte {
	return append(appendHead(b, majorBytes, uint64(len(data))), data...)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, codeTrue)
	}
	return append(b, codeFalse)
}

// appendMessage writes a message's map.
func appendMessage(b []byte, m message) []byte {
	var present []field
	for _, f := range m.fields() {
		if f.always || !isZero(f.into) {
			present = append(present, f)
		}
	}
	b = appendHead(b, majorMap, uint64(len(present)))
	for _, f := range present {
		b = appendField(appendHead(b, majorUint, f.key), f.into)
	}
	return b
}

func isZero(into any) bool {
	switch v := into.(type) {
	case *int:
		return *v == 0
	case *string:
		return *v == ""
	case *[]byte:
		return len(*v) == 0
	case *bool:
		return !*v
	case *float64:
		return *v == 0
	case *[]string:
		return len(*v) == 0
	case **Async:
		return *v == nil
	}
	return true
}

func appendField(b []byte, into any) []byte {
	switch v := into.(type) {
	case *int:
		return appendInt(b, *v)
	case *string:
		return appendText(b, *v)
	case *[]byte:
		return appendBytes(b, *v)
	case *bool:
		return appendBool(b, *v)
	case *float64:
		return binary.BigEndian.AppendUint64(append(b, codeDouble), math.Float64bits(*v))
	case *[]string:
		b = appendHead(b, majorArray, uint64(len(*v)))
		for _, s := range *v {
			b = appendText(b, s)
		}
		return b
	case **Async:
		return appendMessage(b, *v)
	}
	return append(b, codeNull)
}

// items reads items one after the other.
type items struct {
	rest []byte
}

var errShort = errors.New("it ends inside an item")

// head reads a major type with its number. For floats the number is the bits.
func (r *items) head() (major byte, n uint64, err error) {
	if len(r.rest) == 0 {
		return 0, 0, errShort
	}
	first := r.rest[0]
	r.rest = r.rest[1:]
	major, short := first>>5, first&0x1f
	if short < 24 {
		return major, uint64(short), nil
	}
	if short > 27 {
		return 0, 0, fmt.Errorf("an item begins with %#x", first)
	}
	size := 1 << (short - 24)
	if len(r.rest) < size {
		return 0, 0, errShort
	}
	for _, b := range r.rest[:size] {
		n = n<<8 | uint64(b)
	}
	r.rest = r.rest[size:]
	return major, n, nil
}

// null takes a null that comes next.
func (r *items) null() bool {
	if len(r.rest) > 0 && r.rest[0] == codeNull {
		r.rest = r.rest[1:]
		return true
	}
	return false
}

// count reads the head of an array or a map.
func (r *items) count(want byte, limit uint64) (int, error) {
	major, n, err := r.head()
	if err == nil && major != want {
		err = fmt.Errorf("an item of type %d stands where one of type %d is expected", major, want)
	}
	if err == nil && n > limit {
		err = fmt.Errorf("%d items are more than %d", n, limit)
	}
	return int(n), err
}

// chunk reads a byte or text string; it is a part of what is read, not a copy.
func (r *items) chunk(want byte) ([]byte, error) {
	major, n, err := r.head()
	switch {
	case err != nil:
		return nil, err
	case major != want:
		return nil, fmt.Errorf("an item of type %d stands where one of type %d is expected", major, want)
	case n > uint64(len(r.rest)):
		return nil, errShort
	}
	data := r.rest[:n:n]
	r.rest = r.rest[n:]
	return data, nil
}

// number reads a whole number up to limit.
func (r *items) number(limit uint64) (uint64, error) {
	major, n, err := r.head()
	if err == nil && (major != majorUint || n > limit) {
		err = fmt.Errorf("a number up to %d is expected", limit)
	}
	return n, err
}

// skip passes over one item, which may nest as deep as is left.
func (r *items) skip(depth int) error {
	if depth == 0 {
		return fmt.Errorf("items nest deeper than %d", maxDepth)
	}
	if len(r.rest) > 0 && (r.rest[0] == majorSimple<<5|24 || r.rest[0]>>5 == majorTag) {
		return fmt.Errorf("an item begins with %#x", r.rest[0])
	}
	before := *r
	major, n, err := r.head()
	if err != nil {
		return err
	}
	switch major {
	case majorBytes, majorText:
		*r = before
		_, err = r.chunk(major)
	case majorArray, majorMap:
		limit, each := uint64(maxItems), 1
		if major == majorMap {
			limit, each = maxPairs, 2
		}
		if n > limit {
			return fmt.Errorf("%d items are more than %d", n, limit)
		}
		for range int(n) * each {
			if err := r.skip(depth - 1); err != nil {
				return err
			}
		}
	}
	return err
}

// message fills a message from its map. Unknown keys are passed over; a key that
// comes twice is an error.
func (r *items) message(m message, depth int) error {
	if r.null() {
		return nil
	}
	n, err := r.count(majorMap, maxPairs)
	if err != nil {
		return err
	}
	fields := m.fields()
	seen := map[uint64]bool{}
	for range n {
		key, err := r.number(math.MaxInt32)
		if err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("the key %d comes twice", key)
		}
		seen[key] = true
		if err := r.field(fields, key, depth-1); err != nil {
			return fmt.Errorf("key %d: %w", key, err)
		}
	}
	return nil
}

func (r *items) field(fields []field, key uint64, depth int) error {
	for _, f := range fields {
		if f.key == key {
			return r.value(f.into, depth)
		}
	}
	return r.skip(depth)
}

// value reads one field; null leaves it as it is.
func (r *items) value(into any, depth int) (err error) {
	if r.null() {
		return nil
	}
	switch v := into.(type) {
	case *int:
		*v, err = r.int()
	case *string:
		*v, err = r.text()
	case *[]byte:
		*v, err = r.chunk(majorBytes)
	case *bool:
		*v, err = r.bool()
	case *float64:
		*v, err = r.float()
	case *[]string:
		*v, err = r.texts()
	case **Async:
		*v = &Async{}
		err = r.message(*v, depth)
	}
	return err
}

func (r *items) int() (int, error) {
	major, n, err := r.head()
	switch {
	case err != nil:
		return 0, err
	case n > math.MaxInt32 || major > majorNegative:
		return 0, errors.New("a small whole number is expected")
	case major == majorNegative:
		return -int(n) - 1, nil
	}
	return int(n), nil
}

func (r *items) text() (string, error) {
	data, err := r.chunk(majorText)
	return string(data), err
}

func (r *items) bool() (bool, error) {
	if len(r.rest) == 0 {
		return false, errShort
	}
	code := r.rest[0]
	r.rest = r.rest[1:]
	if code != codeTrue && code != codeFalse {
		return false, errors.New("true or false is expected")
	}
	return code == codeTrue, nil
}

func (r *items) float() (float64, error) {
	if len(r.rest) == 0 || r.rest[0] != codeDouble {
		return 0, errors.New("a number of 64 bits is expected")
	}
	_, bits, err := r.head()
	return math.Float64frombits(bits), err
}

func (r *items) texts() ([]string, error) {
	n, err := r.count(majorArray, maxItems)
	if err != nil {
		return nil, err
	}
	var list []string
	for range n {
		s, err := r.text()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// end complains about anything that follows.
func (r *items) end() error {
	if len(r.rest) > 0 {
		return fmt.Errorf("%d bytes follow it", len(r.rest))
	}
	return nil
}
