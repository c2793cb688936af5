package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestExitCodes: those of ansible-playbook, which scripts and CI jobs test.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ok.yml":    "- {hosts: localhost, connection: local, gather_facts: false, tasks: [{debug: {msg: hi}}]}\n",
		"fail.yml":  "- {hosts: localhost, connection: local, gather_facts: false, tasks: [{fail: {}}]}\n",
		"lost.yml":  "- {hosts: lost, gather_facts: false, tasks: [{command: id}]}\n",
		"bad.yml":   "- {hosts: localhost, taks: []}\n",
		"yaml.yml":  "- hosts: [\n",
		"pause.yml": "- {hosts: localhost, connection: local, gather_facts: false, tasks: [{shell: touch at_work; sleep 60}]}\n",
		"inventory": "lost ansible_host=127.0.0.1 ansible_port=1\nlocalhost ansible_connection=local\n",
	} {
		writeTest(t, filepath.Join(dir, name), text)
	}
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"--version"}, 0},
		{[]string{"ok.yml"}, 0},
		{[]string{"absent.yml"}, 1},
		{[]string{"fail.yml"}, 2},
		{[]string{"lost.yml"}, 4},
		{[]string{"bad.yml"}, 4},
		{[]string{"yaml.yml"}, 4},
		{[]string{}, 2},
		{[]string{"--no-such-option", "ok.yml"}, 2},
	} {
		if got := exitOf(t, dir, "", c.args...); got != c.want {
			t.Errorf("play %v: exit code %d, want %d", c.args, got, c.want)
		}
	}
	if got := exitOf(t, dir, "at_work", "pause.yml"); got != exitInterrupted {
		t.Errorf("interrupted: exit code %d, want %d", got, exitInterrupted)
	}
}

// exitOf runs play and returns its exit code; it gets a SIGINT once a file of the
// name at is there ("": it gets none).
func exitOf(t *testing.T, dir, at string, args ...string) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"-i", "inventory"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PLAY_TEST_MAIN=1", "ANSIBLE_CONFIG=/dev/null", "HOME="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if at != "" {
		awaitFile(t, filepath.Join(dir, at))
		_ = cmd.Process.Signal(syscall.SIGINT) // it runs, as the file shows
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// awaitFile waits until a file is there.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for range 3000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s does not come", path)
}
