package fleet

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// shutdown stands in for the real one: the fleet sees the file and reboots the
// host.
const shutdown = `#!/bin/sh
: >"$FLEET_HOMES/shutdown"
`

// BootID is the file with a word that changes when the host reboots.
func (h *Host) BootID() string { return filepath.Join(filepath.Dir(h.Home), "boot_id") }

// Reboot ends every process of the host, detached ones too, and all connections,
// takes none for a while, and comes back with another boot id.
func (h *Host) Reboot(down time.Duration) error {
	faults := h.Faults()
	refusing := faults
	refusing.Refuse = true
	if err := h.SetFaults(refusing); err != nil {
		return err
	}
	h.Drop()
	h.killAll()
	if err := os.WriteFile(h.BootID(), []byte(rand.Text()+"\n"), 0o600); err != nil {
		return err
	}
	time.Sleep(down)
	return h.SetFaults(faults)
}

// killAll ends the host's processes, known by their environment, until none is
// left.
func (h *Host) killAll() {
	for range 100 {
		found := false
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range environs {
			env, _ := os.ReadFile(path) // another user's, or ended: not ours
			if !strings.Contains(string(env), "FLEET_HOMES="+filepath.Dir(h.Home)+"\x00") {
				continue
			}
			if pid := number(filepath.Base(filepath.Dir(path))); pid > 1 && pid != os.Getpid() {
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
			}
		}
		if !found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func number(s string) (n int) {
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}

// downFor is how long a host that was told to shut down stays away.
const downFor = 500 * time.Millisecond

// obeyShutdown reboots the host whenever the stand-in for shutdown was called,
// until the host is closed.
func (h *Host) obeyShutdown() {
	asked := filepath.Join(filepath.Dir(h.Home), "shutdown")
	for {
		h.mu.Lock()
		closed := h.closed
		h.mu.Unlock()
		if closed {
			return
		}
		if os.Remove(asked) == nil {
			_ = h.Reboot(downFor) // a host that does not come back shows by itself
		}
		time.Sleep(20 * time.Millisecond)
	}
}
