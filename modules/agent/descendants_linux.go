package agent

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"play/modules/procfs"
)

func duplicate(from, to int) error { return unix.Dup3(from, to, 0) }

// adoptOrphans makes this process the parent of all its descendants whose own
// parent ends, so that endDescendants finds those that left their group.
func adoptOrphans() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // on an old kernel some may be missed
}

// endDescendants kills every process below this one. Those that are killed
// leave their children to us, so it looks again until none is left.
func endDescendants() {
	for range 100 {
		pids := descendants(os.Getpid())
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
		}
		time.Sleep(10 * time.Millisecond)
		reap()
	}
}

// reap takes leave of the adopted processes that have ended.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if pid <= 0 || err != nil {
			return
		}
	}
}

// descendants lists the processes below pid that have not ended.
func descendants(pid int) []int {
	children := map[int][]int{}
	for _, p := range procfs.All() {
		children[p.Parent] = append(children[p.Parent], p.PID)
	}
	var all []int
	for next := children[pid]; len(next) > 0; {
		all = append(all, next[0])
		next = append(next[1:], children[next[0]]...)
	}
	return all
}
