package yamlload

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var timestampForm = regexp.MustCompile(
	`^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?(?:[ \t]*(Z|([-+])(\d\d?)(?::(\d\d))?))?$`)

// timestamp returns the text that a scalar shows in a playbook: a date stays as
// it was written, and a date with a time reads as Python prints it
// ("2001-12-14 21:59:43.100000-05:00"). Any other text is returned as it is.
func timestamp(s string) string {
	if len(s) < 14 || s[4] != '-' {
		return s
	}
	m := timestampForm.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	year, month, day := atoi(m[1]), atoi(m[2]), atoi(m[3])
	hour, minute, second := atoi(m[4]), atoi(m[5]), atoi(m[6])
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if t.Month() != time.Month(month) || t.Day() != day || t.Hour() != hour || t.Minute() != minute || t.Second() != second {
		return s // no such day or time
	}
	return t.Format("2006-01-02 15:04:05") + micros(m[7]) + zone(m[8:])
}

// micros is a fraction of a second cut or filled up to six digits.
func micros(fraction string) string {
	fraction = (fraction + "000000")[:6]
	if strings.Trim(fraction, "0") == "" {
		return ""
	}
	return "." + fraction
}

// zone formats the groups (all, sign, hours, minutes) of a time zone.
func zone(m []string) string {
	switch {
	case m[0] == "":
		return ""
	case m[0] == "Z":
		return "+00:00"
	}
	return fmt.Sprintf("%s%02d:%02d", m[1], atoi(m[2]), atoi(m[3]))
}

// atoi reads a few digits; none are 0.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
