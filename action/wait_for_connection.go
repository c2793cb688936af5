package action

import (
	"context"
	"time"

	"play/engine/task"
	"play/modules/value"
)

// waitForConnection waits until a module can be run on the host.
func (d *Deps) waitForConnection(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	if err := onlyArgs(a, "connect_timeout", "delay", "sleep", "timeout"); err != nil {
		return nil, err
	}
	seconds := map[string]time.Duration{"connect_timeout": 5, "delay": 0, "sleep": 1, "timeout": 600}
	for name, def := range seconds {
		n, err := argInt(a, int(def), name)
		if err != nil {
			return nil, err
		}
		seconds[name] = time.Duration(n) * time.Second
	}
	if a.Check {
		return value.DictOf("changed", false, "skipped", true), nil
	}
	t, err := d.target(a)
	if err != nil {
		return nil, err
	}
	own := *t
	own.Timeout = seconds["connect_timeout"]
	start := d.Now()
	if err := sleep(ctx, seconds["delay"]); err != nil {
		return nil, err
	}
	ping := func(ctx context.Context) error {
		d.Links.Reset(&own)
		_, err := d.Links.Get(ctx, &own)
		return err
	}
	err = d.until(ctx, &own, seconds["timeout"], func(int) time.Duration { return max(seconds["sleep"], time.Second/10) }, ping)
	elapsed := int(d.Now().Sub(start) / time.Second)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &task.Fail{Result: value.DictOf("changed", false, "failed", true,
			"msg", "timed out waiting for ping module test: "+err.Error(), "elapsed", elapsed)}
	}
	return value.DictOf("changed", false, "elapsed", elapsed), nil
}
