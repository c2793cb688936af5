package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"play/modules/job"
	"play/modules/value"
	"play/modules/wire"
)

// wrapper is the detached process of one asynchronous call: it takes the call
// from standard input, reports on standard output that the job has begun, closes
// both, runs the module, and writes the result to the status file.
func wrapper(config Config) error {
	ctx, killed := context.WithCancelCause(context.Background())
	defer killed(nil)
	handleSignals(killed)
	adoptOrphans()
	tmpDir := privateDir(config.TmpParents)
	if tmpDir != "" {
		defer os.RemoveAll(tmpDir)
	}
	request, body, err := receiveJob(bufio.NewReader(os.Stdin), tmpDir)
	var file *job.File
	if err == nil {
		file, err = job.At(request.Async.Dir, request.Async.JID)
	}
	if err == nil {
		err = file.Start(job.Job{Module: shortName(request.Module), NoLog: request.NoLog})
	}
	if err != nil {
		fmt.Println(err)
		return err
	}
	fmt.Println(wrapperReady)
	closeStreams()
	job.Sweep(request.Async.Dir, time.Now())
	var s streams
	if body != nil {
		s.body = body
	}
	return file.Finish(runLimited(ctx, newRunner(&config, tmpDir), request, s))
}

// errKilled ends a job that somebody asked to end.
var errKilled = errors.New("the async job was killed")

// runLimited runs the module and ends everything it started when the limit is
// over, or when ctx ends; the result then has "async_timeout" or "killed".
func runLimited(ctx context.Context, r *runner, request *wire.Call, s streams) *value.Dict {
	limit := request.Async.Limit
	cancel := func() {}
	if limit > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(limit)*time.Second,
			fmt.Errorf("async task did not complete within the requested time - %ds", limit))
	}
	defer cancel()
	request.Async = nil
	out := r.result(ctx, request, s)
	switch {
	case ctx.Err() == nil:
		return out
	case context.Cause(ctx) == errKilled:
		out.Set("killed", true)
	default:
		out.Set("async_timeout", true)
	}
	endDescendants()
	return out
}

// handleSignals makes the wrapper deaf to the end of the login session, lets
// SIGTERM end the job, and gives the processes it starts the default
// dispositions.
func handleSignals(killed context.CancelCauseFunc) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGINT, syscall.SIGTERM, syscall.SIGXFSZ, syscall.SIGTSTP)
	go func() {
		for sig := range signals {
			if sig == syscall.SIGTERM {
				killed(errKilled)
			}
		}
	}()
}

// closeStreams puts /dev/null in the place of the standard streams, so that
// nobody waits for this process to close them.
func closeStreams() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		os.Stdin.Close()
		os.Stdout.Close()
		os.Stderr.Close()
		return
	}
	for fd := range 3 {
		_ = duplicate(int(null.Fd()), fd) // an open descriptor over another one
	}
}
