package jinja

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"play/modules/value"
)

type kind uint8

const (
	kEOF kind = iota
	kName
	kInt
	kFloat
	kString
	kOp
)

// token is one word of an expression; text is an operator's or a name's own
// text, val a literal's value, at its byte offset in the expression.
type token struct {
	kind kind
	text string
	val  any
	at   int
}

// operators of expressions, longest first.
var operators = []string{
	"//", "**", "==", "!=", ">=", "<=",
	"+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";",
}

var (
	floatPattern = regexp.MustCompile(`^(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+\-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)`)
	intPattern   = regexp.MustCompile(`^(?i:0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*)`)
)

// tokenize splits an expression into tokens, the last one kEOF. With raw set,
// backslashes in strings mean themselves.
func tokenize(src string, raw bool) ([]token, error) {
	out := make([]token, 0, len(src)/3+2)
	for pos := 0; ; {
		for pos < len(src) && isSpace(src[pos]) {
			pos++
		}
		if pos >= len(src) {
			return append(out, token{kind: kEOF, at: pos}), nil
		}
		afterDot := len(out) > 0 && out[len(out)-1].text == "." && out[len(out)-1].at == pos-1
		t, size, err := nextToken(src[pos:], afterDot, raw)
		if err != nil {
			return nil, &syntaxError{at: pos, msg: err.Error()}
		}
		t.at = pos
		out = append(out, t)
		pos += size
	}
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'
}

func nextToken(s string, afterDot, raw bool) (token, int, error) {
	c := s[0]
	switch {
	case c >= '0' && c <= '9':
		return numberToken(s, afterDot)
	case c == '"' || c == '\'':
		return stringToken(s, raw)
	}
	if size := nameLen(s); size > 0 {
		return token{kind: kName, text: s[:size]}, size, nil
	}
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return token{kind: kOp, text: op}, len(op), nil
		}
	}
	_, size := utf8.DecodeRuneInString(s)
	return token{}, 0, errorText("unexpected char " + value.Repr(s[:size]))
}

func nameLen(s string) int {
	for i, r := range s {
		if r == '_' || unicode.IsLetter(r) || i > 0 && (unicode.IsDigit(r) || unicode.IsMark(r)) {
			continue
		}
		return i
	}
	return len(s)
}

func numberToken(s string, afterDot bool) (token, int, error) {
	if m := floatPattern.FindString(s); m != "" && !afterDot {
		f, err := strconv.ParseFloat(strings.ReplaceAll(m, "_", ""), 64)
		if err != nil && f == 0 {
			return token{}, 0, err
		}
		return token{kind: kFloat, val: f}, len(m), nil
	}
	m := intPattern.FindString(s)
	return token{kind: kInt, text: m, val: intLiteral(m)}, len(m), nil
}

func intLiteral(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	b, ok := new(big.Int).SetString(strings.TrimLeft(strings.ToLower(text), " "), 0)
	if !ok {
		return 0
	}
	return value.Int(b)
}

func stringToken(s string, raw bool) (token, int, error) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			if raw {
				return token{kind: kString, val: strings.ReplaceAll(s[1:i], `\`+s[:1], s[:1])}, i + 1, nil
			}
			text, err := unescape(s[1:i])
			return token{kind: kString, val: text}, i + 1, err
		}
	}
	return token{}, 0, errorText("unexpected char " + value.Repr(s[:1]))
}
