package local

import (
	"syscall"
	"time"
)

const (
	// stderrGrace is how long a child that keeps stderr open may delay the end.
	stderrGrace = time.Second
	// endGrace is how long a process has to end once its input has ended.
	endGrace = 3 * time.Second
)

// end waits for the process, asks its group to end after the grace, and makes
// it end after another one.
func (p *process) end() {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		timer := time.NewTimer(endGrace)
		select {
		case <-p.done:
			timer.Stop()
			return
		case <-timer.C:
			p.signal(sig)
		}
	}
}

// signal tells the process's group something, unless the process has ended.
func (p *process) signal(sig syscall.Signal) {
	select {
	case <-p.done:
	default:
		// The group exists as long as its leader is not reaped, which done tells.
		_ = syscall.Kill(-p.group, sig)
	}
}
