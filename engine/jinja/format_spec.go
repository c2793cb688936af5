package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"play/modules/value"
)

// formatSpec is "[[fill]align][sign][z][#][0][width][,][.precision][type]".
type formatSpec struct {
	fill      rune
	align     byte // 0, '<', '>', '=' or '^'
	sign      byte // 0, '+', '-' or ' '
	alt       bool
	width     int
	group     byte // 0, ',' or '_'
	precision int  // -1 when left out
	kind      byte // 0 when left out
}

func parseFormatSpec(s string) (formatSpec, error) {
	f := formatSpec{fill: ' ', precision: -1}
	if r, size := utf8.DecodeRuneInString(s); size > 0 && size < len(s) && strings.IndexByte("<>=^", s[size]) >= 0 {
		f.fill, f.align, s = r, s[size], s[size+1:]
	} else if s != "" && strings.IndexByte("<>=^", s[0]) >= 0 {
		f.align, s = s[0], s[1:]
	}
	if s != "" && strings.IndexByte("+- ", s[0]) >= 0 {
		f.sign, s = s[0], s[1:]
	}
	if strings.HasPrefix(s, "#") {
		f.alt, s = true, s[1:]
	}
	if strings.HasPrefix(s, "0") {
		if f.align == 0 {
			f.fill, f.align = '0', '='
		}
		s = s[1:]
	}
	return f.sizes(s)
}

// sizes reads the width and what follows.
func (f formatSpec) sizes(s string) (formatSpec, error) {
	var err error
	if f.width, s, err = leadingInt(s, 0); err != nil {
		return f, err
	}
	if s != "" && (s[0] == ',' || s[0] == '_') {
		f.group, s = s[0], s[1:]
	}
	if strings.HasPrefix(s, ".") {
		if f.precision, s, err = leadingInt(s[1:], -1); err != nil {
			return f, err
		}
		if f.precision < 0 {
			return f, errorText("Format specifier missing precision")
		}
	}
	if len(s) > 1 {
		return f, errInvalidSpec
	}
	if s != "" {
		f.kind = s[0]
	}
	return f, checkText(max(f.width, f.precision))
}

func leadingInt(s string, missing int) (int, string, error) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == 0 {
		return missing, s, nil
	}
	n, err := strconv.Atoi(s[:i])
	if err != nil || n > math.MaxInt32 {
		return 0, "", errorText("Too many decimal digits in format string")
	}
	return n, s[i:], nil
}

// errInvalidSpec stands for a spec that goes on where it should end.
var errInvalidSpec = errorText("Invalid format specifier")

// formatValue is Python's format(v, spec).
func formatValue(v any, spec string) (string, error) {
	if spec == "" {
		return value.Str(v), nil
	}
	f, err := parseFormatSpec(spec)
	if err == errInvalidSpec {
		err = errorText("Invalid format specifier '" + spec + "' for object of type '" + value.TypeName(v) + "'")
	}
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return f.text(v)
	case int, *big.Int, bool:
		return f.number(v)
	case float64:
		return f.float(v)
	}
	return "", errorText("unsupported format string passed to " + value.TypeName(v) + ".__format__")
}

func (f formatSpec) unknown(v any) error {
	return errorText("Unknown format code '" + string(f.kind) + "' for object of type '" + value.TypeName(v) + "'")
}

func (f formatSpec) text(s string) (string, error) {
	switch {
	case f.kind != 0 && f.kind != 's':
		return "", f.unknown(s)
	case f.sign == ' ':
		return "", errorText("Space not allowed in string format specifier")
	case f.sign != 0:
		return "", errorText("Sign not allowed in string format specifier")
	case f.align == '=' && f.fill != '0':
		return "", errorText("'=' alignment not allowed in string format specifier")
	case f.group != 0:
		return "", errorText("Cannot specify '" + string(f.group) + "' with 's'.")
	}
	if f.precision >= 0 && utf8.RuneCountInString(s) > f.precision {
		s = string([]rune(s)[:f.precision])
	}
	if f.align == 0 || f.align == '=' {
		f.align = '<'
	}
	return f.pad("", s), nil
}

// pad fills up to the width; "=" puts the fill after the sign.
func (f formatSpec) pad(sign, s string) string {
	gap := f.width - utf8.RuneCountInString(sign) - utf8.RuneCountInString(s)
	if gap <= 0 {
		return sign + s
	}
	fill := func(n int) string { return strings.Repeat(string(f.fill), n) }
	switch f.align {
	case '<':
		return sign + s + fill(gap)
	case '^':
		return fill(gap/2) + sign + s + fill(gap-gap/2)
	case '=':
		return sign + fill(gap) + s
	}
	return fill(gap) + sign + s
}

