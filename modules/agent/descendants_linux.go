package agent

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, running := parentOf(child); running {
			children[parent] = append(children[parent], child)
		}
	}
	var all []int
	for next := children[pid]; len(next) > 0; {
		all = append(all, next[0])
		next = append(next[1:], children[next[0]]...)
	}
	return all
}

func parentOf(pid int) (parent int, running bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, err == nil && fields[0] != "Z" && fields[0] != "X"
}
