package output

import (
	"strings"

	"play/modules/value"
)

// warning shows a warning on Err, once.
func (s *screen) warning(msg string) {
	s.once(wrap("[WARNING]: "+printable(msg), s.Width, true), s.Colors.Warn)
}

// deprecation is what a deprecation notice says.
type deprecation struct {
	msg        string
	version    string // the version, or the date, that removes the feature; may be ""
	date       bool
	collection string // whose feature it is; "" says nothing of it
}

// deprecated shows a deprecation notice on Err, once.
func (s *screen) deprecated(d deprecation) {
	if s.HideDeprecations {
		return
	}
	s.once(wrap(d.text(), s.Width, false), s.Colors.Deprecate)
}

// text words the notice as Ansible does.
func (d deprecation) text() string {
	text := "[DEPRECATION WARNING]: " + strings.TrimSuffix(printable(d.msg), ".") + "."
	text += " This feature will be removed"
	switch d.collection {
	case "":
	case "ansible.builtin":
		text += " from ansible-core"
	default:
		text += " from " + d.collection
	}
	switch {
	case d.version == "":
		text += " in a future release."
	case d.date:
		text += " in a release after " + d.version + "."
	default:
		text += " in version " + d.version + "."
	}
	return text + " Deprecation warnings can be disabled by setting deprecation_warnings=False in ansible.cfg."
}

// once shows lines on Err unless they were shown before.
func (s *screen) once(lines []string, color string) {
	text := strings.Join(lines, "\n")
	if s.say[text] {
		return
	}
	s.say[text] = true
	s.lineTo(s.Err, text, color)
}

// resultWarnings shows a result's warnings and deprecations and takes them out
// of it.
func (s *screen) resultWarnings(res *value.Dict) {
	if s.KeepWarnings {
		return
	}
	for _, w := range listOf(res, "warnings") {
		if text, ok := w.(string); ok {
			s.warning(text)
		}
	}
	for _, w := range listOf(res, "deprecations") {
		if d, ok := w.(*value.Dict); ok {
			s.deprecated(deprecationOf(d))
		}
	}
	res.Delete("warnings")
	res.Delete("deprecations")
}

func deprecationOf(d *value.Dict) deprecation {
	date := textOf(d, "date")
	if date != "" {
		return deprecation{msg: textOf(d, "msg"), version: date, date: true, collection: textOf(d, "collection_name")}
	}
	return deprecation{msg: textOf(d, "msg"), version: textOf(d, "version"), collection: textOf(d, "collection_name")}
}

func listOf(d *value.Dict, key string) []any {
	v, _ := d.Get(key)
	if l, ok := v.(*value.List); ok {
		return l.Items
	}
	return nil
}

func textOf(d *value.Dict, key string) string {
	v, _ := d.Get(key)
	s, _ := v.(string)
	return s
}

// verbose shows a word about the run with at least level times -v.
func (s *screen) verbose(level int, host, msg string) {
	if s.Verbosity < level {
		return
	}
	if host != "" {
		msg = "<" + host + "> " + msg
	}
	to := s.Out
	if s.VerboseToErr {
		to = s.Err
	}
	s.lineTo(to, printable(msg), s.Colors.Verbose)
}
