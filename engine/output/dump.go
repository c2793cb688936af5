package output

import (
	"strings"

	"play/engine/event"
	"play/modules/value"
)

// censored is what a result of a no_log task says instead of what it holds.
const censored = "the output has been hidden due to the fact that 'no_log: true' was specified for this result"

// censoredItem stands for the label of a no_log task's item.
const censoredItem = "None"

// shown returns a copy of what a result holds that may be shown at all: without
// internal keys and, for a no_log task, without anything but that it is hidden.
func shown(r *event.Result) *value.Dict {
	out := visibleKeys(r)
	if isDebug(r.Task) {
		onlyMessage(out)
	}
	return out
}

func visibleKeys(r *event.Result) *value.Dict {
	if r.Task.NoLog {
		return censor(r.Result)
	}
	out := value.NewDict()
	for k, v := range r.Result.All() {
		if name, ok := k.(string); ok && (name == "failed" || name == "skipped" || strings.HasPrefix(name, "_ansible_")) {
			continue
		}
		if items, ok := v.(*value.List); ok && k == "results" {
			v = withoutHints(items)
		}
		_ = out.SetKey(k, v) // it was a key before
	}
	return out
}

// withoutHints takes internal keys out of a loop's results.
func withoutHints(items *value.List) *value.List {
	out := value.NewList()
	for _, item := range items.Items {
		if d, ok := item.(*value.Dict); ok {
			item = withoutInternal(d)
		}
		out.Append(item)
	}
	return out
}

// withoutInternal is d, or a copy without internal keys when it has some.
func withoutInternal(d *value.Dict) *value.Dict {
	out := d
	for _, k := range d.Keys() {
		if name, ok := k.(string); ok && strings.HasPrefix(name, "_ansible_") {
			if out == d {
				out = d.Clone()
			}
			out.Delete(k)
		}
	}
	return out
}

// censor keeps of a hidden result only how often it was tried and whether it
// changed something.
func censor(res *value.Dict) *value.Dict {
	out := value.DictOf("censored", censored)
	for _, key := range []string{"attempts", "changed", "retries"} {
		switch v, _ := res.Get(key); v := v.(type) {
		case bool, int:
			out.Set(key, v)
		}
	}
	return out
}

func isDebug(t *event.Task) bool { return bareAction(t) == "debug" }

// bareAction is the task's action without the built-in collections' names.
func bareAction(t *event.Task) string {
	name := strings.TrimPrefix(t.Action, "ansible.builtin.")
	return strings.TrimPrefix(name, "ansible.legacy.")
}

// onlyMessage leaves of a debug result the message, or the variable it shows.
func onlyMessage(res *value.Dict) {
	_, hasMsg := res.Get("msg")
	for _, k := range res.Keys() {
		name, ok := k.(string)
		switch name {
		case "msg", "exception", "warnings", "deprecations":
		case "changed", "invocation", "skip_reason":
			res.Delete(k)
		default:
			if hasMsg && !(ok && strings.HasPrefix(name, "_")) {
				res.Delete(k)
			}
		}
	}
}

// hint tells whether an action's display hint is set in a result.
func hint(r *event.Result, name string) bool {
	v, _ := r.Result.Get(name)
	set, _ := v.(bool)
	return set
}

func verboseAlways(r *event.Result) bool {
	return !r.Task.NoLog && hint(r, "_ansible_verbose_always")
}

// wantsResult reports whether the result itself is shown beside the host: with
// more than level times -v, or because the action says so.
func (s *screen) wantsResult(r *event.Result, level int) bool {
	return (s.Verbosity > level || verboseAlways(r)) && !hint(r, "_ansible_verbose_override")
}

// dump prints what shown gave: as JSON in one line, or indented with -vvv and
// for actions that are made to be read, or as YAML; Pretty overrides that.
func (s *screen) dump(r *event.Result, res *value.Dict) string {
	s.trim(res)
	if s.Apart {
		return s.dumpApart(res)
	}
	switch pretty := s.Verbosity > 2 || verboseAlways(r); {
	case s.ResultFormat == "yaml" && s.Brief:
		return briefYAML(res)
	case s.ResultFormat == "yaml":
		return toYAML(res, 4)
	case s.Pretty == nil && pretty, s.Pretty != nil && *s.Pretty:
		return toJSON(res, 4)
	}
	return toJSON(res, 0)
}

// dumpApart prints a result indented, whatever the format of results, and below it what it printed and says.
func (s *screen) dumpApart(res *value.Dict) string {
	var below strings.Builder
	for _, key := range []string{"stdout", "stderr", "msg", "module_stdout", "module_stderr"} {
		if v, _ := res.Get(key); value.Truth(v) {
			below.WriteString("\n\n" + strings.ToUpper(key) + ":\n\n" + visible(value.Str(v)) + "\n")
		}
		res.Delete(key)
		res.Delete(key + "_lines")
	}
	return toJSON(res, 4) + below.String()
}

// trim takes out what only -vvv shows, and the exception, which has its own
// lines.
func (s *screen) trim(res *value.Dict) {
	if s.Verbosity < 3 {
		res.Delete("invocation")
		res.Delete("diff")
	}
	res.Delete("exception")
}

// toJSON prints v with sorted keys, or in its own order where keys cannot be
// compared, and indented when indent is over 0.
func toJSON(v any, indent int) string {
	return sortedJSON(v, value.JSONOptions{Multiline: indent > 0, Indent: strings.Repeat(" ", indent)})
}

// linesJSON prints v with every item on a line of its own.
func linesJSON(v any, indent string) string {
	return sortedJSON(v, value.JSONOptions{Multiline: true, Indent: indent})
}

func sortedJSON(v any, o value.JSONOptions) string {
	o.SortKeys = true
	text, err := value.EncodeJSON(v, o)
	if err != nil {
		o.SortKeys = false
		text, err = value.EncodeJSON(v, o)
	}
	if err != nil {
		// Text always encodes.
		text, _ = value.EncodeJSON(value.DictOf("msg", "cannot print the result: "+err.Error()), value.JSONOptions{})
	}
	return escapeC1(text)
}

// escapeC1 escapes the control characters that JSON leaves alone.
func escapeC1(text string) string {
	if strings.IndexFunc(text, steers) < 0 {
		return text
	}
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, r := range text {
		if !steers(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(`\u00`)
		b.WriteByte(digits[r>>4&15])
		b.WriteByte(digits[r&15])
	}
	return b.String()
}
