package output

import (
	"play/engine/event"
	"play/engine/source"
)

// words is the part that the outputs for people share: a screen that shows
// warnings and words about the run.
type words struct {
	event.Nop
	screen
}

func newWords(o Options) words { return words{screen: newScreen(o)} }

// Warning shows a warning, once.
func (w *words) Warning(msg string, _ source.Pos) {
	defer w.flush()
	w.warning(msg)
}

// Deprecated shows a deprecation notice, once.
func (w *words) Deprecated(msg, version string, _ source.Pos) {
	defer w.flush()
	w.deprecated(deprecation{msg: msg, version: version})
}

// Verbose shows a word about the run to those who asked for it.
func (w *words) Verbose(level int, host, msg string) {
	defer w.flush()
	w.verbose(level, host, msg)
}

// Say shows a line of an action as it is.
func (w *words) Say(msg string) {
	defer w.flush()
	w.line(visible(msg), "")
}
