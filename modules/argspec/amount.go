package argspec

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"play/modules/value"
)

// toAmount reads "10M" or "1.5 KB" as a number of bytes or bits. A second
// letter of the unit must be letter; the word form is word ("megabyte").
func toAmount(v any, letter byte, word, what string) (any, error) {
	text := value.Str(v)
	if _, isBool := v.(bool); isBool {
		return nil, cannot(v, what)
	}
	number, unit := cutNumber(text)
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return nil, cannot(v, what)
	}
	factor, ok := unitFactor(unit, letter, word)
	if !ok {
		return nil, cannot(v, what)
	}
	return rounded(n * factor), nil
}

// cutNumber splits "1.5 KB" after the number and returns the letters that
// follow; what comes after those is not looked at.
func cutNumber(text string) (number, unit string) {
	text = strings.TrimLeft(text, " \t\n\r\f\v")
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	if end < len(text) && text[end] == '.' {
		end++
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
	}
	number, text = text[:end], strings.TrimLeft(text[end:], " \t\n\r\f\v")
	for end = 0; end < len(text) && (text[end]|0x20) >= 'a' && (text[end]|0x20) <= 'z'; end++ {
	}
	return number, text[:end]
}

func unitFactor(unit string, letter byte, word string) (float64, bool) {
	if unit == "" {
		return 1, true
	}
	power := strings.IndexByte("BKMGTPEZY", unit[0]&^0x20)
	if power < 0 {
		return 0, false
	}
	long := strings.Contains(strings.ToLower(unit), word)
	if power > 0 && len(unit) > 1 && !long && (len(unit) != 2 || unit[1] != letter) {
		return 0, false
	}
	if power == 0 && len(unit) > 1 && !long {
		return 0, false
	}
	return math.Pow(1024, float64(power)), true
}

// rounded is Python's int(round(f)).
func rounded(f float64) any {
	f = math.RoundToEven(f)
	if math.Abs(f) < 1<<62 {
		return int(f)
	}
	n, _ := big.NewFloat(f).Int(nil)
	return n
}
