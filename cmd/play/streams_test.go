package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// separately runs play in a folder and returns both streams.
func separately(t *testing.T, dir string, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command("play", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "ANSIBLE_CONFIG=/dev/null", "PLAY_NO_HISTORY=1"}, env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestJSONIsPure: the callback json writes one document on stdout and nothing
// else, whatever there is to warn of and however the run ends.
func TestJSONIsPure(t *testing.T) {
	t.Parallel()
	books := map[string]string{
		"warnings": "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - debug: {msg: a, msg: b}\n    - debug: {msg: \"{{ 1 }}\"}\n      when: \"{{ true }}\"\n",
		"failure":  "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - fail: {msg: no}\n    - debug:\n",
		"nobody":   "- hosts: nosuch\n  tasks: []\n",
		"more":     "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - command: \"sh -c 'echo to stderr >&2'\"\n- hosts: localhost\n  gather_facts: false\n  tasks: [{meta: noop}]\n",
	}
	for name, book := range books {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeTest(t, filepath.Join(dir, "site.yml"), book)
			stdout, stderr, _ := separately(t, dir, []string{"ANSIBLE_STDOUT_CALLBACK=json", "ANSIBLE_OF_MINE=1"}, "-vv", "site.yml")
			if !strings.Contains(stderr, "WARNING") {
				t.Errorf("nothing was warned of: %s", stderr)
			}
			from := json.NewDecoder(strings.NewReader(stdout))
			var document map[string]any
			if err := from.Decode(&document); err != nil || document["stats"] == nil {
				t.Fatalf("%v:\n%s", err, stdout)
			}
			if rest, err := io.ReadAll(from.Buffered()); err != nil || strings.TrimSpace(string(rest)) != "" {
				t.Errorf("behind the document: %q", rest)
			}
		})
	}
}

// TestFailedAlike: many hosts that failed alike are told of again once.
func TestFailedAlike(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var hosts strings.Builder
	for i := range 50 {
		fmt.Fprintf(&hosts, "web%02d ansible_connection=local\n", i+1)
	}
	writeTest(t, filepath.Join(dir, "hosts"), hosts.String())
	writeTest(t, filepath.Join(dir, "site.yml"), `
- hosts: all
  gather_facts: false
  tasks:
    - name: Mount the share
      fail: {msg: "{{ 'the disk is full' if inventory_hostname == 'web07' else 'the server does not answer' }}"}
`)
	cmd := exec.Command("play", "-i", "hosts", "site.yml")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "ANSIBLE_CONFIG=/dev/null", "PLAY_NO_HISTORY=1", "TERM=xterm", "CI=1", "ANSIBLE_NOCOLOR=1"}
	shown, status := talk(t, cmd, nil)
	if status != exitFailed || strings.Count(shown, "fatal: [") != 50 {
		t.Errorf("exit code %d:\n%s", status, shown)
	}
	_, again, _ := strings.Cut(shown, "PLAY RECAP")
	if n := strings.Count(again, "cannot finish"); n != 2 {
		t.Errorf("%d failures are told again, want 2:\n%s", n, again)
	}
	for _, want := range []string{"on web07: the disk is full", " more: the server does not answer", "site.yml:5:7"} {
		if !strings.Contains(again, want) {
			t.Errorf("%q is missing in\n%s", want, again)
		}
	}
}
