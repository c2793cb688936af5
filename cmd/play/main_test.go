package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"play/connection/fleet"
	"play/modules"
	"play/modules/agent"
)

// TestMain lets the test binary serve as play and as its agent.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "play" && os.Getenv("PLAY_TEST_MAIN") == "" { // what tests start keeps no history where people have theirs
		_ = os.Setenv("PLAY_NO_HISTORY", "1") // cannot fail with such a name
	}
	if len(os.Args) > 1 && os.Args[1] == agentCommand {
		os.Exit(agent.Main(os.Args[2:], modules.All(), modules.HTTP))
	}
	if os.Getenv("PLAY_TEST_MAIN") != "" {
		os.Exit(run(newHost(), os.Args))
	}
	testscript.Main(m, map[string]func(){
		"play": func() { os.Exit(run(newHost(), os.Args)) },
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("ANSIBLE_NOCOLOR", "1")
			e.Setenv("ANSIBLE_CONFIG", "/dev/null")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"fleet":   startFleet,
			"fault":   setFault,
			"mode":    hasMode,
			"running": isRunning,
			"jobid":   findJob,
			"logins":  countLogins,
		},
	})
}

// fleets are the running fleets by script folder.
var fleets sync.Map

// startFleet serves N SSH hosts for the script, which take a password too where
// one is given: fleet N [PASSWORD]. $INVENTORY is their inventory, $FLEET their
// folder, with a home for each.
func startFleet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: fleet N [PASSWORD]")
	}
	n := 0
	if _, err := fmt.Sscan(args[0], &n); err != nil {
		ts.Fatalf("fleet: %v", err)
	}
	dir := filepath.Join(ts.Getenv("WORK"), "fleet")
	ts.Check(os.MkdirAll(dir, 0o700))
	f, err := fleet.New(fleet.Options{Dir: dir, Hosts: n, Sudo: true, Password: strings.Join(args[1:], "")})
	ts.Check(err)
	ts.Defer(f.Close)
	ts.Setenv("INVENTORY", f.Inventory)
	ts.Setenv("FLEET", dir)
	fleets.Store(ts.Getenv("WORK"), f)
}

// setFault makes a host misbehave: fault web2 refuse.
func setFault(ts *testscript.TestScript, neg bool, args []string) {
	found, ok := fleets.Load(ts.Getenv("WORK"))
	if neg || len(args) != 2 || !ok {
		ts.Fatalf("usage, after fleet: fault HOST refuse|hang-login|hang-command|drop|disk-full|disk-fills|wrong-key|no-sftp|none")
	}
	faults := map[string]fleet.Faults{
		"refuse": {Refuse: true}, "hang-login": {Hang: fleet.HangAuth}, "hang-command": {Hang: fleet.HangExec},
		"drop": {DropAfter: 2000}, "disk-full": {DiskFull: true}, "disk-fills": {DiskSpace: 100}, "wrong-key": {WrongHostKey: true}, "no-sftp": {NoSFTP: true}, "none": {},
	}
	fault, ok := faults[args[1]]
	if !ok {
		ts.Fatalf("there is no fault %q", args[1])
	}
	ts.Check(hostNamed(ts, found.(*fleet.Fleet), args[0]).SetFaults(fault))
}

func hostNamed(ts *testscript.TestScript, f *fleet.Fleet, name string) *fleet.Host {
	for _, h := range f.Hosts {
		if h.Name == name {
			return h
		}
	}
	ts.Fatalf("there is no host %q", name)
	return nil
}

// countLogins checks how many connections a host has let in so far: logins web1 2.
func countLogins(ts *testscript.TestScript, neg bool, args []string) {
	found, ok := fleets.Load(ts.Getenv("WORK"))
	if neg || len(args) != 2 || !ok {
		ts.Fatalf("usage, after fleet: logins HOST N")
	}
	if n := hostNamed(ts, found.(*fleet.Fleet), args[0]).Logins(); fmt.Sprint(n) != args[1] {
		ts.Fatalf("%s has let in %d connections, want %s", args[0], n, args[1])
	}
}

// isRunning checks that a process whose command line holds the text runs, or
// within a minute no longer does: [!] running TEXT.
func isRunning(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: running TEXT")
	}
	for range 600 {
		if found := processes(args[0]); (len(found) > 0) != neg {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	ts.Fatalf("processes with %q: %v", args[0], processes(args[0]))
}

func processes(text string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		data, _ := os.ReadFile(f)
		line := strings.ReplaceAll(string(data), "\x00", " ")
		if strings.Contains(line, text) {
			found = append(found, filepath.Base(filepath.Dir(f))+" "+line)
		}
	}
	return found
}

// findJob sets a variable to the id of the job on a host whose processes have
// the text in their command line: jobid VAR HOST TEXT.
func findJob(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: jobid VAR HOST TEXT")
	}
	files, _ := filepath.Glob(filepath.Join(ts.Getenv("FLEET"), "hosts", args[1], "home", ".ansible_async", "j*"))
	for _, f := range files {
		var status struct {
			Wrapper struct{ PID int } `json:"_play"`
		}
		data, err := os.ReadFile(f)
		ts.Check(err)
		ts.Check(json.Unmarshal(data, &status))
		for _, p := range processes(args[2]) {
			var pid int
			_, _ = fmt.Sscan(p, &pid) // they begin with a number
			if sid, err := unix.Getsid(pid); err == nil && sid == status.Wrapper.PID {
				ts.Setenv(args[0], filepath.Base(f))
				return
			}
		}
	}
	ts.Fatalf("no job on %s runs %q", args[1], args[2])
}

// hasMode checks a file's permissions: mode 0640 FILE.
func hasMode(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: mode OCTAL FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); (got == args[0]) == neg {
		ts.Fatalf("%s has mode %s", args[1], got)
	}
}
