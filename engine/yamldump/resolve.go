package yamldump

import "strings"

// resolves reports whether a plain text would be read as something else than a
// string under YAML 1.1's rules.
func resolves(s string) bool {
	switch s {
	case "", "~", "null", "Null", "NULL", "<<", "=",
		"yes", "Yes", "YES", "no", "No", "NO", "true", "True", "TRUE", "false", "False", "FALSE",
		"on", "On", "ON", "off", "Off", "OFF",
		".nan", ".NaN", ".NAN":
		return true
	}
	switch s[0] {
	case '-', '+', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
	default:
		return false
	}
	body := strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	if len(s)-len(body) > 1 {
		return false
	}
	return isInt(body) || isFloat(s, body) || isTimestamp(s)
}

func only(s, set string) bool { return strings.Trim(s, set) == "" }

const (
	decimal = "0123456789"
	grouped = "0123456789_"
)

// isInt matches YAML 1.1's forms of an unsigned integer.
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
	case !only(s[:1], decimal):
		return false
	}
	head, rest, base60 := strings.Cut(s, ":")
	return only(head, grouped) && (!base60 || isBase60(rest))
}

// isBase60 matches groups of 0 to 59 between colons.
func isBase60(s string) bool {
	for group := range strings.SplitSeq(s, ":") {
		if group == "" || len(group) > 2 || !only(group, decimal) || len(group) == 2 && group[0] > '5' {
			return false
		}
	}
	return true
}

// isFloat matches YAML 1.1's forms of a float; body is s without its sign.
func isFloat(s, body string) bool {
	switch body {
	case ".inf", ".Inf", ".INF":
		return true
	}
	head, tail, dot := strings.Cut(body, ".")
	if !dot {
		return false
	}
	if head == "" {
		return s == body && tail != "" && only(tail[:1], decimal) && isFraction(tail)
	}
	if !only(head[:1], decimal) {
		return false
	}
	first, rest, base60 := strings.Cut(head, ":")
	if base60 {
		return only(first, grouped) && isBase60(rest) && only(tail, grouped)
	}
	return only(head, grouped) && isFraction(tail)
}

// isFraction matches digits and an optional signed exponent.
func isFraction(s string) bool {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return only(s, grouped)
	}
	exp := s[i+1:]
	return only(s[:i], grouped) && len(exp) > 1 && (exp[0] == '+' || exp[0] == '-') && only(exp[1:], decimal)
}

// isTimestamp matches a date, or a date with a time.
func isTimestamp(s string) bool {
	digits := func(low, high int) bool {
		n := len(s) - len(strings.TrimLeft(s, decimal))
		if n < low || n > high {
			return false
		}
		s = s[n:]
		return true
	}
	char := func(set string) bool {
		if s == "" || !strings.ContainsRune(set, rune(s[0])) {
			return false
		}
		s = s[1:]
		return true
	}
	whole := s
	if len(s) == 10 && digits(4, 4) && char("-") && digits(2, 2) && char("-") && digits(2, 2) {
		return s == ""
	}
	s = whole
	if !digits(4, 4) || !char("-") || !digits(1, 2) || !char("-") || !digits(1, 2) {
		return false
	}
	if !char("Tt") {
		trimmed := strings.TrimLeft(s, " \t")
		if trimmed == s {
			return false
		}
		s = trimmed
	}
	if !digits(1, 2) || !char(":") || !digits(2, 2) || !char(":") || !digits(2, 2) {
		return false
	}
	if char(".") {
		s = strings.TrimLeft(s, decimal)
	}
	if s == "" {
		return true
	}
	s = strings.TrimLeft(s, " \t")
	if char("Z") {
		return s == ""
	}
	return char("+-") && digits(1, 2) && (s == "" || char(":") && digits(2, 2) && s == "")
}
