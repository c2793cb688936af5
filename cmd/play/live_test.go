package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// livePlay waits in its first task until the file "go" is there, so that a test
// can look at the block for as long as it needs.
const livePlay = `- name: Servers
  hosts: all
  gather_facts: false
  tasks:
    - name: Wait
      shell: while [ ! -e go ]; do sleep 0.1; done
      delegate_to: localhost
    - name: Speak
      debug: {msg: "hello from {{ inventory_hostname }}"}
`

// screen is a terminal of tmux with a shell that has job control.
type screen struct {
	t   *testing.T
	dir string
	tmx []string // tmux and the options that name its server
}

// newScreen starts tmux with a shell in a folder that holds a playbook for so
// many hosts.
func newScreen(t *testing.T, cols, rows, hosts int) *screen {
	t.Helper()
	for _, tool := range []string{"tmux", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	dir, err := os.MkdirTemp("", "live") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, dir: dir, tmx: []string{"-u", "-f", "/dev/null", "-S", filepath.Join(dir, "tmux")}}
	t.Cleanup(func() { removeSoon(t, dir) })
	s.write("site.yml", livePlay, 0o600)
	inventory := ""
	for i := range hosts {
		inventory += fmt.Sprintf("web%03d\n", i+1)
	}
	s.write("hosts", inventory, 0o600)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.write("run", fmt.Sprintf("#!/bin/sh\nunset CI NO_COLOR\nexport PLAY_TEST_MAIN=1 ANSIBLE_NOCOLOR=1 ANSIBLE_CONFIG=/dev/null\necho BEGIN\nexec '%s' -i hosts -f 20 \"$@\" site.yml 2>&1\n", self), 0o700)
	cmd := exec.Command("tmux", append(s.tmx, "new-session", "-d", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows), "bash --norc --noprofile -i")...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "PS1=$ ", "TERM=screen", "SHELL=/bin/sh", "HISTFILE=/dev/null"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot start tmux: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", append(s.tmx, "kill-server")...).Run() })
	s.tmux("set-option", "-g", "history-limit", "5000")
	return s
}

// removeSoon removes a folder that processes which are ending may still write
// to.
func removeSoon(t *testing.T, dir string) {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := os.RemoveAll(dir)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("cannot remove the test's folder: %v", err)
			return
		}
	}
}

func (s *screen) write(name, text string, mode os.FileMode) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append(append([]string(nil), s.tmx...), args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

func (s *screen) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys"}, keys...)...)
}

// look is what the screen shows.
func (s *screen) look() string { s.t.Helper(); return s.tmux("capture-pane", "-p") }

// past is all that has scrolled by, wrapped lines joined.
func (s *screen) past() string { s.t.Helper(); return s.tmux("capture-pane", "-p", "-J", "-S", "-") }

// until looks until the screen shows every text, and none that begins with "!".
func (s *screen) until(texts ...string) string {
	s.t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for {
		shown := s.look()
		wrong := slices.IndexFunc(texts, func(text string) bool {
			without, not := strings.CutPrefix(text, "!")
			return strings.Contains(shown, without) == not
		})
		if wrong < 0 {
			return shown
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the screen never showed %q:\n%s", texts[wrong], shown)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestLiveBlock looks at the block in a real terminal with few and many hosts,
// lets the run end, and compares what has scrolled by with what a pipe gets.
func TestLiveBlock(t *testing.T) {
	t.Parallel()
	for _, n := range []int{5, 50, 200} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := newScreen(t, 80, 24, n)
			s.keys("./run; echo END $?", "Enter")
			running := min(n, 20)
			shown := s.until(fmt.Sprintf("0/%d hosts done, %d running", n, running), "task 1 of 2: Wait · play Servers", "this task ")
			if lines := strings.Count(shown, "  web"); lines < 3 || lines > 6 {
				t.Errorf("%d hosts are told of in:\n%s", lines, shown)
			}
			s.write("go", "", 0o600)
			s.until("\nEND 0", "!hosts done")
			_, text, _ := strings.Cut(s.past(), "\nBEGIN\n")
			text, _, _ = strings.Cut(text, "\nEND 0")
			if diff := cmp.Diff(s.piped(), sortedLines(text)); diff != "" {
				t.Errorf("-pipe +terminal:\n%s", diff)
			}
		})
	}
}

// piped is the sorted output of the same run in a pipe.
func (s *screen) piped() []string {
	cmd := exec.Command("./run")
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "LC_ALL=C.UTF-8")
	out, err := cmd.Output()
	if err != nil || strings.Contains(string(out), "hosts done") || strings.Contains(string(out), "\x1b") {
		s.t.Fatalf("%v: in a pipe: %s", err, out)
	}
	return sortedLines(strings.TrimPrefix(string(out), "BEGIN\n"))
}

func sortedLines(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	slices.Sort(lines)
	return lines
}

