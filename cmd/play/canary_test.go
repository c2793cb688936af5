package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"play/connection/contract"
	"play/connection/fleet"
)

// The canaries: a become password, a vaulted value, an argument of a no_log
// task, and the environment of one.
const (
	canaryBecome = "CANARY-become-5f1"
	canaryVault  = "CANARY-vault-5f2"
	canaryNoLog  = "CANARY-nolog-5f3"
	canaryEnv    = "CANARY-env-5f4"
)

const canaryBook = `
- hosts: all
  gather_facts: false
  become: true
  become_user: other
  vars_files: [secret.yml]
  tasks:
    - command: sleep 0.7
      environment: {TOKEN: "` + canaryEnv + `"}
      no_log: true
    - shell: "cat >/dev/null; sleep 0.7"
      args: {stdin: "` + canaryNoLog + `"}
      no_log: true
    - command: cat
      args: {stdin: "{{ vaulted }} ` + canaryNoLog + `"}
      no_log: true
      register: seen
    - command: cat
      args: {stdin: "` + canaryNoLog + `"}
      no_log: true
      async: 60
      poll: 0
      register: job
    - async_status: {jid: "{{ job.ansible_job_id }}"}
      no_log: true
      register: status
      until: status.finished
      retries: 50
      delay: 1
    - assert: {that: "'` + canaryNoLog + `' in status.stdout and '` + canaryNoLog + `' in seen.stdout"}
      no_log: true
    - command: "cat /nonexistent/x"
      args: {stdin: "{{ vaulted }}"}
      no_log: true
      failed_when: true
`

// TestT4T5Canary: secrets reach no output at -vvvv, no JSON, no event, no command
// line, no environment but that of the task's own command, no temporary file and
// no status file that was read, whichever program becomes the other user.
func TestT4T5Canary(t *testing.T) {
	t.Parallel()
	for method, callback := range map[string]string{"sudo": "default", "doas": "json", "su": "yaml"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			if method != "sudo" {
				contract.Need(t, runtime.GOOS == "linux", "the agent makes terminals on Linux only")
			}
			runCanary(t, method, callback)
		})
	}
}

func runCanary(t *testing.T, method, callback string) {
	dir, err := os.MkdirTemp("", "play-canary-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	hosts := filepath.Join(dir, "fleet")
	if err := os.Mkdir(hosts, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := fleet.New(fleet.Options{Dir: hosts, Hosts: 2, Sudo: true, SudoPassword: canaryBecome})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	writePrograms(t, f, canaryBecome)
	writeTest(t, filepath.Join(dir, "book.yml"), canaryBook)
	writeTest(t, filepath.Join(dir, "vault.pass"), "pass\n")
	writeTest(t, filepath.Join(dir, "become.pass"), canaryBecome+"\n")
	writeTest(t, filepath.Join(dir, "secret.yml"), "vaulted: "+canaryVault+"\n")
	runPlay(t, dir, "vault", "encrypt", "--vault-password-file", "vault.pass", "secret.yml")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-vvvv", "-i", f.Inventory, "--vault-password-file", "vault.pass", "--become-password-file", "become.pass", "--become-method", method, "--events", "events.json", "book.yml")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PLAY_TEST_MAIN=1", "ANSIBLE_NOCOLOR=1", "ANSIBLE_CONFIG=/dev/null", "ANSIBLE_STDOUT_CALLBACK="+callback,
		"HOME="+dir, "TMPDIR="+dir, "PLAY_NO_HISTORY=0")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // the code is checked below
	}()
	seen := watchCanaries(dir, done)
	failed := strings.Count(out.String(), "failed=1 ") + strings.Count(out.String(), `"failures": 1,`)
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || failed != 2 {
		t.Errorf("exit code %d:\n%s", code, out.String())
	}
	if strings.Contains(out.String(), "CANARY") {
		t.Errorf("the output has a canary:\n%s", out.String())
	}
	if events, err := os.ReadFile(filepath.Join(dir, "events.json")); err != nil || !strings.Contains(string(events), `"stats"`) {
		t.Errorf("the events are not there: %v", err)
	}
	for where := range seen {
		t.Errorf("a canary was seen in %s", where)
	}
	noCanaryLater(t, dir, f.Inventory)
}

// noCanaryLater looks for canaries in what is told of the run afterwards, and in
// drift.
func noCanaryLater(t *testing.T, dir, inventory string) {
	t.Helper()
	drift, _ := playOutput(t, dir, "drift", "-i", inventory, "--vault-password-file", "vault.pass", "--become-password-file", "become.pass",
		"--json", "-", "--junit", "night.xml", "--prometheus", "night.prom", "book.yml")
	told := map[string]string{"drift": drift, "runs": runPlay(t, dir, "runs", "export", "1"), "report": runPlay(t, dir, "report", "1", "-o", "-"), "schema": runPlay(t, dir, "schema")}
	for _, name := range []string{"events.json", "night.xml", "night.prom"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		told[name] = string(text)
	}
	for name, text := range told {
		if strings.Contains(text, "CANARY") || len(text) < 100 {
			t.Errorf("%s has a canary, or nothing:\n%s", name, text)
		}
	}
}

// watchCanaries looks again and again for canaries in processes and files below
// dir until done is closed, and once more then.
func watchCanaries(dir string, done <-chan struct{}) map[string]bool {
	seen := map[string]bool{}
	for last := false; ; time.Sleep(5 * time.Millisecond) {
		for _, line := range processesOf(dir) {
			if strings.Contains(line, "CANARY") {
				seen["the command line "+line] = true
			}
			lookIntoEnviron(strings.Fields(line), seen)
		}
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || isAgent(d.Name()) || given(dir, path) {
				return nil
			}
			// A result that was not read yet is for its owner alone.
			if data, _ := os.ReadFile(path); strings.Contains(string(data), "CANARY") && (last || !strings.Contains(path, "/.ansible_async/")) {
				seen["the file "+path] = true
			}
			return nil
		})
		if last {
			return seen
		}
		select {
		case <-done:
			last = true
		default:
		}
	}
}

// isAgent tells whether a file is the uploaded agent, here this very test with
// the canaries in it.
func isAgent(name string) bool {
	return strings.HasPrefix(name, "agent-") || strings.HasPrefix(name, ".up-")
}

// lookIntoEnviron looks at the environment of every process but the task's own
// command.
func lookIntoEnviron(line []string, seen map[string]bool) {
	env, _ := os.ReadFile("/proc/" + line[0] + "/environ")
	if strings.Contains(string(env), "CANARY") && !strings.Contains(strings.Join(line, " "), "sleep 0.7") {
		seen["the environment of "+strings.Join(line, " ")] = true
	}
}

// given tells whether the test itself wrote the file.
func given(dir, path string) bool {
	switch strings.TrimPrefix(path, dir+"/") {
	case "book.yml", "become.pass", "secret.yml", "fleet/bin/sudo", "fleet/bin/sudo-tty", "fleet/bin/doas", "fleet/bin/su":
		return true
	}
	return false
}
