package facts

import (
	"fmt"
	"strconv"
	"time"

	"play/modules/value"
)

// dateTime is the time in many spellings.
func dateTime(h *Host) *value.Dict {
	now := time.Now()
	if h.Now != nil {
		now = h.Now()
	}
	utc := now.UTC()
	tz, _ := now.Zone()
	epoch := strconv.FormatInt(now.Unix(), 10)
	d := value.DictOf(
		"year", now.Format("2006"), "month", now.Format("01"), "weekday", now.Format("Monday"),
		"weekday_number", strconv.Itoa(int(now.Weekday())), "weeknumber", weekNumber(now),
		"day", now.Format("02"), "hour", now.Format("15"), "minute", now.Format("04"), "second", now.Format("05"),
		"epoch", epoch, "epoch_int", epoch, "date", now.Format("2006-01-02"), "time", now.Format("15:04:05"),
		"iso8601_micro", utc.Format("2006-01-02T15:04:05.000000Z"), "iso8601", utc.Format("2006-01-02T15:04:05Z"),
		"iso8601_basic", now.Format("20060102T150405")+fmt.Sprintf("%06d", now.Nanosecond()/1000),
		"iso8601_basic_short", now.Format("20060102T150405"),
		"tz", tz, "tz_dst", summerZone(now), "tz_offset", now.Format("-0700"))
	return value.DictOf("date_time", d)
}

// weekNumber counts weeks from the first Monday, as strftime's %W.
func weekNumber(t time.Time) string {
	monday := (int(t.Weekday()) + 6) % 7
	return fmt.Sprintf("%02d", (t.YearDay()-1+7-monday)/7)
}

// summerZone is the zone's name in summer time, or its only name.
func summerZone(now time.Time) string {
	for month := time.January; month <= time.December; month++ {
		t := time.Date(now.Year(), month, 15, 12, 0, 0, 0, now.Location())
		if t.IsDST() {
			name, _ := t.Zone()
			return name
		}
	}
	name, _ := now.Zone()
	return name
}
