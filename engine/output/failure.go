package output

import (
	"strings"

	"play/modules/value"
)

// failLine shows a failure where the options want failures.
func (s *screen) failLine(text, color string) {
	if s.FailedToErr {
		s.lineTo(s.Err, text, color)
		return
	}
	s.line(text, color)
}

// exception tells of the exception in a result, in full with -vvv.
func (s *screen) exception(res *value.Dict) {
	text := visible(textOf(res, "exception"))
	if text == "" {
		return
	}
	if s.Verbosity > 2 {
		s.failLine("The full traceback is:\n"+text, s.Colors.Error)
		return
	}
	text = strings.TrimSpace(text)
	s.failLine("An exception occurred during task execution. To see the full traceback, use -vvv. The error was: "+
		text[strings.LastIndex(text, "\n")+1:], s.Colors.Error)
}
