package job

import (
	"os"
	"syscall"
	"time"

	"play/modules/procfs"
	"play/modules/value"
)

// identify describes a process so that no other one, of this boot or another,
// can be taken for it; by its id alone where /proc does not tell more.
func identify(pid int) *value.Dict {
	return value.DictOf("pid", pid, "start", procfs.Start(pid), "boot", procfs.BootID())
}

// alive tells whether a process described by identify still runs.
func alive(who any) bool {
	d, ok := who.(*value.Dict)
	if !ok {
		return false
	}
	pid, ok := field(d, "pid").(int)
	if !ok || pid <= 0 || field(d, "boot") != procfs.BootID() {
		return false
	}
	if start, _ := field(d, "start").(string); start != "" {
		return procfs.Start(pid) == start
	}
	return syscall.Kill(pid, 0) != syscall.ESRCH
}

// endSession kills what is left of the session that a process which is gone had
// led, and waits for the end. The number of a session is given to no other
// process while one is in it.
func endSession(leader int) {
	if _, err := procfs.Of(leader); err == nil || leader <= 1 {
		return // another process has the number now
	}
	for range 100 {
		left := 0
		for _, p := range procfs.All() {
			if p.Session == leader && p.PID != os.Getpid() {
				left++
				_ = syscall.Kill(p.PID, syscall.SIGKILL) // it may have ended meanwhile
			}
		}
		if left == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
