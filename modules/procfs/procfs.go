// Package procfs reads from Linux's /proc what other packages need to know of
// processes. Flowing in: process ids. Flowing out: their parent, session and
// start. Where /proc is not mounted, and on other systems, nothing is known, and
// callers do without.
package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Process is what is known of one process.
type Process struct {
	PID     int
	Parent  int
	Session int    // the id of the process that leads its session
	Start   string // when it began, in clock ticks since the boot
}

// Of reads about a process. The error says that it has ended (a zombie counts
// as ended), or that nothing is known of it.
func Of(pid int) (Process, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Process{}, err
	}
	// The second field is the name in parentheses, and may hold anything; from
	// the third on, by proc(5): state, parent, group, session, …, start.
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return Process{}, fmt.Errorf("process %d has ended", pid)
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return Process{}, err
	}
	session, err := strconv.Atoi(fields[3])
	return Process{PID: pid, Parent: parent, Session: session, Start: fields[19]}, err
}

// Start is when a process began; "" where that is not known.
func Start(pid int) string {
	p, _ := Of(pid) // nothing is known then
	return p.Start
}

// All lists the processes that have not ended, as far as they can be seen.
func All() []Process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, err := Of(pid); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// BootID changes with each start of the system; "" where that is not known.
func BootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // nothing is known then
	return strings.TrimSpace(string(id))
}
