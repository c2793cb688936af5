package output

import (
	"strconv"
	"strings"

	"play/engine/event"
	"play/engine/source"
)

// maxHostsNamed is how many hosts of one failure the summary names.
const maxHostsNamed = 10

// failures gathers the failures that counted, in the order in which they came;
// hosts that failed alike are one entry.
type failures struct {
	list  []*failure
	index map[failureKey]*failure
}

type failureKey struct {
	task, msg string
	pos       source.Pos
}

type failure struct {
	task  string
	pos   source.Pos
	msg   string
	hint  string
	hosts []string
	// hidden tells of a no_log task: its lines are not quoted.
	hidden bool
}

// add notes a failed or unreachable host; items, ignored and retried failures
// are not the end of a host and are left out.
func (f *failures) add(r *event.Result) {
	if r.Status != event.Failed && r.Status != event.Unreachable || r.Ignored || r.Retrying || r.IsItem {
		return
	}
	pos := r.Pos
	if pos.IsZero() {
		pos = r.Task.Pos
	}
	key := failureKey{task: r.Task.ID, msg: failureText(r), pos: pos}
	if f.index == nil {
		f.index = map[failureKey]*failure{}
	}
	same := f.index[key]
	if same == nil {
		same = &failure{task: printable(r.Task.Name), pos: pos, msg: key.msg, hidden: r.Task.NoLog}
		if !r.Task.NoLog {
			same.hint = printable(r.Hint)
		}
		f.index[key] = same
		f.list = append(f.list, same)
	}
	same.hosts = append(same.hosts, printable(r.Host))
}

// failureText is the one line that tells most: the message and the last line
// of the error output.
func failureText(r *event.Result) string {
	if r.Task.NoLog {
		return "(hidden by no_log)"
	}
	msg := lastLine(textOf(r.Result, "msg"))
	if err := lastLine(textOf(r.Result, "stderr")); err != "" && err != msg {
		msg += ": " + err
	}
	return visible(msg)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}

// show lists the failures on Err, each with the lines of the operator's file
// where it lies; those of a no_log task are not quoted.
func (f *failures) show(s *screen) {
	quote := &source.Formatter{}
	if s.Color {
		colors := map[string]string{"error": s.Colors.Error, "caret": s.Colors.Error, "hint": s.Colors.Warn, "place": "normal"}
		quote.Colour = func(part, text string) string { return paint(text, colors[part]) }
	}
	blind := &source.Formatter{Colour: quote.Colour, Hide: func(string) bool { return true }}
	for _, one := range f.list {
		format := quote
		if one.hidden {
			format = blind
		}
		s.lineTo(s.Err, format.Format(one.err()), "")
	}
}

func (f *failure) err() error {
	return &source.Error{Pos: f.pos, Msg: "cannot finish \"" + f.task + "\" on " + nameHosts(f.hosts) + ": " + f.msg, Hint: f.hint}
}

func nameHosts(hosts []string) string {
	if n := len(hosts) - maxHostsNamed; n > 0 {
		return strings.Join(hosts[:maxHostsNamed], ", ") + " and " + strconv.Itoa(n) + " more"
	}
	return strings.Join(hosts, ", ")
}