// TestLiveStop stops a run with Ctrl-Z, which takes the block away, goes on with
// fg, which brings it back, changes the terminal's size, and ends it with Ctrl-C.
func TestLiveStop(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80, 24, 5)
	s.keys("./run", "Enter")
	s.until("0/5 hosts done, 5 running")
	s.keys("C-z")
	s.until("Stopped", "!hosts done")
	s.keys("fg", "Enter")
	s.until("0/5 hosts done, 5 running")
	s.tmux("resize-window", "-x", "40", "-y", "12")
	s.until("▕░░░░░░░░░▏ 0/5 hosts done, 5 running", "task 1 of 2: Wait")
	s.tmux("resize-window", "-x", "100", "-y", "40")
	s.until("0/5 hosts done, 5 running", "web005")
	s.keys("C-c")
	s.until("PLAY RECAP", "!hosts done")
	s.keys("echo END $?", "Enter")
	s.until("END 99")
}

// busyPlay starts one program after the other.
const busyPlay = `- hosts: web001
  gather_facts: false
  tasks:
    - debug: {msg: "{% for i in range(1000000) %}{{ lookup('pipe', 'true') }}{% endfor %}"}
`

// TestLiveStopBusy stops a run again and again while it starts programs, one of which may
// not be another program yet when Ctrl-Z comes.
func TestLiveStopBusy(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80, 24, 1)
	s.write("site.yml", busyPlay, 0o600)
	s.keys("export GOMAXPROCS=1; ./run", "Enter")
	for range 5 {
		s.until("0/1 hosts done")
		s.keys("C-z")
		s.until("Stopped", "!hosts done")
		s.keys("clear; fg", "Enter")
	}
	s.until("0/1 hosts done")
	s.keys("C-c")
	s.until("PLAY RECAP", "!hosts done")
}

// TestLiveAbsent draws nothing where nobody could look at it: what the terminal
// gets is kept by tmux and holds no sequence.
func TestLiveAbsent(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]string{"dumb": "TERM=dumb ./run", "ci": "KEEP=1 CI=true ./run",
		"json": "ANSIBLE_STDOUT_CALLBACK=json ./run", "off": "./run --no-live", "drawn": "./run"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(t, 80, 24, 2)
			s.write("run", strings.Replace(s.read("run"), "unset CI", `[ "$KEEP" ] || unset CI; unset`, 1), 0o700)
			s.tmux("pipe-pane", "cat > "+filepath.Join(s.dir, "log"))
			s.keys("clear; "+how+"; echo END $?", "Enter")
			if name == "drawn" {
				s.until("hosts done")
			}
			s.write("go", "", 0o600)
			s.until("\nEND 0")
			s.keys("exit", "Enter")
			if drawn := strings.Contains(s.logged("\nEND 0"), "\x1b[J"); drawn != (name == "drawn") {
				t.Errorf("a block was drawn: %v\n%s", drawn, s.read("log"))
			}
		})
	}
}

func (s *screen) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// logged is what the terminal got between the start of the run and a text.
func (s *screen) logged(text string) string {
	s.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		_, log, _ := strings.Cut(s.read("log"), "BEGIN")
		if before, _, found := strings.Cut(log, text); found {
			return before
		}
	}
	s.t.Fatalf("%q was never logged:\n%s", text, s.read("log"))
	return ""
}

// linesPlay has a command that prints a line, a moment for a test to look, and
// the same with no_log.
const linesPlay = `- name: Servers
  hosts: all
  gather_facts: false
  tasks:
    - name: Say
      shell: printf 'first\n\033[31msaid by %s\033[0m\n' it; while [ ! -e go ]; do sleep 0.1; done
      delegate_to: localhost
    - name: Hide
      shell: echo canary; while [ ! -e end ]; do sleep 0.1; done
      delegate_to: localhost
      no_log: true
`

// TestLiveLines shows the last line of each running command with --live, none of
// a no_log task, nothing when it is not asked for, and leaves nothing of it.
func TestLiveLines(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"./run --live", "./run", "./run --live | cat", "./run --live --no-live"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newScreen(t, 80, 24, 2)
			s.write("site.yml", linesPlay, 0o600)
			s.tmux("pipe-pane", "cat > "+filepath.Join(s.dir, "log"))
			s.keys("clear; "+how+"; echo END", "Enter")
			lines, block := how == "./run --live", how == "./run --live" || how == "./run"
			switch {
			case lines:
				s.until("  │ said by it\n  web00", "0/2 hosts done") // the longest running one first
			case block:
				s.until("0/2 hosts done")
			default:
				s.until("TASK [Say]")
			}
			s.write("go", "", 0o600)
			if block {
				s.until("task 2 of 2: Hide", "0:01")
			}
			s.write("end", "", 0o600)
			s.until("\nEND", "!said by", "!│")
			s.keys("exit", "Enter")
			log := s.logged("\nEND")
			if strings.Contains(log, "said by it") != lines || strings.Contains(log, "canary") || strings.Contains(log, "\x1b[31m") {
				t.Errorf("lines are wanted: %v\n%q", lines, log)
			}
		})
	}
}
