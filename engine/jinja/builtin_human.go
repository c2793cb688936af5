package jinja

import (
	"fmt"
	"math"
	"strings"

	"play/modules/value"
)

// humanFilters write and read sizes as people do.
func humanFilters() []Builtin {
	return []Builtin{
		{Name: "human_readable", Params: "isbits=False, unit=None", Doc: "a number of bytes or bits with a unit", Fn: filterHumanReadable},
		{Name: "human_to_bytes", Params: "default_unit=None, isbits=False", Doc: "the number of bytes or bits that a text names", Fn: filterHumanToBytes},
	}
}

const sizeLetters = "YZEPTGMK"

// sizeLimit is the number of bytes of a unit's letter; ok is false for others.
func sizeLimit(letter byte) (float64, bool) {
	if letter == 'B' {
		return 1, true
	}
	i := strings.IndexByte(sizeLetters, letter)
	if i < 0 {
		return 0, false
	}
	return math.Pow(1024, float64(len(sizeLetters)-i)), true
}

func filterHumanReadable(c *Call) (any, error) {
	size, ok := value.AsFloat(c.Value)
	if !ok {
		return nil, fmt.Errorf("human_readable() failed on bad input: '>=' not supported between instances of '%s' and 'int'", value.TypeName(c.Value))
	}
	base := "Bytes"
	if value.Truth(c.Args[0]) {
		base = "bits"
	}
	unit, given := c.Args[1].(string)
	for _, letter := range []byte(sizeLetters) {
		limit, _ := sizeLimit(letter)
		if given && unit != "" && strings.ToUpper(unit)[:1] == string(letter) || !given && size >= limit {
			return fmt.Sprintf("%.2f %c%c", size/limit, letter, base[0]), nil
		}
	}
	return fmt.Sprintf("%.2f %s", size, base), nil
}

func filterHumanToBytes(c *Call) (any, error) {
	text := value.Str(c.Value)
	n, ok := humanToBytes(text, c.Args[0], value.Truth(c.Args[1]))
	if !ok {
		return nil, fmt.Errorf("human_to_bytes() can't interpret following string: %s", text)
	}
	return n, nil
}

// humanToBytes reads a number and a unit such as K, KB, Kb or kilobytes.
func humanToBytes(text string, defaultUnit any, isBits bool) (any, bool) {
	rest := strings.TrimLeftFunc(text, isPySpace)
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if rest = rest[len(digits):]; strings.HasPrefix(rest, ".") {
		n := 1 + spanLen(rest[1:], isDigit)
		digits, rest = digits+rest[:n], rest[n:]
	}
	number, ok := parseFloat(digits)
	if !ok {
		return nil, false
	}
	rest = strings.TrimLeftFunc(rest, isPySpace)
	unit := rest[:spanLen(rest, func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' })]
	if unit == "" && defaultUnit != nil {
		unit = value.Str(defaultUnit)
	}
	limit := 1.0
	if unit != "" {
		if limit, ok = unitLimit(unit, isBits); !ok {
			return nil, false
		}
	}
	n, err := intOfFloat(math.RoundToEven(number * limit))
	return n, err == nil
}

// unitLimit is the size of a unit; one of several letters has to tell bits
// from bytes.
func unitLimit(unit string, isBits bool) (float64, bool) {
	class, word := byte('B'), "byte"
	if isBits {
		class, word = 'b', "bit"
	}
	limit, ok := sizeLimit(strings.ToUpper(unit)[0])
	if !ok || len(unit) > 1 && unit[1] != class && !strings.Contains(strings.ToLower(unit), word) {
		return 0, false
	}
	return limit, true
}