func (f formatSpec) number(v any) (string, error) {
	switch f.kind {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		x, ok := value.AsFloat(v)
		if !ok {
			return "", errorText("int too large to convert to float")
		}
		return f.float(x)
	}
	if f.precision >= 0 {
		return "", errorText("Precision not allowed in integer format specifier")
	}
	n := value.BigInt(v)
	digits, prefix := "", ""
	switch f.kind {
	case 0, 'd', 'n':
		digits = n.Text(10)
	case 'b', 'o', 'x', 'X':
		digits, prefix = f.based(n)
	case 'c':
		if !n.IsInt64() || n.Int64() < 0 || n.Int64() > utf8.MaxRune {
			return "", errorText("%c arg not in range(0x110000)")
		}
		return f.character(string(rune(n.Int64())))
	default:
		return "", f.unknown(v)
	}
	sign := f.signOf(strings.HasPrefix(digits, "-"))
	return f.finish(sign+prefix, strings.TrimPrefix(digits, "-"), ""), nil
}

func (f formatSpec) character(s string) (string, error) {
	f.kind = 0
	return f.text(s)
}

func (f formatSpec) based(n *big.Int) (digits, prefix string) {
	digits = n.Text(map[byte]int{'b': 2, 'o': 8, 'x': 16, 'X': 16}[f.kind])
	if f.kind == 'X' {
		digits = strings.ToUpper(digits)
	}
	if f.alt {
		prefix = "0" + string(f.kind)
	}
	return digits, prefix
}

func (f formatSpec) signOf(negative bool) string {
	switch {
	case negative:
		return "-"
	case f.sign == '+' || f.sign == ' ':
		return string(f.sign)
	}
	return ""
}

// finish groups the digits and pads. tail is what follows them: ".5", "e+10".
func (f formatSpec) finish(sign, digits, tail string) string {
	if f.align == 0 {
		f.align = '>'
	}
	if f.group == 0 {
		return f.pad(sign, digits+tail)
	}
	every := 3
	if f.kind == 'b' || f.kind == 'o' || f.kind == 'x' || f.kind == 'X' {
		every = 4
	}
	if f.fill == '0' && f.align == '=' {
		room := f.width - len(sign) - len(tail)
		for len(grouped(digits, f.group, every)) < room {
			longer := "0" + digits
			if len(grouped(longer, f.group, every)) > room && len(longer)%every == 1 {
				digits = longer
				break
			}
			digits = longer
		}
	}
	return f.pad(sign, grouped(digits, f.group, every)+tail)
}

func grouped(digits string, sep byte, every int) string {
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%every == 0 {
			b.WriteByte(sep)
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}

func (f formatSpec) float(x float64) (string, error) {
	if f.kind != 0 && strings.IndexByte("eEfFgGn%", f.kind) < 0 {
		return "", f.unknown(x)
	}
	sign := f.signOf(math.Signbit(x) && !math.IsNaN(x))
	s := f.floatDigits(math.Abs(x))
	if f.kind == 'E' || f.kind == 'F' || f.kind == 'G' {
		s = strings.ToUpper(s)
	}
	i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if i < 0 {
		i = len(s)
	}
	return f.finish(sign, s[:i], s[i:]), nil
}

func (f formatSpec) floatDigits(x float64) string {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return strings.ToLower(strings.TrimLeft(value.FloatRepr(x), "-")) + f.percent()
	}
	precision := f.precision
	if precision < 0 {
		precision = 6
	}
	switch f.kind {
	case 'e', 'E':
		return pointed(expDigits(x, precision), f.alt)
	case 'f', 'F':
		return pointed(strconv.FormatFloat(x, 'f', precision, 64), f.alt)
	case '%':
		return pointed(strconv.FormatFloat(x*100, 'f', precision, 64), f.alt) + "%"
	case 0:
		if f.precision < 0 {
			return value.FloatRepr(x)
		}
		return generalDigits(x, precision, f.alt, true)
	}
	return generalDigits(x, precision, f.alt, false)
}

func (f formatSpec) percent() string {
	if f.kind == '%' {
		return "%"
	}
	return ""
}

// pointed adds the decimal point that "#" asks for.
func pointed(s string, alt bool) string {
	if !alt || strings.Contains(s, ".") {
		return s
	}
	if i := strings.IndexByte(s, 'e'); i >= 0 {
		return s[:i] + "." + s[i:]
	}
	return s + "."
}

// expDigits prints with an exponent of at least two digits.
func expDigits(x float64, precision int) string {
	return strconv.FormatFloat(x, 'e', precision, 64)
}

// generalDigits is the "g" format; point keeps one digit after the point, as
// a float without a type has.
func generalDigits(x float64, precision int, alt, point bool) string {
	precision = max(precision, 1)
	e := expDigits(x, precision-1)
	exp, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	limit := precision
	if point {
		limit--
	}
	if exp < -4 || exp >= max(limit, 0) && !(point && exp < limit) && exp >= limit {
		mantissa, tail, _ := strings.Cut(e, "e")
		return trimZeros(mantissa, alt) + "e" + tail
	}
	s := trimZeros(strconv.FormatFloat(x, 'f', max(precision-1-exp, 0), 64), alt)
	if point && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func trimZeros(s string, keep bool) string {
	if keep || !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
