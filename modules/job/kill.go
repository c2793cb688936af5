package job

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"play/modules/procfs"
)

// ErrEnded says that a job does not run any more.
var ErrEnded = errors.New("the job has ended already")

// killGrace is how long a wrapper has to end its job before it is killed itself.
const killGrace = 15 * time.Second

// Kill ends a running job with everything it started. Its wrapper does that and
// writes the result; one that does not is killed with its whole session. What a
// lost job left running is ended too. The error is ErrNone, ErrEnded or ctx's.
func (f *File) Kill(ctx context.Context) error {
	status, about, err := f.read()
	if err != nil {
		return err
	}
	if !f.own() {
		return errors.New("cannot kill the job: its status file belongs to another user")
	}
	pid, _ := field(about, "pid").(int)
	switch state(status) {
	case "lost":
		if field(about, "boot") == procfs.BootID() {
			endSession(pid)
		}
		return nil
	case "running":
	default:
		return ErrEnded
	}
	if pid <= 1 {
		return errors.New("cannot kill the job: its process is not known (another program started it)")
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, killGrace)
	defer cancel()
	if _, err := f.Wait(ctx); err == nil {
		return nil
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
	endSession(pid)
	return nil
}

// own tells whether the file is this user's: what another one wrote could name
// any process.
func (f *File) own() bool {
	info, err := os.Lstat(f.Path())
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// pollEvery is how often Wait looks.
const pollEvery = 100 * time.Millisecond

// Wait returns how a job ended, as List names it, once it has. The error is
// ErrNone or ctx's.
func (f *File) Wait(ctx context.Context) (string, error) {
	for {
		status, _, err := f.read()
		if err != nil {
			return "", err
		}
		if s := state(status); s != "running" {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}
