package jinja

import (
	"fmt"
	"strings"

	"play/modules/value"
)

// timeUnitFilters convert lengths of time such as "1h 30min".
func timeUnitFilters() []Builtin {
	out := []Builtin{{
		Name:   "to_time_unit",
		Params: "unit='ms', **options",
		Doc:    "a length of time in some unit",
		Fn:     func(c *Call) (any, error) { return timeUnit(c, value.Str(c.Args[0])) },
	}}
	for _, u := range []struct{ name, unit string }{
		{"to_days", "d"}, {"to_hours", "h"}, {"to_milliseconds", "ms"}, {"to_minutes", "m"}, {"to_months", "mo"},
		{"to_seconds", "s"}, {"to_weeks", "w"}, {"to_years", "y"},
	} {
		out = append(out, Builtin{Name: u.name, Params: "**options", Doc: "a length of time in this unit", Fn: func(c *Call) (any, error) {
			return timeUnit(c, u.unit)
		}})
	}
	return out
}

// unitSeconds are the lengths of the units; years and months can be set.
type unitSeconds struct{ year, month float64 }

func (u unitSeconds) of(name string) (float64, bool) {
	const day = 24 * 3600.0
	switch name {
	case "ms", "msec", "msecs", "msecond", "mseconds", "millisecond", "milliseconds":
		return 0.001, true
	case "s", "sec", "secs", "second", "seconds":
		return 1, true
	case "m", "min", "mins", "minute", "minutes":
		return 60, true
	case "h", "hour", "hours":
		return 3600, true
	case "d", "day", "days":
		return day, true
	case "w", "week", "weeks":
		return 7 * day, true
	case "mo", "month", "months":
		return u.month * day, true
	case "y", "year", "years":
		return u.year * day, true
	}
	return 0, false
}

func timeUnit(c *Call, unit string) (any, error) {
	units := unitSeconds{365, 30}
	for k, v := range c.Kwargs.All() {
		f, err := toFloat(v)
		if err != nil {
			return nil, err
		}
		switch k {
		case "year":
			units.year = f
		case "month":
			units.month = f
		default:
			return nil, fmt.Errorf("to_time_unit() got unknown keyword arguments: %s", value.Str(k))
		}
	}
	length, ok := units.of(strings.TrimRight(unit, " "))
	if !ok {
		return nil, fmt.Errorf("to_time_unit() can not convert to the following unit: %s. Available units (singular or plural): millisecond, msec, msecond, sec, second, hour, min, minute, day, week, month, year. Available short units: ms, s, m, h, d, w, mo, y", unit)
	}
	seconds := 0.0
	for _, word := range strings.Fields(value.Str(c.Value)) {
		n, ok := units.parse(word)
		if !ok {
			return nil, fmt.Errorf("to_time_unit() can not interpret following string: %s", value.Str(c.Value))
		}
		seconds += n
	}
	return roundFloat(seconds/length, 12), nil
}

// parse reads a number with its unit, such as "1.5h".
func (u unitSeconds) parse(word string) (float64, bool) {
	n := spanLen(word, func(c byte) bool { return isDigit(c) || c == '-' || c == '+' || c == '.' })
	number, ok := parseFloat(word[:n])
	length, known := u.of(strings.ToLower(word[n:]))
	return number * length, ok && known
}
