package value

import (
	"math"
	"math/big"
	"strings"
)

// BigInt returns a bool or int as a big integer, and 0 for anything else. It
// is to be read only: a *big.Int is returned as it is.
func BigInt(v any) *big.Int {
	if b, ok := v.(*big.Int); ok {
		return b
	}
	n, _ := smallInt(v)
	return big.NewInt(int64(n))
}

// Int returns a Python int: an int where it fits, else the *big.Int itself.
func Int(b *big.Int) any {
	if b.IsInt64() {
		return int(b.Int64())
	}
	return b
}

// AsInt returns a bool or int that fits 64 bits.
func AsInt(v any) (int, bool) { return smallInt(v) }

// AsFloat returns a number as a float; ok is false for anything else, and for
// an int beyond the range of floats.
func AsFloat(v any) (f float64, ok bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case *big.Int:
		f, _ = new(big.Float).SetInt(v).Float64()
		return f, !math.IsInf(f, 0)
	}
	n, ok := smallInt(v)
	return float64(n), ok
}

// ParseInt reads a Python int literal's digits in a base of 2 to 36, or 0 for
// the base that the prefix (0x, 0o, 0b) tells; underscores may stand between
// digits, blanks around.
func ParseInt(s string, base int) (any, bool) {
	s = strings.TrimSpace(s)
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" {
		return nil, false
	}
	digits, base = cutPrefix(strings.ToLower(digits), base)
	if digits == "" || strings.HasPrefix(digits, "_") || strings.HasSuffix(digits, "_") ||
		strings.Contains(digits, "__") || strings.ContainsAny(digits, "+-") {
		return nil, false
	}
	b, ok := new(big.Int).SetString(strings.ReplaceAll(digits, "_", ""), base)
	if !ok {
		return nil, false
	}
	if s[0] == '-' {
		b.Neg(b)
	}
	return Int(b), true
}

// cutPrefix removes a prefix that fits the base and tells the base it means.
func cutPrefix(digits string, base int) (string, int) {
	for prefix, b := range map[string]int{"0x": 16, "0o": 8, "0b": 2} {
		if (base == 0 || base == b) && strings.HasPrefix(digits, prefix) {
			return strings.TrimPrefix(digits[2:], "_"), b
		}
	}
	if base == 0 {
		base = 10
	}
	return digits, base
}
