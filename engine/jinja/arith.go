package jinja

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"play/modules/value"
)

// binaryFn is an operator; limit bounds the size of what it makes.
type binaryFn func(a, b any, limit int) (any, error)

// binaryOps are Python's arithmetic operators.
var binaryOps = map[string]binaryFn{
	"+": opAdd, "-": opSub, "*": opMul, "/": opDiv, "//": opFloorDiv, "%": opMod, "**": opPow,
}

var (
	errDivision = errorText("division by zero")
	errTooLarge = errorText("the result is too large")
)

func unsupported(op string, a, b any) error {
	return fmt.Errorf("unsupported operand type(s) for %s: '%s' and '%s'", op, value.TypeName(a), value.TypeName(b))
}

func unaryOp(op string, v any) (any, error) {
	if err := defined(v); err != nil {
		return nil, err
	}
	if f, ok := v.(float64); ok {
		if op == "-" {
			return -f, nil
		}
		return f, nil
	}
	if !value.IsNumber(v) {
		return nil, fmt.Errorf("bad operand type for unary %s: '%s'", op, value.TypeName(v))
	}
	n := new(big.Int).Set(value.BigInt(v))
	if op == "-" {
		n.Neg(n)
	}
	return value.Int(n), nil
}

// twoInts returns both as small ints, when they are ints or bools.
func twoInts(a, b any) (x, y int, ok bool) {
	x, ok = value.AsInt(a)
	if !ok {
		return 0, 0, false
	}
	y, ok = value.AsInt(b)
	return x, y, ok
}

func isInt(v any) bool {
	switch v.(type) {
	case int, bool, *big.Int:
		return true
	}
	return false
}

// twoFloats returns both as floats, when both are numbers.
func twoFloats(a, b any) (x, y float64, ok bool, err error) {
	if !value.IsNumber(a) || !value.IsNumber(b) {
		return 0, 0, false, nil
	}
	x, xok := value.AsFloat(a)
	y, yok := value.AsFloat(b)
	if !xok || !yok {
		err = errorText("int too large to convert to float")
	}
	return x, y, true, err
}

// numeric works out an operator on numbers: ints exactly, else floats.
func numeric(op string, a, b any, ints func(z, x, y *big.Int) *big.Int, floats func(x, y float64) float64) (any, error) {
	if isInt(a) && isInt(b) {
		return value.Int(ints(new(big.Int), value.BigInt(a), value.BigInt(b))), nil
	}
	x, y, ok, err := twoFloats(a, b)
	if !ok {
		return nil, unsupported(op, a, b)
	}
	return floats(x, y), err
}

func opAdd(a, b any, limit int) (any, error) {
	if x, y, ok := twoInts(a, b); ok {
		if sum := x + y; (sum > x) == (y > 0) {
			return sum, nil
		}
	}
	switch x := a.(type) {
	case string:
		return addString(x, b, limit)
	case value.Bytes:
		if y, ok := b.(value.Bytes); ok {
			return x + y, nil
		}
	case *value.List:
		y, ok := b.(*value.List)
		if !ok {
			return nil, fmt.Errorf("can only concatenate list (not \"%s\") to list", value.TypeName(b))
		}
		return value.NewList(join2(x.Items, y.Items)...), nil
	case value.Tuple:
		y, ok := b.(value.Tuple)
		if !ok {
			return nil, fmt.Errorf("can only concatenate tuple (not \"%s\") to tuple", value.TypeName(b))
		}
		return value.Tuple(join2(x, y)), nil
	}
	if v, ok := operate("+", a, b); ok {
		return v, nil
	}
	return numeric("+", a, b, (*big.Int).Add, func(x, y float64) float64 { return x + y })
}

func addString(x string, b any, limit int) (any, error) {
	y, ok := b.(string)
	if !ok {
		return nil, fmt.Errorf("can only concatenate str (not \"%s\") to str", value.TypeName(b))
	}
	if len(x)+len(y) > limit {
		return nil, errTooLarge
	}
	return x + y, nil
}

