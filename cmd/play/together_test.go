package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"play/connection/fleet"
)

// togetherBook works on hosts where the other run works at the same time: each
// waits there for the other, and both write the same file.
const togetherBook = `
- hosts: all
  gather_facts: false
  tasks:
    - shell: "touch ~/here.{{ run }}; n=0; until [ -e ~/here.a ] && [ -e ~/here.b ]; do n=$((n+1)); [ $n -lt 600 ] || exit 1; sleep 0.1; done"
    - copy: {content: "{{ run * 200000 }}", dest: "~/data"}
    - command: sleep 0.2
`

// TestT16TwoRuns: two runs of play come at once to hosts that no one knows and
// that have no agent yet. Both do all their work, the agent that they leave is
// whole, nothing else is left, and each host's key is noted once.
func TestT16TwoRuns(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "play-together-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f, err := fleet.New(fleet.Options{Dir: dir, Hosts: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	writeTest(t, f.KnownHosts, "# mine\n")
	writeTest(t, filepath.Join(dir, "together.yml"), togetherBook)
	runs := []*exec.Cmd{startTogether(t, f, "a"), startTogether(t, f, "b")}
	for _, cmd := range runs {
		_ = cmd.Wait() // the code is checked below
		out := cmd.Stdout.(*bytes.Buffer).String()
		if code := cmd.ProcessState.ExitCode(); code != exitOK {
			t.Errorf("exit code %d:\n%s", code, out)
		}
		if n := len(regexp.MustCompile(`(?m)^web\d +: ok=3 +changed=[23] +unreachable=0 +failed=0 `).FindAllString(out, -1)); n != len(f.Hosts) {
			t.Errorf("%d hosts ran all tasks:\n%s", n, out)
		}
	}
	known, err := os.ReadFile(f.KnownHosts)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(known), "\n"); n != 1+len(f.Hosts) || !strings.HasPrefix(string(known), "# mine\n") {
		t.Errorf("known hosts: %q", known)
	}
	for _, h := range f.Hosts {
		if n := strings.Count(string(known), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(h.HostKey())))); n != 1 {
			t.Errorf("the key of %s is noted %d times", h.Name, n)
		}
		checkTogether(t, h)
	}
}

// startTogether starts one of the runs.
func startTogether(t *testing.T, f *fleet.Fleet, name string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "--accept-new-host-keys", "-T", "60", "-i", f.Inventory, "-e", "run="+name, filepath.Join(f.Dir, "together.yml"))
	cmd.Env = append(os.Environ(), "PLAY_TEST_MAIN=1", "ANSIBLE_NOCOLOR=1", "ANSIBLE_CONFIG=/dev/null", "HOME="+f.Dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended by then, but for a failure
	return cmd
}

// checkTogether looks at what two runs left on a host.
func checkTogether(t *testing.T, h *fleet.Host) {
	t.Helper()
	left := processesOf(h.Home)
	for range 1200 {
		if len(left) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
		left = processesOf(h.Home)
	}
	if len(left) > 0 {
		t.Errorf("%s: left running: %q", h.Name, left)
	}
	data, err := os.ReadFile(filepath.Join(h.Home, "data"))
	if text := string(data); err != nil || text != strings.Repeat("a", 200000) && text != strings.Repeat("b", 200000) {
		t.Errorf("%s: the file has %d bytes, %.20q (%v)", h.Name, len(data), data, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var agents []string
	_ = filepath.WalkDir(h.Home, func(path string, d os.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil:
			t.Error(err)
		case strings.HasPrefix(name, "agent-"):
			agents = append(agents, path)
		case d.IsDir() && !strings.HasPrefix(name, "play-agent-"), name == "data", strings.HasPrefix(name, "here."):
		default:
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
	if len(agents) != 1 || sumOf(t, agents[0]) != sumOf(t, self) {
		t.Errorf("%s: the agents %q are not the one that was sent", h.Name, agents)
	}
}

// sumOf is a file's SHA-256.
func sumOf(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}
