package yamlload

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxDigits is the longest integer that is read, as in Python.
const maxDigits = 4300

// plain resolves an unquoted scalar by YAML 1.1's rules.
func plain(s string) (any, error) {
	if s == "" {
		return nil, nil
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		return number(s)
	case c == '~', c == 'n', c == 'N':
		if isNull(s) {
			return nil, nil
		}
	}
	if b, ok := boolean(s); ok {
		return b, nil
	}
	return s, nil
}

func isNull(s string) bool {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

func boolean(s string) (val, ok bool) {
	switch s {
	case "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true, true
	case "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

// number resolves a scalar that begins like a number: an int, a float, a
// timestamp (a string), or just a string.
func number(s string) (any, error) {
	body := s
	if s[0] == '-' || s[0] == '+' {
		body = s[1:]
	}
	if isInt(body) {
		return parseInt(s)
	}
	if isFloat(s, body) {
		return parseFloat(s), nil
	}
	return timestamp(s), nil
}

// isInt reports whether the unsigned text is one of YAML 1.1's int forms.
func isInt(s string) bool {
	switch {
	case s == "":
		return false
	case s == "0":
		return true
	case strings.HasPrefix(s, "0b"):
		return len(s) > 2 && only(s[2:], "01_")
	case strings.HasPrefix(s, "0x"):
		return len(s) > 2 && only(s[2:], "0123456789abcdefABCDEF_")
	case s[0] == '0':
		return only(s[1:], "01234567_")
	case s[0] < '1' || s[0] > '9':
		return false
	}
	head, rest, sexagesimal := strings.Cut(s, ":")
	return only(head, "0123456789_") && (!sexagesimal || isBase60(rest))
}

// isBase60 reports whether s is one or more groups of 0 to 59 between colons.
func isBase60(s string) bool {
	for group := range strings.SplitSeq(s, ":") {
		switch {
		case len(group) == 1 && only(group, "0123456789"):
		case len(group) == 2 && only(group, "0123456789") && group[0] <= '5':
		default:
			return false
		}
	}
	return true
}

// isFloat reports whether s, with its sign taken off in body, is one of YAML
// 1.1's float forms. An exponent needs a dot before it and a sign.
func isFloat(s, body string) bool {
	switch body {
	case ".inf", ".Inf", ".INF":
		return true
	case ".nan", ".NaN", ".NAN":
		return s == body
	case "":
		return false
	}
	head, tail, dot := strings.Cut(body, ".")
	if !dot {
		return false
	}
	if head == "" {
		return s == body && tail != "" && isDigit(tail[0]) && isFraction(tail)
	}
	if !isDigit(head[0]) {
		return false
	}
	first, rest, sexagesimal := strings.Cut(head, ":")
	if sexagesimal {
		return only(first, "0123456789_") && isBase60(rest) && only(tail, "0123456789_")
	}
	return only(head, "0123456789_") && isFraction(tail)
}

// isFraction reports whether s is digits and an optional signed exponent.
func isFraction(s string) bool {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return only(s, "0123456789_")
	}
	exp := s[i+1:]
	return only(s[:i], "0123456789_") && len(exp) > 1 &&
		(exp[0] == '+' || exp[0] == '-') && only(exp[1:], "0123456789")
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// only reports whether s holds nothing but bytes of set.
func only(s, set string) bool {
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(set, s[i]) < 0 {
			return false
		}
	}
	return true
}

// parseInt reads an int in any of YAML 1.1's forms; a long one is a *big.Int.
func parseInt(s string) (any, error) {
	digits := strings.ReplaceAll(s, "_", "")
	if len(digits) > maxDigits {
		return nil, fmt.Errorf("an integer of %d digits is too long", len(digits))
	}
	sign := ""
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		sign, digits = strings.TrimPrefix(digits[:1], "+"), digits[1:]
	}
	base := 10
	switch {
	case digits == "0":
	case strings.HasPrefix(digits, "0b"):
		base, digits = 2, digits[2:]
	case strings.HasPrefix(digits, "0x"):
		base, digits = 16, digits[2:]
	case strings.HasPrefix(digits, "0"):
		base, digits = 8, digits[1:]
	case strings.Contains(digits, ":"):
		return base60(sign, digits), nil
	}
	if i, err := strconv.ParseInt(sign+digits, base, 64); err == nil {
		return int(i), nil
	}
	if n, ok := new(big.Int).SetString(sign+digits, base); ok {
		return n, nil
	}
	return nil, fmt.Errorf("%q is not an integer", s)
}

// base60 reads 190:20:30 as (190*60+20)*60+30.
func base60(sign, digits string) any {
	total := new(big.Int)
	for group := range strings.SplitSeq(digits, ":") {
		part, ok := new(big.Int).SetString(group, 10)
		if !ok {
			part = new(big.Int)
		}
		total.Add(total.Mul(total, big.NewInt(60)), part)
	}
	if sign == "-" {
		total.Neg(total)
	}
	if total.IsInt64() {
		return int(total.Int64())
	}
	return total
}

// parseFloat reads a text for which isFloat holds.
func parseFloat(s string) float64 {
	s = strings.ToLower(strings.ReplaceAll(s, "_", ""))
	sign := 1.0
	if s[0] == '-' {
		sign = -1
	}
	s = strings.TrimLeft(s, "+-")
	switch s {
	case ".inf":
		return sign * math.Inf(1)
	case ".nan":
		return math.NaN()
	}
	total := 0.0
	for group := range strings.SplitSeq(s, ":") {
		// Out of range gives infinity, as in Python.
		part, _ := strconv.ParseFloat(group, 64)
		total = total*60 + part
	}
	return sign * total
}
