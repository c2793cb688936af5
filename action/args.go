package action

import (
	"errors"
	"sort"
	"strconv"
	"strings"

	"play/engine/jinja"
	"play/engine/task"
	"play/modules/value"
)

// onlyArgs refuses arguments that the action does not know, in the words that
// modules use.
func onlyArgs(a *task.Attempt, known ...string) error {
	var bad []string
	for k := range a.Args.All() {
		name := value.Str(k)
		found := false
		for _, n := range known {
			found = found || n == name
		}
		if !found {
			bad = append(bad, name)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	sort.Strings(bad)
	return task.Failf("Invalid options for %s: %s", a.Task.Written, strings.Join(bad, ","))
}

// number reads a number that may be written as text.
func number(v any) (float64, bool) {
	if s, ok := v.(string); ok {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		return f, err == nil
	}
	return value.AsFloat(v)
}

// argBool reads a boolean argument, or def when it is not given.
func argBool(a *task.Attempt, name string, def bool) (bool, error) {
	v, ok := a.Args.Get(name)
	if !ok || v == nil {
		return def, nil
	}
	b, ok := task.ToBool(v)
	if !ok {
		return def, task.Failf("The value '%s' is not a valid boolean for '%s'.", value.Str(v), name)
	}
	return b, nil
}

// argString reads a text argument under any of its names.
func argString(a *task.Attempt, names ...string) string {
	for _, n := range names {
		if v, ok := a.Args.Get(n); ok && v != nil {
			return value.Str(v)
		}
	}
	return ""
}

// isUndefined reports whether an evaluation met a name that is not known.
func isUndefined(v any, err error) bool {
	if _, ok := v.(*jinja.Undefined); ok {
		return true
	}
	var u *jinja.UndefinedError
	return errors.As(err, &u)
}
