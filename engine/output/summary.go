package output

import (
	"fmt"
	"strconv"
	"strings"

	"play/engine/event"
	"play/engine/source"
	"play/modules/value"
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
	more  []string // what the first host said besides
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
			same.more = failureMore(r)
		}
		f.index[key] = same
		f.list = append(f.list, same)
	}
	same.hosts = append(same.hosts, printable(r.Host))
}

// failureText is the one line that tells most: the message's first, or the last
// of a traceback, the exit status of a command and the last line of its error
// output.
func failureText(r *event.Result) string {
	if r.Task.NoLog {
		return "(hidden by no_log)"
	}
	res := culprit(r)
	msg := headLine(textOf(res, "msg"))
	if rc := intOf(res, "rc"); rc != 0 && isCommand(r.Task) {
		msg += fmt.Sprintf(" (rc %d)", rc)
	}
	if item := textOf(res, "item"); item != "" && r.Loop {
		msg = "item " + strconv.Quote(item) + ": " + msg
	}
	if err := lastLine(textOf(res, "stderr")); err != "" && err != msg {
		msg += ": " + err
	}
	return visible(msg)
}

// culprit is the result that says what went wrong: that of a loop's first item
// that failed, else the task's own.
func culprit(r *event.Result) *value.Dict {
	if r.Loop {
		for _, item := range listOf(r.Result, "results") {
			if d, ok := item.(*value.Dict); ok {
				if v, _ := d.Get("failed"); v == true {
					return d
				}
			}
		}
	}
	return r.Result
}

// headLine is the line of a message that names the matter.
func headLine(msg string) string {
	if msg = strings.TrimSpace(msg); strings.HasPrefix(msg, "Traceback ") {
		return lastLine(msg)
	}
	first, _, _ := strings.Cut(msg, "\n")
	return first
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}

// maxMore is how many lines of a text are shown beside the one in the headline.
const maxMore = 10

// failureMore are the other lines of the message, and the end of what a command
// printed.
func failureMore(r *event.Result) []string {
	var lines []string
	res := culprit(r)
	if _, rest, found := strings.Cut(strings.TrimSpace(textOf(res, "msg")), "\n"); found {
		lines = append(lines, tail(rest)...)
	}
	for _, name := range []string{"stderr", "stdout"} {
		text := strings.TrimSpace(textOf(res, name))
		if text == "" || name == "stderr" && !strings.Contains(text, "\n") {
			continue // the headline has it
		}
		lines = append(append(lines, name+":"), tail(text)...)
	}
	return lines
}

// tail is the end of a text as lines that steer nothing.
func tail(text string) []string {
	lines := strings.Split(visible(text), "\n")
	if n := len(lines) - maxMore; n > 0 {
		lines = append([]string{fmt.Sprintf("… %d lines before", n)}, lines[n:]...)
	}
	for i := range lines {
		lines[i] = "  " + strings.TrimRight(lines[i], "\r")
	}
	return lines
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
		s.lineTo(s.Err, strings.Join(append([]string{format.Format(one.err())}, one.more...), "\n"), "")
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
