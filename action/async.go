package action

import (
	"context"
	"io"
	"time"

	"play/engine/event"
	"play/engine/task"
	"play/modules/value"
	"play/modules/wire"
)

// async starts a module detached on the host. With poll 0 the job id is the
// result; otherwise the job is asked after every poll seconds until it is done
// or the time is up.
func (d *Deps) async(ctx context.Context, a *task.Attempt, name string, args *value.Dict, body io.Reader) (*value.Dict, error) {
	c, err := d.request(a, name, args)
	if err != nil {
		return nil, err
	}
	jid := d.JobID()
	c.Async = &wire.Async{JID: jid, Limit: a.Settings.Async, Dir: d.asyncDir(a)}
	result, err := d.send(ctx, a, c, body)
	if err != nil {
		return nil, err
	}
	if failed, _ := result.Get("failed"); value.Truth(failed) {
		return result, nil
	}
	if a.Settings.Poll <= 0 {
		result.Set("changed", true)
		return result, nil
	}
	return d.poll(ctx, a, jid)
}

// asyncDir is the folder of status files, "" for the default one.
func (d *Deps) asyncDir(a *task.Attempt) string {
	return (&reach{a: a, on: a.On}).str(d.Defaults.AsyncDir, "ansible_async_dir")
}

// poll asks after a job until it has finished, or as often as fits into its
// time.
func (d *Deps) poll(ctx context.Context, a *task.Attempt, jid string) (*value.Dict, error) {
	tell := func(state event.AsyncState) {
		a.Executor.Sink.Async(&event.Async{Host: a.Host, Task: a.Event, JID: jid, State: state})
	}
	var result *value.Dict
	for left := a.Settings.Async; left > 0; left -= a.Settings.Poll {
		if err := sleep(ctx, time.Duration(min(a.Settings.Poll, left))*time.Second); err != nil {
			return nil, err
		}
		var err error
		if result, err = d.status(ctx, a, jid, "status"); err != nil {
			return nil, err
		}
		if timedOut, _ := result.Get("async_timeout"); finished(result) && !value.Truth(timedOut) {
			tell(jobState(result))
			d.forget(ctx, a, jid)
			return result, nil
		}
		tell(event.AsyncRunning)
	}
	tell(event.AsyncFailed)
	if a.NoLog {
		d.forget(ctx, a, jid)
	}
	return nil, tooLate(a, result)
}

func jobState(result *value.Dict) event.AsyncState {
	if v, _ := result.Get("failed"); value.Truth(v) {
		return event.AsyncFailed
	}
	return event.AsyncOK
}

// tooLate is the failure of a job whose time was up, with what was last known
// of it.
func tooLate(a *task.Attempt, result *value.Dict) error {
	fail := task.Failf("async task did not complete within the requested time - %ds", a.Settings.Async)
	known := value.DictOf("ansible_job_id", nil, "started", 1, "finished", 0)
	for _, name := range []string{"ansible_job_id", "results_file", "stdout", "stderr"} {
		if v, ok := result.Get(name); ok {
			known.Set(name, v)
		}
	}
	known.Set("stdout_lines", value.NewList())
	known.Set("stderr_lines", value.NewList())
	fail.Result.Set("async_result", known)
	return fail
}

func finished(result *value.Dict) bool {
	v, _ := result.Get("finished")
	return value.Truth(v)
}

// status asks the host about a job, or forgets it (mode cleanup).
func (d *Deps) status(ctx context.Context, a *task.Attempt, jid, mode string) (*value.Dict, error) {
	args := value.DictOf("jid", jid, "mode", mode)
	if dir := d.asyncDir(a); dir != "" {
		args.Set("_async_dir", dir)
	}
	plain := *a
	plain.Check = false
	return d.call(ctx, &plain, "async_status", args, nil)
}

// forget removes the status file of a finished job; a failure to do so harms
// nobody, so it is not reported.
func (d *Deps) forget(ctx context.Context, a *task.Attempt, jid string) {
	_, _ = d.status(ctx, a, jid, "cleanup")
}

// asyncStatus is the async_status task.
func (d *Deps) asyncStatus(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	args := a.Args.Clone()
	if dir := d.asyncDir(a); dir != "" {
		args.Set("_async_dir", dir)
	}
	return d.call(ctx, a, "async_status", args, nil)
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
