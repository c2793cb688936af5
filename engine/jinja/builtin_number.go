package jinja

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"play/modules/value"
)

// numberFilters are the filters on numbers.
func numberFilters() []Builtin {
	return []Builtin{
		{Name: "abs", Doc: "the absolute value", Fn: filterAbs},
		{Name: "float", Params: "default=0.0", Doc: "the value as a float", Fn: filterFloat},
		{Name: "int", Params: "default=0, base=10", Doc: "the value as an int", Fn: filterInt},
		{Name: "log", Params: "base=2.718281828459045", Doc: "the logarithm to a base", Fn: filterLog},
		{Name: "pow", Params: "y", Doc: "raise to a power", Fn: filterPow},
		{Name: "root", Params: "base=2", Doc: "the n-th root", Fn: filterRoot},
		{Name: "round", Params: "precision=0, method='common'", Doc: "round to a number of digits", Fn: filterRound},
	}
}

func filterAbs(c *Call) (any, error) {
	switch v := c.Value.(type) {
	case float64:
		return math.Abs(v), nil
	case bool, int, *big.Int:
		return value.Int(new(big.Int).Abs(value.BigInt(v))), nil
	}
	return nil, fmt.Errorf("bad operand type for abs(): '%s'", value.TypeName(c.Value))
}

func filterFloat(c *Call) (any, error) {
	f, err := toFloat(c.Value)
	if err != nil {
		return c.Args[0], nil
	}
	return f, nil
}

func filterInt(c *Call) (any, error) {
	switch v := c.Value.(type) {
	case string:
		base, ok := value.AsInt(c.Args[1])
		if n, isInt := value.ParseInt(v, base); ok && isInt {
			return n, nil
		}
	case bool, int, *big.Int:
		return value.Int(value.BigInt(v)), nil
	}
	f, err := toFloat(c.Value)
	if err != nil {
		return c.Args[0], nil
	}
	if math.IsNaN(f) {
		return c.Args[0], nil
	}
	return intOfFloat(f)
}

// mathArg reads an argument of a function of Python's math module.
func mathArg(filter string, v any) (float64, error) {
	f, ok := value.AsFloat(v)
	if !ok {
		return 0, fmt.Errorf("%s() can only be used on numbers: must be real number, not %s", filter, value.TypeName(v))
	}
	return f, nil
}

func filterLog(c *Call) (any, error) {
	x, err := mathArg("log", c.Value)
	if err != nil {
		return nil, err
	}
	base, err := mathArg("log", c.Args[0])
	if err != nil {
		return nil, err
	}
	if x <= 0 || base <= 0 {
		return nil, errors.New("math domain error")
	}
	switch base {
	case 10:
		return math.Log10(x), nil
	case math.E:
		return math.Log(x), nil
	case 1:
		return nil, errors.New("float division by zero")
	}
	return math.Log(x) / math.Log(base), nil
}

func filterPow(c *Call) (any, error) {
	x, err := mathArg("pow", c.Value)
	if err != nil {
		return nil, err
	}
	y, err := mathArg("pow", c.Args[0])
	if err != nil {
		return nil, err
	}
	return checkedPow(x, y)
}

func checkedPow(x, y float64) (any, error) {
	r := math.Pow(x, y)
	switch {
	case math.IsNaN(r) && !math.IsNaN(x) && !math.IsNaN(y), x == 0 && y < 0:
		return nil, errors.New("math domain error")
	case math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0):
		return nil, errors.New("math range error")
	}
	return r, nil
}

func filterRoot(c *Call) (any, error) {
	x, err := mathArg("root", c.Value)
	if err != nil {
		return nil, err
	}
	base, ok := value.AsFloat(c.Args[0])
	switch {
	case !ok:
		return nil, fmt.Errorf("root() can only be used on numbers: must be real number, not %s", value.TypeName(c.Args[0]))
	case base == 2 && x < 0:
		return nil, errors.New("math domain error")
	case base == 2:
		return math.Sqrt(x), nil
	case base == 0:
		return nil, errors.New("float division by zero")
	}
	r, err := checkedPow(x, 1/base)
	if f, ok := r.(float64); ok && math.Pow(math.Round(f), base) == x {
		return math.Round(f), nil // C's pow is exact where Go's is off by one bit
	}
	return r, err
}

func filterRound(c *Call) (any, error) {
	method, _ := c.Args[1].(string)
	if method != "common" && method != "ceil" && method != "floor" {
		return nil, errors.New("method must be common, ceil or floor")
	}
	digits, err := wantInt(c.Args[0])
	if err != nil {
		return nil, err
	}
	if method == "common" {
		return roundHalfEven(c.Value, digits)
	}
	f, ok := value.AsFloat(c.Value)
	if !ok {
		return nil, fmt.Errorf("type %s doesn't define __round__ method", value.TypeName(c.Value))
	}
	scale := math.Pow(10, float64(digits))
	if method == "ceil" {
		return math.Ceil(f*scale) / scale, nil
	}
	return math.Floor(f*scale) / scale, nil
}

// roundHalfEven is Python's round(v, digits): ties go to the even neighbour.
func roundHalfEven(v any, digits int) (any, error) {
	switch v := v.(type) {
	case float64:
		return roundFloat(v, digits), nil
	case bool, int, *big.Int:
		return roundInt(value.BigInt(v), digits), nil
	}
	return nil, fmt.Errorf("type %s doesn't define __round__ method", value.TypeName(v))
}

func roundFloat(f float64, digits int) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) || digits > 322 {
		return f
	}
	if digits < -308 {
		return math.Copysign(0, f)
	}
	if digits >= 0 {
		r, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
		return r
	}
	scale := new(big.Rat).SetInt(pow10(-digits))
	q := new(big.Rat).Quo(new(big.Rat).SetFloat64(f), scale)
	whole := ratHalfEven(q)
	r, _ := new(big.Rat).Mul(new(big.Rat).SetInt(whole), scale).Float64()
	return r
}

func roundInt(n *big.Int, digits int) any {
	if digits >= 0 {
		return value.Int(n)
	}
	if -digits > len(n.String())+1 {
		return 0
	}
	scale := pow10(-digits)
	whole := ratHalfEven(new(big.Rat).SetFrac(n, scale))
	return value.Int(whole.Mul(whole, scale))
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// ratHalfEven rounds to the nearest integer.
func ratHalfEven(q *big.Rat) *big.Int {
	text := q.FloatString(0) // rounds halves away from zero
	n, _ := new(big.Int).SetString(text, 10)
	diff := new(big.Rat).Sub(new(big.Rat).SetInt(n), q)
	if diff.Abs(diff).Cmp(big.NewRat(1, 2)) == 0 && n.Bit(0) == 1 {
		n.Sub(n, big.NewInt(int64(q.Sign())))
	}
	return n
}
