package output

import (
	"path/filepath"
	"sort"
	"strings"
	"time"

	"play/engine/event"
)

// Callbacks are the settings of the callbacks that run beside an output.
type Callbacks struct {
	TreeDir          string // where tree writes a file for each host
	TaskLimit        int    // how many tasks profile_tasks lists; 0 means 20, negative all
	TaskOrder        string // "descending" (also for ""), "ascending" or "none"
	JUnit            JUnitOptions
	Local            *time.Location
	ReportWriteError func(error) // told when a file cannot be written; nil ignores it
}

// Callback returns the callback of the given name, which may stand in
// callbacks_enabled, and whether there is one. It is told every event after the
// output, and writes to o's Out like the output does.
func Callback(name string, o Options, c Callbacks) (event.Sink, bool) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if c.Local == nil {
		c.Local = time.Local
	}
	switch shortName(name) {
	case "timer":
		return &timer{quiet: newQuiet(o), start: o.Now()}, true
	case "profile_tasks":
		return &profile{quiet: newQuiet(o), c: c, clock: newClock(o.Now())}, true
	case "profile_roles":
		return &profile{quiet: newQuiet(o), c: c, clock: newClock(o.Now()), roles: true}, true
	case "tree":
		return &tree{quiet: newQuiet(o), c: c}, true
	case "junit":
		return &junit{quiet: newQuiet(o), c: c, tasks: map[string]*junitTask{}}, true
	}
	return nil, false
}

// quiet is the part that callbacks share: a screen that shows nothing by itself.
type quiet struct {
	event.Nop
	screen
}

func newQuiet(o Options) quiet { return quiet{screen: newScreen(o)} }

// failedToWrite tells of a file that could not be written.
func (c *Callbacks) failedToWrite(err error) {
	if err != nil && c.ReportWriteError != nil {
		c.ReportWriteError(err)
	}
}

// shortName is a callback's name without a collection that has it.
func shortName(name string) string {
	for _, collection := range []string{"ansible.builtin.", "ansible.legacy.", "ansible.posix."} {
		if rest, ok := strings.CutPrefix(name, collection); ok {
			return rest
		}
	}
	return name
}

// CallbackNames are the names that Callback knows, sorted.
func CallbackNames() []string {
	names := []string{"junit", "profile_roles", "profile_tasks", "timer", "tree"}
	sort.Strings(names)
	return names
}

// stem is a file's name without its folder and its end.
func stem(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
