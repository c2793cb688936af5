package jinja

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"play/modules/value"
)

// literalReader reads a Python literal: the text of a list, dict, tuple,
// string, number, True, False or None, and JSON's true, false and null, as
// Ansible takes them. Nothing in it is ever evaluated.
type literalReader struct {
	src   string
	toks  []token
	i     int
	depth int
}

var errNotLiteral = errorText("this is not a literal")

// parseLiteral reads a whole text as one Python literal.
func parseLiteral(s string) (any, error) {
	toks, err := tokenize(s, false)
	if err != nil {
		return nil, err
	}
	r := &literalReader{src: s, toks: toks}
	v, err := r.read()
	if err != nil {
		return nil, err
	}
	if r.toks[r.i].kind != kEOF {
		return nil, errNotLiteral
	}
	return v, nil
}

func (r *literalReader) op(op string) bool {
	t := r.toks[r.i]
	if t.kind != kOp || t.text != op {
		return false
	}
	r.i++
	return true
}

func (r *literalReader) read() (any, error) {
	if r.depth++; r.depth > maxNesting {
		return nil, errNotLiteral
	}
	defer func() { r.depth-- }()
	t := r.toks[r.i]
	r.i++
	switch t.kind {
	case kString:
		return r.text(t)
	case kInt, kFloat:
		return t.val, nil
	case kName:
		if r.toks[r.i].kind == kString && r.toks[r.i].at == t.at+len(t.text) {
			return r.prefixed(t.text)
		}
		return namedLiteral(t.text)
	case kOp:
		return r.bracket(t.text)
	}
	return nil, errNotLiteral
}

// text joins adjacent strings.
func (r *literalReader) text(t token) (any, error) {
	s := t.val.(string)
	for r.oneLine(t) && r.toks[r.i].kind == kString {
		t = r.toks[r.i]
		r.i++
		s += t.val.(string)
	}
	if !r.oneLine(t) {
		return nil, errNotLiteral
	}
	return s, nil
}

// oneLine tells whether a string has no newline in it: Python wants it so.
func (r *literalReader) oneLine(t token) bool {
	return !strings.ContainsAny(r.src[t.at:t.at+stringEnd(r.src[t.at:])], "\n\r")
}

// prefixed reads u"…" and b"…".
func (r *literalReader) prefixed(prefix string) (any, error) {
	t := r.toks[r.i]
	r.i++
	switch strings.ToLower(prefix) {
	case "u":
		return r.text(t)
	case "b":
		if r.oneLine(t) {
			return bytesOf(r.src[t.at:t.at+stringEnd(r.src[t.at:])], t.val.(string))
		}
	}
	return nil, errNotLiteral
}

// bytesOf turns the text of a bytes literal into bytes: its source is ASCII,
// and each character that an escape gave is one byte.
func bytesOf(src, s string) (any, error) {
	for i := range len(src) {
		if src[i] >= utf8.RuneSelf {
			return nil, errNotLiteral
		}
	}
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return nil, errNotLiteral
		}
		b = append(b, byte(r))
	}
	return value.Bytes(b), nil
}

func namedLiteral(name string) (any, error) {
	switch name {
	case "True", "true":
		return true, nil
	case "False", "false":
		return false, nil
	case "None", "null":
		return nil, nil
	}
	return nil, errNotLiteral
}

func (r *literalReader) bracket(op string) (any, error) {
	switch op {
	case "-", "+":
		return r.signed(op)
	case "[":
		items, _, err := r.items("]")
		return &value.List{Items: items}, err
	case "(":
		items, comma, err := r.items(")")
		if err == nil && len(items) == 1 && !comma {
			return items[0], nil
		}
		return value.Tuple(items), err
	case "{":
		return r.dict()
	}
	return nil, errNotLiteral
}

func (r *literalReader) signed(op string) (any, error) {
	v, err := r.read()
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case int, float64, *big.Int:
		return unaryOp(op, v)
	}
	return nil, errNotLiteral
}

func (r *literalReader) items(closer string) (items []any, comma bool, err error) {
	for !r.op(closer) {
		if len(items) > 0 && !comma {
			return nil, false, errNotLiteral
		}
		v, err := r.read()
		if err != nil {
			return nil, false, err
		}
		items = append(items, v)
		comma = r.op(",")
	}
	return items, comma, nil
}

func (r *literalReader) dict() (any, error) {
	d := value.NewDict()
	for comma := true; !r.op("}"); {
		if !comma {
			return nil, errNotLiteral
		}
		k, err := r.read()
		if err != nil {
			return nil, err
		}
		if !r.op(":") {
			return nil, errNotLiteral
		}
		v, err := r.read()
		if err != nil {
			return nil, err
		}
		if err := d.SetKey(k, v); err != nil {
			return nil, err
		}
		comma = r.op(",")
	}
	return d, nil
}
