package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endWithin is how long a run may take to end once it was interrupted. Each step
// of the end has a limit of its own; this one is for what nobody thought of.
const endWithin = time.Minute

// interruption is why a run was stopped.
type interruption struct{ signal os.Signal }

// Error names the signal.
func (i *interruption) Error() string {
	switch i.signal {
	case os.Interrupt:
		return "interrupted by Ctrl-C (SIGINT)"
	case syscall.SIGHUP:
		return "interrupted by SIGHUP: its terminal was closed"
	}
	if s, ok := i.signal.(syscall.Signal); ok {
		return "interrupted by " + unix.SignalName(s)
	}
	return fmt.Sprintf("interrupted by a signal: %v", i.signal)
}

// Is tells that an interruption is a context's end.
func (i *interruption) Is(target error) bool { return target == context.Canceled }

// interruptible returns a context that ends at the first SIGINT, SIGTERM or
// SIGHUP, with an *interruption as its cause; a second one, or endWithin, calls
// leave, which ends play at once.
func interruptible(parent context.Context, leave func()) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go heedStops(signals, done, cancel, endWithin, leave)
	var once sync.Once
	// Signals stay caught: one that comes while the last lines are written must
	// not change the exit code.
	return ctx, func() { once.Do(func() { close(done); cancel(nil) }) }
}

// heedStops ends the run at the first signal, and leaves at the second one or
// when the run has not ended within the limit.
func heedStops(signals <-chan os.Signal, done <-chan struct{}, cancel context.CancelCauseFunc, within time.Duration, leave func()) {
	select {
	case s := <-signals:
		cancel(&interruption{s})
	case <-done:
		return
	}
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case <-signals:
		leave()
	case <-limit.C:
		leave()
	case <-done:
	}
}
