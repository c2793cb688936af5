package jinja

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"play/modules/value"
)

// percenter is one run of Python's "text % values".
type percenter struct {
	b      strings.Builder
	rest   string
	length int // the length of the whole format
	args   []any
	dict   any // the mapping of "%(name)s", or nil
	next   int
	keyed  bool
	limit  int
}

// percentFormat is Python's s % v: v is a tuple of values, a mapping, or one value.
func percentFormat(s string, v any, limit int) (any, error) {
	p := &percenter{rest: s, length: len(s), limit: limit, args: []any{v}}
	if t, ok := v.(value.Tuple); ok {
		p.args = t
	} else if isMapping(v) || isList(v) {
		p.dict = v
	}
	for p.rest != "" {
		i := strings.IndexByte(p.rest, '%')
		if i < 0 {
			p.b.WriteString(p.rest)
			break
		}
		p.b.WriteString(p.rest[:i])
		p.rest = p.rest[i+1:]
		if err := p.field(); err != nil {
			return nil, err
		}
		if p.b.Len() > limit {
			return nil, errTooLarge
		}
	}
	if p.next < len(p.args) && p.dict == nil {
		return nil, errorText("not all arguments converted during string formatting")
	}
	return p.b.String(), nil
}

func isList(v any) bool {
	_, ok := v.(*value.List)
	return ok
}

// field writes one conversion; the "%" is taken already.
func (p *percenter) field() error {
	var v any
	var err error
	named := strings.HasPrefix(p.rest, "(")
	if named {
		if v, err = p.named(); err != nil {
			return err
		}
	}
	f, err := p.spec()
	if err != nil {
		return err
	}
	if p.rest == "" {
		return errorText("incomplete format")
	}
	f.kind = p.rest[0]
	p.rest = p.rest[1:]
	if f.kind == '%' && f == (formatSpec{fill: ' ', align: '>', precision: -1, kind: '%'}) {
		p.b.WriteByte('%')
		return nil
	}
	if !named {
		if v, err = p.arg(); err != nil {
			return err
		}
	}
	return p.convert(f, v)
}

func (p *percenter) named() (any, error) {
	end := strings.IndexByte(p.rest, ')')
	if end < 0 {
		return nil, errorText("incomplete format key")
	}
	key := p.rest[1:end]
	p.rest = p.rest[end+1:]
	if !isMapping(p.dict) {
		return nil, errorText("format requires a mapping")
	}
	p.keyed = true
	v, ok, err := item(p.dict, key)
	if err == nil && !ok {
		err = errorText(value.Repr(key))
	}
	return v, err
}

func (p *percenter) arg() (any, error) {
	if p.next >= len(p.args) || p.keyed {
		return nil, errorText("not enough arguments for format string")
	}
	p.next++
	return p.args[p.next-1], nil
}

// spec reads flags, width and precision.
func (p *percenter) spec() (formatSpec, error) {
	f := formatSpec{fill: ' ', align: '>', precision: -1}
	for ; p.rest != "" && strings.IndexByte("#0- +", p.rest[0]) >= 0; p.rest = p.rest[1:] {
		switch c := p.rest[0]; c {
		case '#':
			f.alt = true
		case '0':
			if f.align != '<' {
				f.fill, f.align = '0', '='
			}
		case '-':
			f.fill, f.align = ' ', '<'
		default:
			if f.sign != '+' {
				f.sign = c
			}
		}
	}
	var err error
	if f.width, err = p.size(0); err != nil {
		return f, err
	}
	if f.width < 0 {
		f.width, f.fill, f.align = -f.width, ' ', '<'
	}
	if strings.HasPrefix(p.rest, ".") {
		p.rest = p.rest[1:]
		f.precision, err = p.size(0)
	}
	for p.rest != "" && strings.IndexByte("hlL", p.rest[0]) >= 0 {
		p.rest = p.rest[1:]
	}
	if err == nil && max(f.width, f.precision) > p.limit {
		err = errTooLarge
	}
	return f, err
}

func (p *percenter) size(missing int) (int, error) {
	if !strings.HasPrefix(p.rest, "*") {
		var n int
		var err error
		n, p.rest, err = leadingInt(p.rest, missing)
		return n, err
	}
	p.rest = p.rest[1:]
	v, err := p.arg()
	if err != nil {
		return 0, err
	}
	n, ok := value.AsInt(v)
	if !ok {
		return 0, errorText("* wants int")
	}
	return n, nil
}

func (p *percenter) convert(f formatSpec, v any) error {
	if err := defined(v); err != nil {
		return err
	}
	var s string
	var err error
	switch f.kind {
	case 's', 'r', 'a':
		s, err = f.percentText(v)
	case 'c':
		s, err = f.percentChar(v)
	case 'd', 'i', 'u', 'x', 'X', 'o':
		s, err = f.percentInt(v)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		x, ok := value.AsFloat(v)
		if !ok {
			return errorText("must be real number, not " + value.TypeName(v))
		}
		s, err = f.float(x)
	default:
		return errorText(fmt.Sprintf("unsupported format character '%c' (0x%x) at index %d", f.kind, f.kind, p.length-len(p.rest)-1))
	}
	p.b.WriteString(s)
	return err
}

func (f formatSpec) percentText(v any) (string, error) {
	s := value.Str(v)
	switch f.kind {
	case 'r':
		s = value.Repr(v)
	case 'a':
		s = asciiRepr(v)
	}
	return f.plainText(s), nil
}

// plainText pads with blanks only.
func (f formatSpec) plainText(s string) string {
	if f.precision >= 0 && utf8.RuneCountInString(s) > f.precision {
		s = string([]rune(s)[:f.precision])
	}
	f.fill = ' '
	if f.align == '=' {
		f.align = '>'
	}
	return f.pad("", s)
}

func (f formatSpec) percentChar(v any) (string, error) {
	if n, ok := value.AsInt(v); ok && n >= 0 && n <= utf8.MaxRune {
		return f.plainText(string(rune(n))), nil
	}
	if s, ok := v.(string); ok && utf8.RuneCountInString(s) == 1 {
		return f.plainText(s), nil
	}
	return "", errorText("%c requires int or char")
}

func (f formatSpec) percentInt(v any) (string, error) {
	x, isFloat := v.(float64)
	switch {
	case isFloat && strings.IndexByte("diu", f.kind) >= 0 && !math.IsInf(x, 0) && !math.IsNaN(x):
		n, _ := new(big.Float).SetFloat64(x).Int(nil)
		v = value.Int(n)
	case !isInt(v) && strings.IndexByte("diu", f.kind) >= 0:
		return "", errorText("%" + string(f.kind) + " format: a real number is required, not " + value.TypeName(v))
	case !isInt(v):
		return "", errorText("%" + string(f.kind) + " format: an integer is required, not " + value.TypeName(v))
	}
	n := value.BigInt(v)
	digits, prefix := n.Text(10), ""
	if f.kind == 'x' || f.kind == 'X' || f.kind == 'o' {
		digits, prefix = f.based(n)
	}
	sign := f.signOf(n.Sign() < 0)
	digits = strings.TrimPrefix(digits, "-")
	if f.precision > len(digits) {
		digits = strings.Repeat("0", f.precision-len(digits)) + digits
	}
	return f.pad(sign+prefix, digits), nil
}
