package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"play/connection/fleet"
)

// chaosBook writes one file atomically and works for a moment; every host that
// is hurt meanwhile must say so.
const chaosBook = `
- hosts: all
  gather_facts: false
  tasks:
    - copy: {content: "{{ round }}:{{ 'x' * 200000 }}", dest: "~/data"}
    - shell: "sleep 0.2; echo {{ round }} >~/done"
`

// trouble is one way to hurt a host while play works on it.
type trouble struct {
	name string
	// faults hold from before the run.
	faults fleet.Faults
	// during happens at a random moment of the run; nil: nothing.
	during func(h *fleet.Host)
	// impatient: play waits for this host a second only.
	impatient bool
	// ends lists the ends of a host that are true for it, of ok, failed and
	// unreachable.
	ends []string
}

func troubles() []trouble {
	return []trouble{
		{name: "none", ends: []string{"ok"}},
		{name: "refuse", faults: fleet.Faults{Refuse: true}, ends: []string{"unreachable"}},
		{name: "hang at login", faults: fleet.Faults{Hang: fleet.HangAuth}, impatient: true, ends: []string{"unreachable"}},
		{name: "hang at the agent's start", faults: fleet.Faults{Hang: fleet.HangExec}, impatient: true, ends: []string{"unreachable"}},
		{name: "hang", during: hang, impatient: true, ends: []string{"ok", "unreachable"}},
		{name: "stall", during: stall, ends: []string{"ok"}},
		{name: "drop in the output", faults: fleet.Faults{DropAfter: 700}, ends: []string{"unreachable"}},
		{name: "full disk", faults: fleet.Faults{DiskFull: true}, ends: []string{"failed", "unreachable"}},
		// The agent that is there can start; the file is cut in the middle.
		{name: "disk that fills", faults: fleet.Faults{DiskSpace: 100}, ends: []string{"failed", "unreachable"}},
		{name: "drop", during: (*fleet.Host).Drop, ends: []string{"ok", "unreachable"}},
		{name: "kill of the agent", during: killAgents, ends: []string{"ok", "unreachable"}},
	}
}

// hang stops a host's network until the round is over.
func hang(h *fleet.Host) { h.Freeze(true) }

// stall stops a host's network for a moment.
func stall(h *fleet.Host) {
	h.Freeze(true)
	time.Sleep(time.Second)
	h.Freeze(false)
}

