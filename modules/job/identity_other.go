//go:build !linux

package job

import (
	"syscall"

	"play/modules/value"
)

// identify describes a process by its id alone: these systems have no simple
// way to tell when it began.
func identify(pid int) (*value.Dict, error) {
	return value.DictOf("pid", pid), nil
}

// alive tells whether a process with the id still runs.
func alive(who any) bool {
	d, ok := who.(*value.Dict)
	if !ok {
		return false
	}
	pid, _ := d.Get("pid")
	n, ok := pid.(int)
	return ok && n > 0 && syscall.Kill(n, 0) != syscall.ESRCH
}

// bootID is not known.
func bootID() string { return "" }

// endSession does nothing: there is no simple way to find a session's processes.
func endSession(int) {}