func join2(a, b []any) []any {
	out := make([]any, 0, len(a)+len(b))
	return append(append(out, a...), b...)
}

func opSub(a, b any, _ int) (any, error) {
	if x, y, ok := twoInts(a, b); ok {
		if d := x - y; (d < x) == (y > 0) {
			return d, nil
		}
	}
	if v, ok := operate("-", a, b); ok {
		return v, nil
	}
	return numeric("-", a, b, (*big.Int).Sub, func(x, y float64) float64 { return x - y })
}

func opMul(a, b any, limit int) (any, error) {
	if isSeq(a) {
		return repeat(a, b, limit)
	}
	if isSeq(b) {
		return repeat(b, a, limit)
	}
	if isInt(a) && isInt(b) && value.BigInt(a).BitLen()+value.BigInt(b).BitLen() > 8*min(limit, maxIntBytes) {
		return nil, errTooLarge
	}
	return numeric("*", a, b, (*big.Int).Mul, func(x, y float64) float64 { return x * y })
}

func isSeq(v any) bool {
	switch v.(type) {
	case string, value.Bytes, *value.List, value.Tuple:
		return true
	}
	return false
}

// repeat is sequence * count.
func repeat(seq, count any, limit int) (any, error) {
	if !isInt(count) {
		return nil, fmt.Errorf("can't multiply sequence by non-int of type '%s'", value.TypeName(count))
	}
	size, _ := value.Len(seq)
	if s, isStr := seq.(string); isStr {
		size = len(s)
	}
	n, small := value.AsInt(count)
	if !small {
		n = math.MaxInt
	}
	n = max(n, 0)
	if size > 0 && n > limit/size {
		return nil, errTooLarge
	}
	return repeated(seq, n), nil
}

func repeated(seq any, n int) any {
	switch s := seq.(type) {
	case string:
		return strings.Repeat(s, n)
	case value.Bytes:
		return value.Bytes(strings.Repeat(string(s), n))
	}
	items, _ := value.Items(seq)
	out := make([]any, 0, n*len(items))
	for range n {
		out = append(out, items...)
		if len(items) == 0 {
			break
		}
	}
	return sameKind(seq, out)
}

func opDiv(a, b any, _ int) (any, error) {
	if isInt(a) && isInt(b) {
		return divideInts(value.BigInt(a), value.BigInt(b))
	}
	x, y, ok, err := twoFloats(a, b)
	switch {
	case !ok:
		return nil, unsupported("/", a, b)
	case err == nil && y == 0:
		return nil, errorText("float division by zero")
	}
	return x / y, err
}

func divideInts(a, b *big.Int) (any, error) {
	if b.Sign() == 0 {
		return nil, errDivision
	}
	if a.Sign() == 0 && b.Sign() < 0 {
		return math.Copysign(0, -1), nil
	}
	f, _ := new(big.Rat).SetFrac(a, b).Float64()
	if math.IsInf(f, 0) {
		return nil, errorText("integer division result too large for a float")
	}
	return f, nil
}

func opFloorDiv(a, b any, _ int) (any, error) {
	if isInt(a) && isInt(b) {
		q, _, err := floorDivMod(a, b, "integer division or modulo by zero")
		return q, err
	}
	x, y, ok, err := twoFloats(a, b)
	switch {
	case !ok:
		return nil, unsupported("//", a, b)
	case err == nil && y == 0:
		return nil, errorText("float floor division by zero")
	}
	return math.Floor((x - floatMod(x, y)) / y), err
}

