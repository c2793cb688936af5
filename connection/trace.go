package connection

import (
	"context"
	"fmt"
)

// Trace receives what is done for a host, one line each, with the number of
// -v at which people see it: 3 for steps, 4 for frames. It never gets arguments,
// content or results. nil: nobody asks.
type Trace func(level int, host, line string)

// Say tells of one thing.
func (t Trace) Say(level int, host, format string, args ...any) {
	if t != nil {
		t(level, host, fmt.Sprintf(format, args...))
	}
}

// hiddenKey marks a context whose commands no trace may show.
type hiddenKey struct{}

// Hidden is a context for starting commands whose words hold secrets (no_log):
// traces show that they are started, and nothing of them.
func Hidden(ctx context.Context) context.Context { return context.WithValue(ctx, hiddenKey{}, true) }

// Shown is a command line as a trace may show it.
func Shown(ctx context.Context, line string) string {
	if ctx.Value(hiddenKey{}) != nil {
		return "(hidden by no_log)"
	}
	return line
}
