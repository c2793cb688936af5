package jinja

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"play/modules/pyre"
	"play/modules/value"
)

// timeFilters read and write dates and times.
func timeFilters() []Builtin {
	return []Builtin{
		{Name: "strftime", Params: "second=None, utc=False", Doc: "a time, in seconds since 1970, in a format", Fn: filterStrftime},
		{Name: "to_datetime", Params: "format='%Y-%m-%d %H:%M:%S'", Doc: "read a date and time", Fn: filterToDatetime},
	}
}

// clock is the current time of the evaluation.
func clock(c *Call) time.Time {
	if c.Ctx != nil && c.Ctx.Now != nil {
		return c.Ctx.Now()
	}
	return time.Now()
}

func globalNow(c *Call) (any, error) {
	now := clock(c)
	if value.Truth(c.Args[0]) {
		now = now.UTC()
	} else {
		now = now.Local()
	}
	d := &dateTime{wallClock(now, time.UTC).Truncate(time.Microsecond)}
	if c.Args[1] != nil {
		return d.strftime(value.Str(c.Args[1])), nil
	}
	return d, nil
}

func filterStrftime(c *Call) (any, error) {
	when := clock(c)
	if c.Args[0] != nil {
		f, err := toFloat(c.Args[0])
		if err != nil {
			return nil, fmt.Errorf("Invalid value for epoch value (%s)", value.Str(c.Args[0]))
		}
		when = time.Unix(int64(math.Floor(f)), 0)
	}
	if value.Truth(c.Args[1]) {
		when = when.In(time.FixedZone("GMT", 0))
	} else {
		when = when.Local()
	}
	return strftime(value.Str(c.Value), when), nil
}

// strftime is Python's, in the C locale.
func strftime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		pad := byte(0)
		if strings.IndexByte("-_0^", format[i]) >= 0 && i+1 < len(format) {
			pad = format[i]
			i++
		}
		s, ok := timeField(format[i], t)
		if !ok {
			s = "%" + string(format[i])
		}
		b.WriteString(repad(s, pad))
	}
	return b.String()
}

// repad applies glibc's flags to a field.
func repad(s string, pad byte) string {
	switch pad {
	case '-', '_':
		trimmed := strings.TrimLeft(s, "0 ")
		if trimmed == "" && s != "" {
			trimmed = s[len(s)-1:]
		}
		if pad == '_' {
			return strings.Repeat(" ", len(s)-len(trimmed)) + trimmed
		}
		return trimmed
	case '^':
		return strings.ToUpper(s)
	}
	return s
}

// timeField prints one field of strftime.
func timeField(field byte, t time.Time) (string, bool) {
	layouts := map[byte]string{'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'd': "02", 'm': "01", 'H': "15",
		'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'P': "pm", 'y': "06", 'Y': "2006", 'D': "01/02/06", 'F': "2006-01-02", 'T': "15:04:05",
		'R': "15:04", 'r': "03:04:05 PM", 'X': "15:04:05", 'x': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006", 'e': "_2", 'z': "-0700", 'Z': "MST"}
	if layout, ok := layouts[field]; ok {
		return t.Format(layout), true
	}
	year, week := t.ISOWeek()
	switch field {
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay()), true
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 'u':
		return fmt.Sprint((int(t.Weekday())+6)%7 + 1), true
	case 'w':
		return fmt.Sprint(int(t.Weekday())), true
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7), true
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7), true
	case 'V':
		return fmt.Sprintf("%02d", week), true
	case 'G':
		return fmt.Sprint(year), true
	case 'g':
		return fmt.Sprintf("%02d", year%100), true
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), true
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), true
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1), true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case '%':
		return "%", true
	}
	return "", false
}

func filterToDatetime(c *Call) (any, error) {
	s, ok := c.Value.(string)
	if !ok {
		return nil, fmt.Errorf("strptime() argument 1 must be str, not %s", value.TypeName(c.Value))
	}
	t, err := strptime(s, value.Str(c.Args[0]))
	if err != nil {
		return nil, err
	}
	return t, nil
}

// strptime is datetime.strptime for the C locale.
func strptime(s, format string) (*dateTime, error) {
	pattern, err := strptimePattern(format)
	if err != nil {
		return nil, err
	}
	re, err := pyre.Compile(pattern, pyre.IgnoreCase)
	if err != nil {
		return nil, err
	}
	m, err := re.Match(s)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, fmt.Errorf("time data %s does not match format %s", value.Repr(s), value.Repr(format))
	}
	if rest := m.After(); rest != "" {
		return nil, fmt.Errorf("unconverted data remains: %s", rest)
	}
	return assembleTime(m)
}

