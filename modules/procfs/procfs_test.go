package procfs_test

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"play/modules/procfs"
)

func TestOf(t *testing.T) {
	t.Parallel()
	if procfs.BootID() == "" {
		t.Skip("this system has no /proc")
	}
	self, err := procfs.Of(os.Getpid())
	if err != nil || self.Parent != os.Getppid() || self.Start == "" || self.Start != procfs.Start(os.Getpid()) {
		t.Errorf("%+v %v", self, err)
	}
	if !slices.Contains(procfs.All(), self) {
		t.Error("this process is not listed")
	}
}

// TestEnded: a process that nobody has taken leave of yet counts as ended.
func TestEnded(t *testing.T) {
	t.Parallel()
	if procfs.BootID() == "" {
		t.Skip("this system has no /proc")
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := procfs.Of(cmd.Process.Pid); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	in.Close()
	_, _ = out.Read(make([]byte, 1)) // its end
	for procfs.Start(cmd.Process.Pid) != "" {
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := procfs.Of(cmd.Process.Pid); err == nil {
		t.Error("it is known after its end")
	}
}
