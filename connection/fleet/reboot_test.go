package fleet_test

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"play/connection/fleet"
)

// TestReboot: all of the host's processes end, detached ones too, and it comes
// back with another boot id.
func TestReboot(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleet.Options{Hosts: 2, Sudo: true})
	h := f.Hosts[0]
	detached := func(h *fleet.Host) int {
		return number(t, output(t, login(t, f, h), "setsid sleep 300 >/dev/null 2>&1 & echo $!"))
	}
	pid, other := detached(h), detached(f.Hosts[1])
	defer func() { _ = syscall.Kill(other, syscall.SIGKILL) }() // it was left alone
	before, err := os.ReadFile(h.BootID())
	if err != nil {
		t.Fatal(err)
	}
	session, err := login(t, f, h).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	_ = session.Run("shutdown -r now") // the connection may be gone before it has ended
	for range 1500 {
		if now, _ := os.ReadFile(h.BootID()); string(now) != string(before) && !h.Faults().Refuse {
			if conn, err := net.Dial("tcp", h.Addr()); err == nil { // it listens a moment after it refuses no more
				conn.Close()
				break
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	if !ends(pid) {
		t.Errorf("process %d is left", pid)
	}
	if syscall.Kill(other, 0) != nil {
		t.Error("another host's process has ended, too")
	}
	if got := output(t, login(t, f, h), "cat ../boot_id"); got == string(before) || strings.TrimSpace(got) == "" {
		t.Errorf("the boot id is %q", got)
	}
}
