package jinja

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"play/modules/value"
)

// dateTime is a Python datetime. One without a zone is held as if it were UTC,
// and prints no offset; a zone that was given has no name.
type dateTime struct{ time.Time }

// wallClock is the moment at which a clock in another zone shows the same.
func wallClock(t time.Time, zone *time.Location) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
}

// timeDelta is a Python timedelta.
type timeDelta struct{ time.Duration }

var (
	_ Attributed       = (*dateTime)(nil)
	_ value.Object     = (*dateTime)(nil)
	_ value.JSONValuer = (*dateTime)(nil)
	_ value.Ordered    = (*dateTime)(nil)
	_ value.Ordered    = (*timeDelta)(nil)
	_ Attributed       = (*timeDelta)(nil)
	_ value.Object     = (*timeDelta)(nil)
)

// TypeName is the type's name in Python.
func (*dateTime) TypeName() string { return "datetime" }

// Repr shows the time as str() does, since templates print it that way.
func (d *dateTime) Repr() string { return d.iso(" ") }

// JSONValue is the ISO form.
func (d *dateTime) JSONValue() (any, error) { return d.iso("T"), nil }

func (d *dateTime) iso(separator string) string {
	s := d.Format("2006-01-02" + separator + "15:04:05")
	if micro := d.Nanosecond() / 1000; micro != 0 {
		s += fmt.Sprintf(".%06d", micro)
	}
	if d.aware() {
		s += d.Format("-07:00")
	}
	return s
}

// aware reports whether the time was read with a zone.
func (d *dateTime) aware() bool { name, _ := d.Zone(); return name == "" }

// Attr returns the parts of the time and its methods.
func (d *dateTime) Attr(name string) (any, bool) {
	parts := map[string]int{"year": d.Year(), "month": int(d.Month()), "day": d.Day(), "hour": d.Hour(), "minute": d.Minute(),
		"second": d.Second(), "microsecond": d.Nanosecond() / 1000}
	if n, ok := parts[name]; ok {
		return n, true
	}
	switch name {
	case "date":
		return function(func() any { return d.Format("2006-01-02") }), true
	case "time":
		return function(func() any { return strings.SplitN(d.iso(" "), " ", 2)[1] }), true
	case "timestamp":
		return function(func() any {
			if d.aware() {
				return float64(d.UnixMicro()) / 1e6
			}
			return float64(wallClock(d.Time, time.Local).UnixMicro()) / 1e6
		}), true
	case "weekday":
		return function(func() any { return (int(d.Weekday()) + 6) % 7 }), true
	case "isoweekday":
		return function(func() any { return (int(d.Weekday())+6)%7 + 1 }), true
	case "isoformat":
		return textMethod(func(args []any) string {
			if len(args) > 0 {
				return d.iso(value.Str(args[0]))
			}
			return d.iso("T")
		}), true
	case "strftime":
		return textMethod(func(args []any) string {
			if len(args) == 0 {
				return ""
			}
			return d.strftime(value.Str(args[0]))
		}), true
	}
	return nil, false
}

// strftime prints no zone for a time that has none.
func (d *dateTime) strftime(format string) string {
	if !d.aware() {
		format = strings.NewReplacer("%%", "%%", "%Z", "", "%z", "").Replace(format)
	}
	return strftime(format, d.Time)
}

// textMethod is a method that yields text.
type textMethod func(args []any) string

// Call calls it.
func (m textMethod) Call(_ *Context, args []any, kwargs *value.Dict) (any, error) {
	if kwargs.Len() > 0 || len(args) > 1 {
		return nil, fmt.Errorf("method takes at most 1 argument (%d given)", len(args)+kwargs.Len())
	}
	return m(args), nil
}

// TypeName is Python's name for such a value.
func (textMethod) TypeName() string { return "builtin_function_or_method" }

// Repr shows the method.
func (textMethod) Repr() string { return "<built-in method>" }

// operand is a value with arithmetic of its own.
type operand interface {
	operate(op string, other any) (any, bool)
}

// operate asks the left operand for the result; ok is false when it knows none.
func operate(op string, a, b any) (v any, ok bool) {
	if x, is := a.(operand); is {
		return x.operate(op, b)
	}
	return nil, false
}

func (d *dateTime) operate(op string, other any) (any, bool) {
	switch o := other.(type) {
	case *dateTime:
		return &timeDelta{d.Time.Sub(o.Time)}, op == "-"
	case *timeDelta:
		if op == "-" {
			return &dateTime{d.Add(-o.Duration)}, true
		}
		return &dateTime{d.Add(o.Duration)}, op == "+"
	}
	return nil, false
}

// Compare orders times.
func (d *dateTime) Compare(other any) (int, bool) {
	o, ok := other.(*dateTime)
	if !ok {
		return 0, false
	}
	return d.Time.Compare(o.Time), true
}

func (t *timeDelta) operate(op string, other any) (any, bool) {
	switch o := other.(type) {
	case *dateTime:
		return &dateTime{o.Add(t.Duration)}, op == "+"
	case *timeDelta:
		if op == "-" {
			return &timeDelta{t.Duration - o.Duration}, true
		}
		return &timeDelta{t.Duration + o.Duration}, op == "+"
	}
	return nil, false
}

// Compare orders lengths of time.
func (t *timeDelta) Compare(other any) (int, bool) {
	o, ok := other.(*timeDelta)
	if !ok {
		return 0, false
	}
	return cmp.Compare(t.Duration, o.Duration), true
}

// TypeName is the type's name in Python.
func (*timeDelta) TypeName() string { return "timedelta" }

// split takes the delta apart as Python holds it: only the days can be negative.
func (t *timeDelta) split() (days, seconds, micros int) {
	total := t.Microseconds()
	day := int64(24 * time.Hour / time.Microsecond)
	d := total / day
	if total%day < 0 {
		d--
	}
	rest := total - d*day
	return int(d), int(rest / 1e6), int(rest % 1e6)
}

// Repr shows the delta as str() does.
func (t *timeDelta) Repr() string {
	days, seconds, micros := t.split()
	s := fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	if micros != 0 {
		s += fmt.Sprintf(".%06d", micros)
	}
	switch {
	case days == 1 || days == -1:
		s = fmt.Sprintf("%d day, %s", days, s)
	case days != 0:
		s = fmt.Sprintf("%d days, %s", days, s)
	}
	return s
}

// Attr returns the parts of the delta and total_seconds.
func (t *timeDelta) Attr(name string) (any, bool) {
	days, seconds, micros := t.split()
	switch name {
	case "days":
		return days, true
	case "seconds":
		return seconds, true
	case "microseconds":
		return micros, true
	case "total_seconds":
		return function(func() any { return float64(t.Microseconds()) / 1e6 }), true
	}
	return nil, false
}
