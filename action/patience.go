package action

import (
	"context"
	"math/rand/v2"
	"time"

	"play/connection"
)

// until tries something on a host until it succeeds or the time is over, and
// returns the last try's error. A host that was lost is connected anew for the
// next try, and one try takes no longer than a few connection time-outs: a
// connection to a host that went away may say nothing for hours.
func (d *Deps) until(ctx context.Context, t *connection.Target, limit time.Duration, pause func(try int) time.Duration, what func(context.Context) error) error {
	end := d.Now().Add(limit)
	for try := 0; ; try++ {
		one, cancel := context.WithTimeout(ctx, 3*t.ConnectTimeout())
		err := what(one)
		if isUnreachable(err) || one.Err() != nil {
			d.Links.Reset(t)
		}
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if sleepErr := sleep(ctx, pause(try)); sleepErr != nil {
			return sleepErr
		}
		if !d.Now().Before(end) {
			return err
		}
	}
}

// backoff doubles from a second to twelve, with a part of chance, so that a
// rebooted fleet does not come in step.
func backoff(try int) time.Duration {
	const longest = 12
	seconds := longest
	if try < 4 { // 2⁴ is more
		seconds = 1 << try
	}
	return time.Duration(seconds)*time.Second + rand.N(time.Second)
}