func strptimePattern(format string) (string, error) {
	fields := map[byte]string{
		'd': `(?P<d>3[0-1]|[1-2]\d|0[1-9]|[1-9]| [1-9])`, 'f': `(?P<f>[0-9]{1,6})`, 'H': `(?P<H>2[0-3]|[0-1]\d|\d)`,
		'I': `(?P<I>1[0-2]|0[1-9]|[1-9])`, 'j': `(?P<j>36[0-6]|3[0-5]\d|[1-2]\d\d|0[1-9]\d|00[1-9]|[1-9]\d|0[1-9]|[1-9])`,
		'm': `(?P<m>1[0-2]|0[1-9]|[1-9])`, 'M': `(?P<M>[0-5]\d|\d)`, 'S': `(?P<S>6[0-1]|[0-5]\d|\d)`, 'y': `(?P<y>\d\d)`, 'Y': `(?P<Y>\d\d\d\d)`,
		'z': `(?P<z>[+-]\d\d:?[0-5]\d(:?[0-5]\d(\.\d{1,6})?)?|Z)`, 'p': `(?P<p>am|pm)`, '%': "%",
		'a': `(?P<a>mon|tue|wed|thu|fri|sat|sun)`, 'A': `(?P<A>monday|tuesday|wednesday|thursday|friday|saturday|sunday)`,
		'b': `(?P<b>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)`,
		'B': `(?P<B>january|february|march|april|may|june|july|august|september|october|november|december)`,
		'Z': `(?P<Z>utc|gmt)`,
	}
	compound := strings.NewReplacer("%c", "%a %b %d %H:%M:%S %Y", "%x", "%m/%d/%y", "%X", "%H:%M:%S", "%T", "%H:%M:%S", "%D", "%m/%d/%y", "%F", "%Y-%m-%d", "%%", "%%")
	format = compound.Replace(format)
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		c := format[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			for i+1 < len(format) && isPySpace(rune(format[i+1])) {
				i++
			}
			b.WriteString(`\s+`)
		case c != '%':
			b.WriteString(pyre.Escape(string(c)))
		case i+1 == len(format):
			return "", fmt.Errorf("stray %%%% in format %s", value.Repr(format))
		default:
			i++
			field, ok := fields[format[i]]
			if !ok {
				return "", fmt.Errorf("'%c' is a bad directive in format %s", format[i], value.Repr(format))
			}
			b.WriteString(field)
		}
	}
	return b.String(), nil
}

// assembleTime puts the matched fields together; missing ones are those of
// the first moment of 1900.
func assembleTime(m *pyre.Match) (*dateTime, error) {
	field := func(name string, fallback int) int {
		s, ok := m.Named(name)
		if !ok || s == "" {
			return fallback
		}
		n, _ := value.ParseInt(strings.TrimSpace(s), 10)
		i, _ := n.(int)
		return i
	}
	year, month, day := field("Y", 1900), field("m", 1), field("d", 1)
	if y := field("y", -1); y >= 0 {
		year = 1900 + y
		if y < 69 {
			year = 2000 + y
		}
	}
	for i, names := range []string{"jan feb mar apr may jun jul aug sep oct nov dec", "january february march april may june july august september october november december"} {
		s, _ := m.Named([]string{"b", "B"}[i])
		for n, name := range strings.Fields(names) {
			if strings.EqualFold(name, s) {
				month = n + 1
			}
		}
	}
	if j := field("j", 0); j > 0 {
		d := time.Date(year, 1, j, 0, 0, 0, 0, time.UTC)
		month, day = int(d.Month()), d.Day()
	}
	hour := field("H", 0)
	if h := field("I", -1); h >= 0 {
		hour = h % 12
		if p, _ := m.Named("p"); strings.EqualFold(p, "pm") {
			hour += 12
		}
	}
	fraction, _ := m.Named("f")
	micro, _ := value.ParseInt((fraction + "000000")[:6], 10)
	zone, err := zoneOf(m)
	if err != nil {
		return nil, err
	}
	t := time.Date(year, time.Month(month), day, hour, field("M", 0), field("S", 0), micro.(int)*1000, zone)
	if t.Day() != day || year < 1 {
		return nil, errors.New("day is out of range for month")
	}
	return &dateTime{t}, nil
}

func zoneOf(m *pyre.Match) (*time.Location, error) {
	z, ok := m.Named("z")
	switch {
	case !ok || z == "":
		return time.UTC, nil
	case z == "Z":
		return time.FixedZone("", 0), nil
	}
	digits := strings.ReplaceAll(z[1:], ":", "")
	n, _ := value.ParseInt(digits[:4], 10)
	seconds := n.(int)/100*3600 + n.(int)%100*60
	if z[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone("", seconds), nil
}
