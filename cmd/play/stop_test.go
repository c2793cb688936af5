package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"play/connection/fleet"
)

// stopBook has synchronous work on two SSH hosts and on the control machine,
// in the background and as another user, and a detached job.
const stopBook = `
- hosts: all
  gather_facts: false
  tasks:
    - command: sleep 300.5
      async: 600
      poll: 0
      when: inventory_hostname == 'web1'
    - shell: "sleep 301.5 & echo $$ >$HOME/started; sleep 302.5; echo never"
      become: "{{ inventory_hostname == 'web2' }}"
      become_user: other
    - command: touch {{ playbook_dir }}/later.{{ inventory_hostname }}
`

// stopping is a run of play that is about to be stopped.
type stopping struct {
	cmd   *exec.Cmd
	dir   string
	fleet *fleet.Fleet
	out   bytes.Buffer
}

// startStopping starts play and waits until every host is at work. stdio is its
// terminal; nil: it has none.
func startStopping(t *testing.T, stdio *os.File) *stopping {
	t.Helper()
	dir, err := os.MkdirTemp("", "play-stop-")
	if err != nil {
		t.Fatal(err)
	}
	s := &stopping{dir: dir}
	t.Cleanup(func() {
		s.endAll()
		os.RemoveAll(dir)
	})
	if s.fleet, err = fleet.New(fleet.Options{Dir: dir, Hosts: 2, Sudo: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.fleet.Close)
	writeTest(t, filepath.Join(dir, "stop.yml"), stopBook)
	writeTest(t, filepath.Join(dir, "near.ini"), "near ansible_connection=local\n")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(self, "-i", s.fleet.Inventory, "-i", filepath.Join(dir, "near.ini"), filepath.Join(dir, "stop.yml"))
	s.cmd.Dir = dir
	s.cmd.Env = append(os.Environ(), "PLAY_TEST_MAIN=1", "ANSIBLE_NOCOLOR=1", "ANSIBLE_CONFIG=/dev/null", "HOME="+dir, "TMPDIR="+dir)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	if stdio != nil {
		s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = stdio, stdio, stdio
		s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.awaitWork(t)
	return s
}

func (s *stopping) awaitWork(t *testing.T) {
	t.Helper()
	for range 2400 {
		count := 0
		for _, line := range s.processes() {
			if strings.Contains(line, "sleep 302.5") && !strings.Contains(line, "sh -c") {
				count++
			}
		}
		if count == 3 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("play did not get to work:\n%s\n%s", strings.Join(s.processes(), "\n"), s.out.String())
}

// processes are all processes of the run on both sides, by their environment:
// "pid command line".
func (s *stopping) processes() (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, _ := os.ReadFile(f)
		pid := filepath.Base(filepath.Dir(f))
		if pid == strconv.Itoa(os.Getpid()) || !strings.Contains(string(env), "HOME="+s.dir) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		if len(line) > 0 { // a zombie has none
			found = append(found, pid+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// left waits until only the detached job is left, and tells what else is.
func (s *stopping) left() []string {
	var others []string
	for range 1200 {
		others = slices.DeleteFunc(s.processes(), func(line string) bool {
			return strings.Contains(line, "sleep 300.5") || strings.HasSuffix(line, " async ")
		})
		if len(others) == 0 {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return others
}

// check looks at both sides after the stop.
func (s *stopping) check(t *testing.T) {
	t.Helper()
	if others := s.left(); len(others) > 0 {
		t.Errorf("left running:\n%s", strings.Join(others, "\n"))
	}
	if !slices.ContainsFunc(s.processes(), func(line string) bool { return strings.Contains(line, "sleep 300.5") }) {
		t.Error("the detached job has ended with play")
	}
	if later, _ := filepath.Glob(s.dir + "/later.*"); len(later) > 0 {
		t.Errorf("the next task ran: %v", later)
	}
	if temp := s.temporary(); len(temp) > 1 { // the detached job's own
		t.Errorf("left behind: %v", temp)
	}
}

// temporary lists the agents' private folders.
func (s *stopping) temporary() (found []string) {
	_ = filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "play-agent-") {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// endAll kills what the test has left.
func (s *stopping) endAll() {
	for _, line := range s.processes() {
		var pid int
		if n, _ := fmt.Sscan(line, &pid); n == 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
		}
	}
}

// TestStopBySignal: the first signal ends the tasks, prints the recap and exits
// with 99; nothing but the detached job is left on either side.
func TestStopBySignal(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(unix.SignalName(sig), func(t *testing.T) {
			t.Parallel()
			s := startStopping(t, nil)
			_ = s.cmd.Process.Signal(sig) // it runs, as awaitWork saw
			_ = s.cmd.Wait()              // the code is checked below
			if code := s.cmd.ProcessState.ExitCode(); code != exitInterrupted {
				t.Errorf("exit code %d, want %d", code, exitInterrupted)
			}
			for _, want := range []string{"PLAY RECAP", "interrupted by "} {
				if text := s.out.String(); !strings.Contains(text, want) || strings.Contains(text, "context canceled") {
					t.Errorf("no %q:\n%s", want, text)
				}
			}
			s.check(t)
		})
	}
}

// TestStopStopped: an agent of this machine that stands still (SIGSTOP, or Ctrl-Z on
// a terminal that is gone) does not keep play from ending, and ends with it.
func TestStopStopped(t *testing.T) {
	t.Parallel()
	for name, master := range map[string]bool{"SIGTERM": false, "terminal closed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var window, terminal *os.File
			if master {
				window, terminal = openTerminal(t)
			}
			s := startStopping(t, terminal)
			stopped := 0
			for _, line := range s.processes() {
				var pid int
				if _, err := fmt.Sscan(line, &pid); err == nil && strings.HasSuffix(line, s.cmd.Path+" play-agent serve ") {
					stopped++
					_ = syscall.Kill(pid, syscall.SIGSTOP)
				}
			}
			if stopped == 0 {
				t.Fatalf("there is no agent:\n%s", strings.Join(s.processes(), "\n"))
			}
			if master {
				terminal.Close()
				window.Close()
			} else {
				_ = s.cmd.Process.Signal(syscall.SIGTERM)
			}
			_ = s.cmd.Wait() // by its end there is nothing to say on
			s.check(t)
		})
	}
}

// TestHeedStops leaves when the run takes too long to end.
func TestHeedStops(t *testing.T) {
	t.Parallel()
	for _, second := range []bool{false, true} {
		signals, within := make(chan os.Signal, 2), time.Millisecond
		signals <- syscall.SIGTERM
		if second {
			signals <- os.Interrupt
			within = time.Hour
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		left := false
		heedStops(signals, make(chan struct{}), cancel, within, func() { left = true })
		if why := context.Cause(ctx); !left || why == nil || why.Error() != "interrupted by SIGTERM" || !errors.Is(why, context.Canceled) {
			t.Errorf("left: %v, why: %v", left, why)
		}
	}
}

// TestStopAtOnce: a second signal ends play at once, and killing it leaves it no
// time for anything; the agents see the end of their input.
func TestStopAtOnce(t *testing.T) {
	t.Parallel()
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		s := startStopping(t, nil)
		_ = s.cmd.Process.Signal(os.Interrupt)
		time.Sleep(10 * time.Millisecond)
		_ = s.cmd.Process.Signal(os.Interrupt) // it may be through with the first
		_ = s.cmd.Wait()
		if code := s.cmd.ProcessState.ExitCode(); code != exitInterrupted {
			t.Errorf("exit code %d, want %d", code, exitInterrupted)
		}
		s.check(t)
	})
	t.Run("kill -9", func(t *testing.T) {
		t.Parallel()
		s := startStopping(t, nil)
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.check(t)
	})
}

// TestStopTerminalClosed: the window that play runs in is closed.
func TestStopTerminalClosed(t *testing.T) {
	t.Parallel()
	master, slave := openTerminal(t)
	s := startStopping(t, slave)
	slave.Close()
	go func() { // the window shows what play prints until it is closed
		buf := make([]byte, 4096)
		for {
			if _, err := master.Read(buf); err != nil {
				return
			}
		}
	}()
	master.Close()
	_ = s.cmd.Wait() // its output is gone with the window
	s.check(t)
}

// openTerminal makes a pseudo-terminal: the window's side and play's.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	// Without blocking, so that a pending read does not hold up the close.
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// TestT14AskedOnATerminal: play asks about a host key that is not known, shows
// nothing else meanwhile that would hide the question, and goes on with yes.
func TestT14AskedOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := fleet.New(fleet.Options{Dir: dir, Hosts: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	writeTest(t, f.KnownHosts, "")
	writeTest(t, filepath.Join(dir, "ping.yml"), "- {hosts: all, gather_facts: false, tasks: [{ping: {}}]}\n")
	master, slave := openTerminal(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-i", f.Inventory, filepath.Join(dir, "ping.yml"))
	cmd.Env = append(os.Environ(), "PLAY_TEST_MAIN=1", "ANSIBLE_NOCOLOR=1", "ANSIBLE_CONFIG=/dev/null", "HOME="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	var shown strings.Builder
	buf := make([]byte, 4096)
	for asked := 0; ; {
		n, err := master.Read(buf)
		shown.Write(buf[:n])
		if questions := strings.Count(shown.String(), "(yes/no/[fingerprint])? "); questions > asked {
			if questions > asked+1 {
				t.Error("two questions at once")
			}
			asked = questions
			_, _ = master.WriteString([]string{"yes\n", "no\n"}[min(asked-1, 1)]) // the end of play shows up as an error above
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // the code is checked below
	text := shown.String()
	if code := cmd.ProcessState.ExitCode(); code != exitUnreachable || strings.Count(text, "ok=1") != 1 || !strings.Contains(text, "was not trusted") {
		t.Errorf("exit code %d:\n%s", code, text)
	}
	if known, err := os.ReadFile(f.KnownHosts); err != nil || strings.Count(string(known), "\n") != 1 {
		t.Errorf("known hosts: %q %v", known, err)
	}
}
