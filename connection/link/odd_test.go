package link_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"play/connection"
	"play/modules/value"
)

// oddAgent starts the agent by a shell line in which AGENT stands for the words
// that start it, and $0 for its path.
func oddAgent(t *testing.T, line string) (connection.Link, string) {
	t.Helper()
	home := t.TempDir()
	p := startAgent(t, home, "/bin/sh", "-c", strings.ReplaceAll(line, "AGENT", `"$0" agent serve`))
	l := openStream(t, p)
	t.Cleanup(func() { l.Close() })
	return l, home
}

// TestT16NoProc: on a host without /proc everything works, detached jobs too.
func TestT16NoProc(t *testing.T) {
	t.Parallel()
	const hide = "mount -t tmpfs none /proc"
	if out, err := exec.Command("unshare", "-m", "/bin/sh", "-c", hide).CombinedOutput(); err != nil {
		t.Skipf("needs the right to hide /proc: %v: %s", err, out)
	}
	l, home := oddAgent(t, "exec unshare -m /bin/sh -c '"+hide+" && exec AGENT' \"$0\"")
	if got := run(t, l, request("shell", "_raw_params", "ls /proc; echo end")); field(got, "stdout") != "end" {
		t.Errorf("a command: %s", value.Repr(got))
	}
	if got := run(t, l, request("setup", "gather_subset", value.NewList("min"))); field(got, "ansible_facts") == nil {
		t.Errorf("facts: %s", value.Repr(got))
	}
	run(t, l, detached(request("shell", "_raw_params", "echo $$ >"+home+"/new; mv "+home+"/new "+home+"/pid; sleep 300"), "j1.p", 600))
	for !exists(filepath.Join(home, "pid")) {
		time.Sleep(10 * time.Millisecond)
	}
	if s := jobStatus(t, l, "j1.p"); field(s, "finished") != 0 {
		t.Errorf("a running job: %s", value.Repr(s))
	}
	run(t, l, request("play_jobs", "mode", "kill", "jid", "j1.p"))
	if s := awaitJob(t, l, "j1.p"); field(s, "failed") != true {
		t.Errorf("a job that was ended: %s", value.Repr(s))
	}
	if !ends(pidIn(t, filepath.Join(home, "pid"))) {
		t.Error("the job's command still runs")
	}
}

// TestT16ClockSkew: files that seem to come from another time, since a clock was
// wrong, are neither lost nor taken for changed.
func TestT16ClockSkew(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	dest := filepath.Join(home, "file")
	if err := os.WriteFile(dest, []byte("same\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, l, detached(request("command", "_raw_params", "echo kept"), "j1.c", 60))
	awaitJob(t, l, "j1.c")
	for _, when := range []time.Time{time.Now().AddDate(10, 0, 0), time.Now().Add(-6 * 24 * time.Hour)} {
		for _, path := range []string{dest, filepath.Join(home, ".ansible_async", "j1.c")} {
			if err := os.Chtimes(path, when, when); err != nil {
				t.Fatal(err)
			}
		}
		if got := run(t, l, request("lineinfile", "path", dest, "line", "same")); field(got, "changed") != false {
			t.Errorf("a file of %s: %s", when, value.Repr(got))
		}
		run(t, l, detached(request("command", "_raw_params", "true"), "j2.c", 60)) // it sweeps the folder
		awaitJob(t, l, "j2.c")
		if s := jobStatus(t, l, "j1.c"); field(s, "stdout") != "kept" {
			t.Errorf("the result of %s: %s", when, value.Repr(s))
		}
		if got := value.Repr(run(t, l, request("play_jobs", "mode", "list"))); !strings.Contains(got, "'j1.c'") {
			t.Errorf("the list: %s", got)
		}
	}
}

// TestT16Umask: a login whose umask closes everything to others works, and gets
// the files it asks for.
func TestT16Umask(t *testing.T) {
	t.Parallel()
	l, home := oddAgent(t, "umask 077; exec AGENT")
	for path, want := range map[string]os.FileMode{"plain": 0o600, "open": 0o644} {
		args := []any{"path", filepath.Join(home, path), "line", "x", "create", true}
		if path == "open" {
			args = append(args, "mode", "0644")
		}
		if got := run(t, l, request("lineinfile", args...)); field(got, "changed") != true {
			t.Errorf("%s: %s", path, value.Repr(got))
		}
		if info, err := os.Stat(filepath.Join(home, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", path, info, err, want)
		}
	}
}
