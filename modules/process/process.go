// Package process runs one command on the target for a module. Flowing in: an
// argument vector, an environment, content for its standard input. Flowing out:
// what it printed, how and when it ended. A command has a process group of its
// own, and the whole group is ended when the call's context ends. It never
// splits a string into words and never decides whether a result is a failure.
package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"play/modules/leftover"
)

const (
	// linger is how long output is still read after the command has ended while
	// a background child of it holds the pipe open.
	linger = 900 * time.Millisecond
	// MaxOutput is how much of each of stdout and stderr is kept, in bytes; a
	// command that prints without end must not take the host's memory.
	MaxOutput = 48 << 20
	// grace is the time between SIGTERM and SIGKILL.
	grace = 2 * time.Second
)

// Command is what to run.
type Command struct {
	Argv   []string
	Dir    string    // "": the agent's working directory
	Env    []string  // the whole environment
	Stdin  io.Reader // nil: /dev/null
	Output io.Writer // live copy of stdout and stderr; nil: none
}

// Outcome is how a command ended.
type Outcome struct {
	Stdout, Stderr []byte
	RC             int // exit status, or minus the signal's number
	Start, End     time.Time
	Dropped        int64 // bytes of output beyond MaxOutput
}

// StartError says that the command could not be started.
type StartError struct {
	Errno syscall.Errno
	Path  string
}

// Error gives Python's words for it.
func (e *StartError) Error() string { return ErrnoText(e.Errno, e.Path) }

// Run runs the command to its end. When ctx ends first, the process group gets
// SIGTERM, then SIGKILL, and the error is ctx's cause. The error is a
// *StartError when the command could not be started.
func Run(ctx context.Context, c Command) (*Outcome, error) {
	path, err := Look(c.Argv[0], c.Dir, c.Env)
	if err != nil {
		return nil, err
	}
	var stdout, stderr kept
	cmd := &exec.Cmd{
		Path: path, Args: c.Argv, Dir: c.Dir, Env: c.Env, Stdin: c.Stdin,
		Stdout: tee(&stdout, c.Output), Stderr: tee(&stderr, c.Output),
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		WaitDelay:   linger,
	}
	leftover.Prepare()
	out := &Outcome{Start: time.Now()}
	if err := cmd.Start(); err != nil {
		return nil, startError(err, c.Argv[0])
	}
	done := leftover.Group(cmd.Process.Pid)
	stop := endWith(ctx, cmd.Process.Pid)
	// The state below says more than Wait's error; a pipe that a background
	// child kept, or a command that did not read its input, is no failure.
	_ = cmd.Wait()
	stop()
	done()
	out.End = time.Now()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	out.Stdout, out.Stderr, out.RC = stdout.Bytes(), stderr.Bytes(), status(cmd.ProcessState)
	out.Dropped = stdout.dropped + stderr.dropped
	return out, nil
}

// endWith ends the process group when ctx ends. The returned function stops
// watching; if ctx had ended, it first makes sure that the group is gone.
func endWith(ctx context.Context, group int) (stop func()) {
	done := make(chan struct{})
	finished := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(finished)
		_ = syscall.Kill(-group, syscall.SIGTERM) // it may have ended already
		select {
		case <-done:
		case <-time.After(grace):
		}
		_ = syscall.Kill(-group, syscall.SIGKILL)
	})
	return func() {
		close(done)
		if !cancel() {
			<-finished
		}
	}
}

// kept holds the first MaxOutput bytes of what is written.
type kept struct {
	bytes.Buffer
	dropped int64
}

func (k *kept) Write(p []byte) (int, error) {
	n := min(len(p), MaxOutput-k.Len())
	k.dropped += int64(len(p) - n)
	k.Buffer.Write(p[:n])
	return len(p), nil
}

// tee keeps what is written in buf and copies it to live.
func tee(buf *kept, live io.Writer) io.Writer {
	if live == nil {
		return struct{ io.Writer }{buf} // without the buffer's own ReadFrom
	}
	return io.MultiWriter(buf, live)
}

func status(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -int(ws.Signal())
	}
	return s.ExitCode()
}

func startError(err error, name string) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err
	}
	return &StartError{Errno: errno, Path: name}
}

// Look finds a command as execvp does: in the PATH of env unless the name has a
// slash, which counts from dir. The error is a *StartError.
func Look(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		// A relative name means the new working directory, which the started
		// process is in already when it is looked up.
		return name, nil
	}
	failure := syscall.ENOENT
	for _, folder := range filepath.SplitList(Getenv(env, "PATH", "/bin:/usr/bin")) {
		if folder == "" {
			folder = "."
		}
		path := filepath.Join(folder, name)
		at := path
		if !filepath.IsAbs(path) {
			path = "./" + path
			at = filepath.Join(dir, path)
		}
		info, err := os.Stat(at)
		if err != nil || info.IsDir() {
			continue
		}
		if info.Mode()&0o111 != 0 {
			return path, nil
		}
		failure = syscall.EACCES
	}
	return "", &StartError{Errno: failure, Path: name}
}

// Getenv returns the last value of a variable in env, or fallback.
func Getenv(env []string, name, fallback string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return fallback
}