// floorDivMod is Python's divmod of ints: the remainder has b's sign.
func floorDivMod(a, b any, zero string) (q, r any, err error) {
	if x, y, ok := twoInts(a, b); ok && y != 0 && y != -1 {
		q, r := x/y, x%y
		if r != 0 && (r < 0) != (y < 0) {
			q, r = q-1, r+y
		}
		return q, r, nil
	}
	y := value.BigInt(b)
	if y.Sign() == 0 {
		return nil, nil, errorText(zero)
	}
	bq, br := new(big.Int).QuoRem(value.BigInt(a), y, new(big.Int))
	if br.Sign() != 0 && br.Sign() != y.Sign() {
		bq.Sub(bq, big.NewInt(1))
		br.Add(br, y)
	}
	return value.Int(bq), value.Int(br), nil
}

func floatMod(x, y float64) float64 {
	r := math.Mod(x, y)
	switch {
	case r == 0:
		return math.Copysign(0, y)
	case (r < 0) != (y < 0):
		return r + y
	}
	return r
}

func opMod(a, b any, limit int) (any, error) {
	if s, ok := a.(string); ok {
		return percentFormat(s, b, limit)
	}
	if isInt(a) && isInt(b) {
		_, r, err := floorDivMod(a, b, "integer modulo by zero")
		return r, err
	}
	x, y, ok, err := twoFloats(a, b)
	switch {
	case !ok:
		return nil, unsupported("%", a, b)
	case err == nil && y == 0:
		return nil, errorText("float modulo")
	}
	return floatMod(x, y), err
}

func opPow(a, b any, limit int) (any, error) {
	if isInt(a) && isInt(b) && value.BigInt(b).Sign() >= 0 {
		return powInts(value.BigInt(a), value.BigInt(b), limit)
	}
	x, y, ok, err := twoFloats(a, b)
	switch {
	case !ok:
		return nil, unsupported("** or pow()", a, b)
	case err != nil:
		return nil, err
	case x == 0 && y < 0:
		return nil, errorText("0.0 cannot be raised to a negative power")
	case x < 0 && y != math.Trunc(y) && !math.IsInf(y, 0):
		return nil, errorText("cannot work with complex numbers")
	}
	r := math.Pow(x, y)
	if math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return nil, errorText("(34, 'Numerical result out of range')")
	}
	return r, nil
}

func powInts(a, b *big.Int, limit int) (any, error) {
	if bits := a.BitLen(); bits > 1 && (!b.IsInt64() || b.Int64() > int64(8*min(limit, maxIntBytes)/bits)) {
		return nil, errTooLarge
	}
	if a.BitLen() <= 1 {
		if a.Sign() == 0 && b.Sign() != 0 {
			return 0, nil
		}
		if a.Sign() >= 0 || b.Bit(0) == 0 {
			return 1, nil
		}
		return -1, nil
	}
	return value.Int(new(big.Int).Exp(a, b, nil)), nil
}

// maxIntBytes bounds the ints that * and ** make.
const maxIntBytes = 1 << 20

// compareFn is a comparison operator.
type compareFn func(a, b any) (bool, error)

func compareOps(op string) compareFn {
	switch op {
	case "==":
		return func(a, b any) (bool, error) { return value.Equal(a, b), nil }
	case "!=":
		return func(a, b any) (bool, error) { return !value.Equal(a, b), nil }
	case "in":
		return func(a, b any) (bool, error) { return value.Contains(b, a) }
	case "not in":
		return func(a, b any) (bool, error) {
			ok, err := value.Contains(b, a)
			return !ok, err
		}
	}
	return func(a, b any) (bool, error) { return ordered(op, a, b) }
}

func ordered(op string, a, b any) (bool, error) {
	if isNaN(a) || isNaN(b) {
		return false, nil
	}
	n, err := value.Compare(a, b, op)
	if err != nil {
		return false, err
	}
	switch op {
	case "<":
		return n < 0, nil
	case "<=":
		return n <= 0, nil
	case ">":
		return n > 0, nil
	}
	return n >= 0, nil
}

func isNaN(v any) bool {
	f, ok := v.(float64)
	return ok && math.IsNaN(f)
}