// killAgents kills every agent of a host.
func killAgents(h *fleet.Host) {
	for _, line := range processesOf(h.Home) {
		var pid int
		if n, _ := fmt.Sscan(line, &pid); n == 1 && strings.HasSuffix(line, " serve ") {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// processesOf lists processes by the folder in which their environment has them
// at home: "pid command line".
func processesOf(home string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, _ := os.ReadFile(f)
		pid := filepath.Base(filepath.Dir(f))
		if pid == strconv.Itoa(os.Getpid()) || !strings.Contains(string(env), "HOME="+home) {
			continue
		}
		if line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline")); len(line) > 0 {
			found = append(found, pid+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// long tells whether the tests may take minutes: PLAY_LONG=1 go test ./cmd/play.
func long() bool { return os.Getenv("PLAY_LONG") != "" }

// TestChaos: whatever happens to hosts, each one's end is told truly, its file is
// whole, and nothing is left running.
func TestChaos(t *testing.T) {
	t.Parallel()
	rounds, seed := 12, uint64(1)
	if long() {
		rounds, seed = 200, uint64(time.Now().UnixNano())
	}
	const workers = 4
	t.Logf("seed %d", seed)
	for w := range workers {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			t.Parallel()
			c := newChaos(t, rand.New(rand.NewPCG(seed, uint64(w))))
			for round := range rounds / workers {
				c.round(t, round+1)
			}
		})
	}
}

// chaos is a fleet that is hurt round after round.
type chaos struct {
	dir    string
	fleet  *fleet.Fleet
	random *rand.Rand
	data   map[string]string // what the host's file held after the last round
}

func newChaos(t *testing.T, random *rand.Rand) *chaos {
	t.Helper()
	dir, err := os.MkdirTemp("", "play-chaos-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f, err := fleet.New(fleet.Options{Dir: dir, Hosts: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	writeTest(t, filepath.Join(dir, "chaos.yml"), chaosBook)
	return &chaos{dir: dir, fleet: f, random: random, data: map[string]string{}}
}

// round hurts each host in some way while play runs once.
func (c *chaos) round(t *testing.T, round int) {
	t.Helper()
	all := troubles()
	hurt := map[string]trouble{}
	patience := ""
	var wait sync.WaitGroup
	over := make(chan struct{})
	for _, h := range c.fleet.Hosts {
		one := all[c.random.IntN(len(all))]
		hurt[h.Name] = one
		if err := h.SetFaults(one.faults); err != nil {
			t.Fatal(err)
		}
		if one.impatient {
			patience += h.Name + " ansible_ssh_timeout=1 ansible_ssh_extra_args='-o ServerAliveInterval=1 -o ServerAliveCountMax=1'\n"
		}
		if one.during != nil {
			after := time.Duration(c.random.IntN(600)) * time.Millisecond
			wait.Go(func() {
				select {
				case <-time.After(after):
					one.during(h)
				case <-over:
				}
			})
		}
	}
	writeTest(t, filepath.Join(c.dir, "patience.ini"), patience)
	out := c.play(t, round)
	close(over)
	wait.Wait()
	for _, h := range c.fleet.Hosts {
		if err := h.SetFaults(fleet.Faults{}); err != nil {
			t.Fatal(err)
		}
		h.Drop()
		h.Freeze(false)
		c.judge(t, h, hurt[h.Name], round, out)
	}
	if t.Failed() {
		t.Fatalf("round %d:\n%s", round, out)
	}
}

func (c *chaos) play(t *testing.T, round int) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-T", "60", "-i", c.fleet.Inventory, "-i", filepath.Join(c.dir, "patience.ini"), "-e", fmt.Sprintf("round=%d", round), filepath.Join(c.dir, "chaos.yml"))
	cmd.Env = append(os.Environ(), "PLAY_TEST_MAIN=1", "ANSIBLE_NOCOLOR=1", "ANSIBLE_CONFIG=/dev/null", "HOME="+c.dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("it took %s", took)
	}
	return out.String()
}

// recapLine finds a host's counts.
var recapLine = regexp.MustCompile(`(?m)^(web\d+) +: ok=(\d+) .*unreachable=(\d+) +failed=(\d+) `)

// judge compares what play told of a host with what is there.
func (c *chaos) judge(t *testing.T, h *fleet.Host, hurt trouble, round int, out string) {
	t.Helper()
	end := ""
	for _, m := range recapLine.FindAllStringSubmatch(out, -1) {
		switch {
		case m[1] != h.Name:
		case m[3] == "1":
			end = "unreachable"
		case m[4] == "1":
			end = "failed"
		case m[2] == "2":
			end = "ok"
		}
	}
	if !strings.Contains(" "+strings.Join(hurt.ends, " ")+" ", " "+end+" ") {
		t.Errorf("%s (%s): play says %q", h.Name, hurt.name, end)
	}
	// What was under way when the host was lost may still come to its end.
	left := processesOf(h.Home)
	for range 1200 {
		if len(left) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
		left = processesOf(h.Home)
	}
	if len(left) > 0 {
		t.Errorf("%s (%s): left running: %q", h.Name, hurt.name, left)
	}
	c.files(t, h, end, round)
	c.leftBehind(t, h, hurt)
}

// files checks that the host's file is the old or the new one, whole, and the
// new one with the next task's mark where play said ok.
func (c *chaos) files(t *testing.T, h *fleet.Host, end string, round int) {
	t.Helper()
	data, _ := os.ReadFile(filepath.Join(h.Home, "data")) // "": it was never written
	now := fmt.Sprintf("%d:%s", round, strings.Repeat("x", 200000))
	if string(data) != now && string(data) != c.data[h.Name] {
		t.Errorf("%s: the file is half written: %d bytes, %.20q", h.Name, len(data), data)
	}
	c.data[h.Name] = string(data)
	done, _ := os.ReadFile(filepath.Join(h.Home, "done"))
	if end == "ok" && (string(data) != now || string(done) != fmt.Sprintf("%d\n", round)) {
		t.Errorf("%s: play says ok; the file begins with %.10q, the mark is %q", h.Name, data, done)
	}
}

// leftBehind checks that nothing but the agent's folders is new in the host's
// home.
func (c *chaos) leftBehind(t *testing.T, h *fleet.Host, hurt trouble) {
	t.Helper()
	entries, _ := os.ReadDir(h.Home)
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "data" || name == "done" || name == ".ansible" || name == ".cache":
		default:
			t.Errorf("%s (%s): left behind: %s", h.Name, hurt.name, name)
		}
	}
}

// TestMemoryOf1000Hosts: the control machine connects to 1000 hosts and runs
// three tasks on each within 200 MB.
func TestMemoryOf1000Hosts(t *testing.T) {
	hosts := 100
	if long() {
		hosts = 1000
	}
	dir, err := os.MkdirTemp("", "play-memory-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f, err := fleet.New(fleet.Options{Dir: dir, Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	writeTest(t, filepath.Join(dir, "three.yml"), `
- hosts: all
  gather_facts: false
  tasks: [{ping: }, {command: "true"}, {stat: {path: /}}]
`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runPlay(t, dir, "-i", f.Inventory, "-l", "web1", filepath.Join(dir, "three.yml"))
	shareAgent(t, f)
	cmd := exec.Command(self, "-f", "50", "-T", "60", "-i", f.Inventory, filepath.Join(dir, "three.yml"))
	cmd.Env = append(os.Environ(), "PLAY_TEST_MAIN=1", "ANSIBLE_NOCOLOR=1", "ANSIBLE_CONFIG=/dev/null", "HOME="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("play: %v\n%s", err, out.String()[max(0, out.Len()-2000):])
	}
	if n := strings.Count(out.String(), "ok=3 "); n != hosts {
		t.Errorf("%d hosts ran all three tasks, want %d", n, hosts)
	}
	most := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
	t.Logf("%d hosts took at most %d MiB", hosts, most)
	if most > 200 {
		t.Errorf("play took %d MiB for %d hosts, want at most 200", most, hosts)
	}
}

// shareAgent gives every host the first one's agent as a hard link: a thousand
// copies of this test's executable would fill the disk.
func shareAgent(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(f.Hosts[0].Home, ".ansible", "tmp", "play-*", "agent-*"))
	if len(found) != 1 {
		t.Fatalf("the first host has the agents %q", found)
	}
	inside, err := filepath.Rel(f.Hosts[0].Home, found[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range f.Hosts[1:] {
		path := filepath.Join(h.Home, inside)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(found[0], path); err != nil {
			t.Fatal(err)
		}
	}
}
