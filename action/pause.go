package action

import (
	"context"
	"fmt"
	"math"
	"time"

	"play/engine/task"
	"play/modules/value"
)

// pause waits for a time, or for the person at the terminal.
func (d *Deps) pause(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	if err := onlyArgs(a, "echo", "minutes", "prompt", "seconds"); err != nil {
		return nil, err
	}
	echo, err := argBool(a, "echo", true)
	if err != nil {
		return nil, err
	}
	length, timed, err := pauseLength(a)
	if err != nil {
		return nil, err
	}
	prompt := argString(a, "prompt")
	start := d.Now()
	input := ""
	if timed {
		if err := d.pauseFor(ctx, a, prompt, length); err != nil {
			return nil, err
		}
	} else if input, err = d.pauseAsk(ctx, a, prompt, echo); err != nil {
		return nil, err
	}
	return pauseResult(a, start, d.Now(), timed, echo, input), nil
}

// pauseLength reads minutes or seconds.
func pauseLength(a *task.Attempt) (time.Duration, bool, error) {
	for name, unit := range map[string]time.Duration{"minutes": time.Minute, "seconds": time.Second} {
		v, ok := a.Args.Get(name)
		if !ok || v == nil {
			continue
		}
		n, ok := number(v)
		if !ok {
			return 0, false, task.Failf("non-integer value given for prompt duration:\n%s", value.Str(v))
		}
		return max(time.Duration(math.Trunc(n)*float64(unit)), time.Second), true, nil
	}
	return 0, false, nil
}

func (d *Deps) pauseFor(ctx context.Context, a *task.Attempt, prompt string, length time.Duration) error {
	a.Executor.Sink.Say(fmt.Sprintf("Pausing for %d seconds", int(length.Seconds())))
	if prompt != "" {
		a.Executor.Sink.Say(fmt.Sprintf("[%s]\n%s:", a.Event.Name, prompt))
	}
	return sleep(ctx, length)
}

// pauseAsk waits for a line. Without a terminal there is nobody to wait for.
func (d *Deps) pauseAsk(ctx context.Context, a *task.Attempt, prompt string, echo bool) (string, error) {
	if d.Terminal == nil || !d.Terminal.Interactive() {
		a.Executor.Sink.Warning("Not waiting for response to prompt as stdin is not interactive", a.Task.Pos)
		return "", nil
	}
	if prompt == "" {
		prompt = "Press enter to continue, Ctrl+C to interrupt"
	}
	return d.Terminal.Ask(ctx, fmt.Sprintf("[%s]\n%s:", a.Event.Name, prompt), echo)
}

func pauseResult(a *task.Attempt, start, stop time.Time, timed, echo bool, input string) *value.Dict {
	const stamp = "2006-01-02 15:04:05.000000"
	took := stop.Sub(start)
	unit, n := "seconds", math.Round(took.Seconds()*100)/100
	if _, ok := a.Args.Get("minutes"); ok || !timed {
		unit, n = "minutes", math.Round(took.Minutes()*100)/100
	}
	return value.DictOf("changed", false, "rc", 0, "stderr", "", "stdout", fmt.Sprintf("Paused for %s %s", value.FloatRepr(n), unit),
		"start", start.Format(stamp), "stop", stop.Format(stamp), "delta", int(took.Seconds()), "echo", echo, "user_input", input)
}
