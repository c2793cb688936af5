package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unitHead begins a systemd unit in what --install-timer prints.
var unitHead = regexp.MustCompile(`(?m)^# \S*/([\w-]+\.(?:service|timer))$`)

// TestTimerIsOne: systemd finds nothing wrong with the units that are printed.
func TestTimerIsOne(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	writeTest(t, filepath.Join(dir, "site one.yml"), "- hosts: all\n  tasks: []\n")
	cmd := exec.Command("play", "drift", "-i", "h1,", "--ignore", "path=/var/**,host=100%", "--install-timer", "site one.yml")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, _, _ := strings.Cut(string(out), "\n# systemctl")
	heads := unitHead.FindAllStringSubmatchIndex(text, -1)
	if len(heads) != 2 {
		t.Fatalf("%d units in\n%s", len(heads), out)
	}
	verify := []string{"--user", "verify"}
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		path := filepath.Join(dir, text[h[2]:h[3]])
		writeTest(t, path, text[h[1]:end])
		verify = append(verify, path)
	}
	check := exec.Command("systemd-analyze", verify...)
	check.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "LC_ALL=C"}
	said, err := check.CombinedOutput()
	complains := strings.Contains(string(said), "play-drift")
	if err != nil && !complains {
		t.Skipf("systemd-analyze cannot check units here: %v %s", err, said)
	}
	if complains {
		t.Errorf("systemd-analyze: %v\n%s\n%s", err, said, text)
	}
}
