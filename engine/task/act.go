package task

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"play/engine/event"
	"play/modules/value"
)

// act runs the action once, within the task's timeout.
func (r *run) act(a *Attempt, act *Action) *end {
	ctx := r.ctx
	if a.Settings.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.Settings.Timeout)
		defer cancel()
	}
	result, err := act.Run(ctx, a)
	timedOut := a.Settings.Timeout > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded)
	if timedOut {
		err = Failf("The %s action failed to execute in the expected time frame (%g) and was terminated",
			r.task.Written, a.Settings.Timeout.Seconds())
	}
	var e *end
	if err != nil {
		e = r.failure(err)
		if timedOut && r.task.Loop != nil {
			e.result.Delete("changed") // as the reference tells of an item
		}
	} else {
		e = r.read(result)
	}
	if a.Target != a.Host {
		e.delegated, e.address = a.Target, a.address()
	}
	return e
}

// read sees from a result whether the attempt failed and changed anything.
func (r *run) read(result *value.Dict) *end {
	e := &end{result: result, pos: r.task.Pos}
	if v, ok := result.Get("skipped"); ok && value.Truth(v) {
		e.status = event.Skipped
	}
	failed, has := result.Get("failed")
	if !has {
		rc, ok := result.Get("rc")
		failed = ok && rc != 0 && rc != "0" && rc != nil
		result.Set("failed", failed)
	}
	if value.Truth(failed) {
		e.status = event.Failed
	}
	changed, ok := result.Get("changed")
	if !ok {
		result.Set("changed", false)
	}
	e.changed = ok && value.Truth(changed)
	if e.status == event.Skipped {
		result.Delete("failed")
	}
	addLines(result, "stdout")
	addLines(result, "stderr")
	return e
}

// addLines puts stdout_lines beside stdout.
func addLines(result *value.Dict, key string) {
	v, _ := result.Get(key)
	s, ok := v.(string)
	if !ok || hasKey(result, key+"_lines") {
		return
	}
	result.Set(key+"_lines", value.NewList(splitLines(s)...))
}

// splitLines cuts text at line ends as Python's str.splitlines does.
func splitLines(s string) []any {
	lines := []any{}
	start := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !isLineEnd(r) {
			i += n
			continue
		}
		lines = append(lines, s[start:i])
		if r == '\r' && strings.HasPrefix(s[i+n:], "\n") {
			n++
		}
		i += n
		start = i
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}

func isLineEnd(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
}
