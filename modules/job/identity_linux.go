package job

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"play/modules/value"
)

// identify describes a process so that no other one, of this boot or another,
// can be taken for it.
func identify(pid int) (*value.Dict, error) {
	start, err := startTime(pid)
	if err != nil {
		return nil, err
	}
	return value.DictOf("pid", pid, "start", start, "boot", bootID()), nil
}

// alive tells whether a process described by identify still runs.
func alive(who any) bool {
	d, ok := who.(*value.Dict)
	if !ok {
		return false
	}
	pid, _ := d.Get("pid")
	start, _ := d.Get("start")
	boot, _ := d.Get("boot")
	n, ok := pid.(int)
	if !ok || boot != bootID() {
		return false
	}
	now, err := startTime(n)
	return err == nil && now == start
}

// bootID changes with each start of the system; "" where /proc does not tell.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// startTime is when a process began, in clock ticks since the boot.
func startTime(pid int) (string, error) {
	fields, err := statOf(pid)
	if err != nil {
		return "", err
	}
	return fields[19], nil
}

// endSession kills what is left of the session that a process which is gone had
// led, and waits for the end. The number of a session is given to no other
// process while one is in it.
func endSession(leader int) {
	if _, err := statOf(leader); err == nil || leader <= 1 {
		return // another process has the number now
	}
	for range 100 {
		left := members(leader)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// members lists the processes of a session that have not ended.
func members(session int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if fields, err := statOf(pid); err == nil && fields[3] == strconv.Itoa(session) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// statOf reads /proc/PID/stat from its third field, the state, on. A zombie
// counts as ended.
func statOf(pid int) ([]string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	// The second field is the name in parentheses, and may hold anything.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return nil, fmt.Errorf("process %d has ended", pid)
	}
	return fields, nil
}
