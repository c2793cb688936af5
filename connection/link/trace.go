package link

import (
	"time"

	"play/modules/wire"
)

// trace tells of a frame or of a time, never of content.
func (l *Link) trace(format string, args ...any) { l.options.Trace.Say(4, l.host, format, args...) }

// frameNames are the kinds of frames by their names in docs/protocol.md; a reply
// is told of with its time.
var frameNames = map[wire.Kind]string{
	wire.KindHello: "hello", wire.KindData: "data", wire.KindOutput: "output", wire.KindPart: "part",
	wire.KindCredit: "credit", wire.KindPong: "pong", wire.KindBye: "bye",
}

// traceReceived tells of a frame from the agent.
func (l *Link) traceReceived(f *wire.Frame) {
	if name := frameNames[f.Kind]; name != "" && l.options.Trace != nil {
		l.trace("RECEIVED %s %d: %d bytes", name, f.ID, len(f.Payload))
	}
}

func since(begun time.Time) time.Duration {
	if begun.IsZero() {
		return 0 // a call that was cancelled
	}
	return time.Since(begun).Round(time.Microsecond)
}
