package foreign

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"play/modules/process"
)

// warmCall is one run of a module in a fork of a warm interpreter.
type warmCall struct {
	control        *net.UnixConn
	given          []*os.File // the other process's ends: control, stdout, stderr
	stdout, stderr *capture
	kept           bool // its keeper has reported its end
}

func newWarmCall() (*warmCall, error) {
	own, its, err := pair()
	if err != nil {
		return nil, err
	}
	c := &warmCall{control: own, given: []*os.File{its}}
	for _, to := range []**capture{&c.stdout, &c.stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			c.close()
			return nil, err
		}
		c.given = append(c.given, w)
		*to = newCapture(r)
	}
	return c, nil
}

// release closes the ends that the other process has now.
func (c *warmCall) release() {
	for _, f := range c.given {
		f.Close()
	}
	c.given = nil
}

// close ends the call; a module that still runs ends with its group.
func (c *warmCall) close() {
	c.release()
	c.control.Close()
	for _, s := range []*capture{c.stdout, c.stderr} {
		if s != nil {
			s.from.Close()
		}
	}
}

// errBroken says that a module was started and its keeper is gone.
var errBroken = errors.New("the module's keeper is gone")

// report is how a module ended, as its keeper tells it.
type report struct {
	status syscall.WaitStatus
	err    error
}

// follow sends the request and waits for the module's end. The error is errCold
// when it was not started, or the end of ctx.
func (c *warmCall) follow(ctx context.Context, r request) (*process.Outcome, error) {
	out := &process.Outcome{Start: time.Now()}
	started, ended := make(chan int, 1), make(chan report, 1)
	go func() { // ends when control is closed
		if tell(c.control, r) != nil {
			ended <- report{err: errCold}
			return
		}
		status, err := listen(c.control, started)
		ended <- report{status, err}
	}()
	var last report
	select {
	case last = <-ended:
	case <-ctx.Done():
		c.end(started, ended)
		return nil, context.Cause(ctx)
	}
	if last.err == errCold {
		return nil, errCold
	}
	out.RC = int(syscall.SIGKILL) * -1
	if last.err == nil {
		out.RC, c.kept = exitCode(last.status), true
	}
	c.collect(out)
	c.endOrphan(<-started)
	out.End = time.Now()
	return out, nil
}

// end has the keeper end the module's group, and does it itself when the keeper
// does not.
func (c *warmCall) end(started <-chan int, ended <-chan report) {
	_ = c.control.CloseWrite() // a keeper that is gone does not report
	select {
	case pid := <-started:
		select {
		case last := <-ended:
			c.kept = last.err == nil
		case <-time.After(endLimit):
		}
		c.endOrphan(pid)
	default: // it has not begun, or ends at once
	}
}

// endOrphan ends the group of a module whose keeper is gone.
func (c *warmCall) endOrphan(pid int) {
	if !c.kept {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // it may be gone, too
	}
}

// listen reads what the keeper writes: its process id, then the wait status.
func listen(control io.Reader, started chan<- int) (syscall.WaitStatus, error) {
	lines := bufio.NewReader(control)
	var pid, status int
	if _, err := fmt.Fscanf(lines, "P%d\n", &pid); err != nil {
		return 0, errCold
	}
	started <- pid
	if _, err := fmt.Fscanf(lines, "S%d\n", &status); err != nil {
		return 0, errBroken
	}
	return syscall.WaitStatus(status), nil
}

func exitCode(s syscall.WaitStatus) int {
	if s.Signaled() {
		return -int(s.Signal())
	}
	return s.ExitStatus()
}

// collect waits for the rest of the output, but not for background children
// that hold it open.
func (c *warmCall) collect(out *process.Outcome) {
	limit := time.Now().Add(linger)
	for _, s := range []*capture{c.stdout, c.stderr} {
		_ = s.from.SetReadDeadline(limit) // a pipe can; else its end is waited for
		<-s.done
		out.Dropped += s.dropped
	}
	out.Stdout, out.Stderr = c.stdout.kept.Bytes(), c.stderr.kept.Bytes()
}

// capture reads a pipe to its end and keeps the first process.MaxOutput bytes.
type capture struct {
	from    *os.File
	done    chan struct{}
	kept    bytes.Buffer // once done is closed
	dropped int64
}

func newCapture(from *os.File) *capture {
	s := &capture{from: from, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_, err := io.Copy(struct{ io.Writer }{s}, from)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.drain()
		}
	}()
	return s
}

func (s *capture) Write(p []byte) (int, error) {
	n := min(len(p), process.MaxOutput-s.kept.Len())
	s.kept.Write(p[:n])
	s.dropped += int64(len(p) - n)
	return len(p), nil
}

// drain takes what is in the pipe at the deadline, and waits for nothing: on a
// busy machine that may be a module's own words.
func (s *capture) drain() {
	raw, err := s.from.SyscallConn()
	if err != nil || s.from.SetReadDeadline(time.Time{}) != nil {
		return
	}
	buf := make([]byte, 64<<10)
	for range maxPipe / len(buf) {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			n, _ = syscall.Read(int(fd), buf) // none when nothing is there
			return true
		})
		if err != nil || n <= 0 {
			return
		}
		_, _ = s.Write(buf[:n]) // it keeps or counts
	}
}

// maxPipe is the most that a pipe holds unless root says otherwise.
const maxPipe = 1 << 20
