package modules

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"play/modules/perm"
)

// fileTime is a wanted time: kept, the present, or a given one.
type fileTime struct {
	keep bool
	now  bool
	at   time.Time
}

type fileTimes struct{ access, modification fileTime }

// touch makes sure that the file is there, and sets its times.
func (r *fileRun) touch() (*Result, error) {
	diff := pathDiff(r.path, r.prior, "touch")
	if r.prior == "absent" {
		if r.Check {
			return pathResult("dest", r.path, true, nil), nil
		}
		f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			return nil, r.refuse("Error, could not touch target: %s", osText(err, r.path))
		}
		if err := f.Close(); err != nil {
			return nil, r.refuse("Error, could not touch target: %s", osText(err, r.path))
		}
	}
	path := r.path
	if r.Follow && r.prior == "link" {
		r.follow()
	}
	changed, err := r.setAttributes(r.Call, r.path, diff)
	if err != nil {
		return nil, err
	}
	timed, err := r.setTimes(r.path, diff)
	if err != nil {
		return nil, err
	}
	before, _ := diff.Before.Get("state")
	return pathResult("dest", path, changed || timed || before == "absent", diff), nil
}

// parseTimes reads the time arguments; only touch changes times by itself.
func (r *fileRun) parseTimes(state string) (t fileTimes, err error) {
	if t.modification, err = parseFileTime(r.MTime, r.MTimeStyle, state); err != nil {
		return t, err
	}
	t.access, err = parseFileTime(r.ATime, r.ATimeStyle, state)
	return t, err
}

func parseFileTime(text *string, format, state string) (fileTime, error) {
	if text == nil {
		return fileTime{now: state == "touch", keep: state != "touch"}, nil
	}
	switch *text {
	case "preserve":
		return fileTime{keep: true}, nil
	case "now":
		return fileTime{now: true}, nil
	}
	at, err := strptime(*text, format)
	if err != nil {
		return fileTime{}, Failf("Error while obtaining timestamp for time %s using format %s: %v", *text, format, err)
	}
	return fileTime{at: at}, nil
}

// strptime reads a local time by Python's format letters.
func strptime(text, format string) (time.Time, error) {
	letters := strings.NewReplacer("%Y", "2006", "%m", "01", "%d", "02", "%H", "15", "%M", "04", "%S", "05",
		"%y", "06", "%b", "Jan", "%B", "January", "%a", "Mon", "%A", "Monday", "%I", "03", "%p", "PM", "%j", "002",
		"%z", "-0700", "%Z", "MST", "%%", "%", "%T", "15:04:05", "%F", "2006-01-02")
	if format == "%s" {
		n, err := strconv.ParseInt(text, 10, 64)
		return time.Unix(n, 0), err
	}
	at, err := time.ParseInLocation(letters.Replace(format), text, time.Local)
	if err != nil {
		return at, fmt.Errorf("time data '%s' does not match format '%s'", text, format)
	}
	return at, nil
}

// setTimes brings a file's times to the wanted ones.
func (r *fileRun) setTimes(path string, diff *perm.Diff) (bool, error) {
	access, modification := r.times.access, r.times.modification
	if access.keep && modification.keep {
		return false, nil
	}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return false, r.refuse("Error while updating the times of %s: %s", path, osText(err, path))
	}
	oldAccess, oldModification := time.Unix(st.Atim.Unix()), time.Unix(st.Mtim.Unix())
	now := time.Now()
	m := wantedTime(modification, oldModification, now)
	a := wantedTime(access, oldAccess, now)
	if m.Equal(oldModification) && a.Equal(oldAccess) {
		return false, nil
	}
	noteTime(diff, "mtime", oldModification, m)
	noteTime(diff, "atime", oldAccess, a)
	if r.Check {
		return true, nil
	}
	times := []unix.Timespec{unix.NsecToTimespec(a.UnixNano()), unix.NsecToTimespec(m.UnixNano())}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, path, times, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return false, r.refuse("Error while updating the times of %s: %s", path, osText(err, path))
	}
	return true, nil
}

func wantedTime(t fileTime, old, now time.Time) time.Time {
	switch {
	case t.keep:
		return old
	case t.now:
		return now
	}
	return t.at
}

func noteTime(diff *perm.Diff, key string, before, after time.Time) {
	if !before.Equal(after) {
		diff.Before.Set(key, seconds(before))
		diff.After.Set(key, seconds(after))
	}
}

// seconds is a time as Python's os.stat gives it.
func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
