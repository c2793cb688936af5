package leftover

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"play/modules/procfs"
)

// TestOtherStart: a group whose leader's number belongs to another process by now
// is left alone.
func TestOtherStart(t *testing.T) {
	t.Parallel()
	if procfs.BootID() == "" {
		t.Skip("this system has no /proc to tell when a process began")
	}
	leader := exec.Command("sleep", "300")
	leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	pid := leader.Process.Pid
	t.Cleanup(func() {
		_ = leader.Process.Kill() // it was ended by now
		_ = leader.Wait()
	})
	for _, c := range []struct {
		start string
		runs  bool
	}{{"1", true}, {procfs.Start(pid) + "0", true}, {procfs.Start(pid), false}} {
		watch := exec.Command("/bin/sh", "-c", script, "watch", "")
		watch.Stdin = strings.NewReader(fmt.Sprintf("g 7 %d %s;\n", pid, c.start))
		if out, err := watch.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%q %v", out, err)
		}
		if runs := procfs.Start(pid) != ""; runs != c.runs {
			t.Errorf("start %q: it runs: %t, want %t", c.start, runs, c.runs)
		}
	}
}
