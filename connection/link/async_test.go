package link_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"play/connection"
	"play/modules/value"
	"play/modules/wire"
)

// detached makes a call asynchronous.
func detached(c *wire.Call, jid string, limit int) *wire.Call {
	c.Async = &wire.Async{JID: jid, Limit: limit}
	return c
}

func jobStatus(t *testing.T, l connection.Link, jid string) *value.Dict {
	t.Helper()
	return run(t, l, request("async_status", "jid", jid))
}

// awaitJob polls until the job has finished.
func awaitJob(t *testing.T, l connection.Link, jid string) *value.Dict {
	t.Helper()
	for range 3000 {
		if s := jobStatus(t, l, jid); field(s, "finished") == 1 {
			return s
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("job %s did not finish", jid)
	return nil
}

func TestAsyncJob(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	got := run(t, l, detached(request("shell", "_raw_params", "sleep 0.3; echo done; exit 4"), "j1.1", 30))
	file := filepath.Join(home, ".ansible_async", "j1.1")
	want := "{'changed': True, 'started': 1, 'finished': 0, 'ansible_job_id': 'j1.1', 'results_file': '" + file + "'}"
	if value.Repr(got) != want {
		t.Errorf("start\n got %s\nwant %s", value.Repr(got), want)
	}
	s := jobStatus(t, l, "j1.1")
	if field(s, "finished") != 0 || field(s, "started") != 1 || field(s, "_play") != nil {
		t.Errorf("while it runs: %s", value.Repr(s))
	}
	s = awaitJob(t, l, "j1.1")
	if field(s, "stdout") != "done" || field(s, "rc") != 4 || field(s, "failed") != true || field(s, "ansible_job_id") != "j1.1" {
		t.Errorf("result: %s", value.Repr(s))
	}
	for path, mode := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", path, info, err)
		}
	}
	run(t, l, request("async_status", "jid", "j1.1", "mode", "cleanup"))
	if s := jobStatus(t, l, "j1.1"); field(s, "msg") != "could not find job" || field(s, "failed") != true {
		t.Errorf("after cleanup: %s", value.Repr(s))
	}
}

func TestAsyncJobSurvivesAgentAndLink(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := startAgent(t, home)
	l := openStream(t, p)
	run(t, l, detached(request("shell", "_raw_params", "sleep 0.5; echo still here"), "j2", 30))
	syscall.Kill(l.Hello().PID, syscall.SIGKILL)
	l.Close()
	second := openStream(t, startAgent(t, home))
	defer second.Close()
	if s := awaitJob(t, second, "j2"); field(s, "stdout") != "still here" {
		t.Errorf("got %s", value.Repr(s))
	}
}

func TestAsyncLimitEndsEverything(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	// One child in the command's group, one in a session of its own, one whose
	// parent has ended, one that ignores SIGTERM.
	line := "cd " + home + "; sleep 71 & echo $! > a; setsid sleep 72 & (setsid sleep 73 & echo $! > b); sh -c 'trap \"\" TERM; sleep 74; sleep 75' & echo $! > c; wait"
	began := time.Now()
	run(t, l, detached(request("shell", "_raw_params", line), "j3", 3))
	s := awaitJob(t, l, "j3")
	if field(s, "failed") != true || field(s, "msg") != "async task did not complete within the requested time - 3s" {
		t.Errorf("got %s", value.Repr(s))
	}
	if took := time.Since(began); took > 40*time.Second {
		t.Errorf("took %s", took)
	}
	for _, name := range []string{"a", "b", "c"} {
		if pid := pidIn(t, filepath.Join(home, name)); running(pid) {
			t.Errorf("process %s (%d) still runs", name, pid)
		}
	}
	left := withHome(t, home, l.Hello().PID)
	for range 300 { // the wrapper itself is about to end
		if len(left) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
		left = withHome(t, home, l.Hello().PID)
	}
	t.Errorf("left: %v", left)
}

func pidIn(t *testing.T, path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func running(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// withHome lists the processes that have this home folder in their environment,
// except one.
func withHome(t *testing.T, home string, except int) []string {
	t.Helper()
	var left []string
	entries, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, e := range entries {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(e)))
		env, err := os.ReadFile(e)
		if err == nil && pid != except && strings.Contains(string(env), "HOME="+home+"\x00") && running(pid) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(e), "cmdline"))
			left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return left
}

func TestAsyncStatusIsNeverHalfWritten(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	file := filepath.Join(home, ".ansible_async", "j4")
	big := strings.Repeat("x", 2<<20)
	run(t, l, detached(request("ping", "data", big), "j4", 30))
	for began := time.Now(); time.Since(began) < time.Minute; {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s map[string]any
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatalf("%d bytes: %v", len(data), err)
		}
		if s["finished"] == 1.0 {
			if s["ping"] != big {
				t.Error("the result is not whole")
			}
			return
		}
	}
	t.Error("the job did not finish")
}

func TestAsyncWrapperKilled(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	run(t, l, detached(request("command", "_raw_params", "sleep 30"), "j5", 60))
	data, err := os.ReadFile(filepath.Join(home, ".ansible_async", "j5"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Play struct{ PID int } `json:"_play"`
	}
	if err := json.Unmarshal(data, &s); err != nil || s.Play.PID == 0 {
		t.Fatalf("%s: %v", data, err)
	}
	syscall.Kill(s.Play.PID, syscall.SIGKILL)
	got := awaitJob(t, l, "j5")
	if field(got, "failed") != true || !strings.Contains(value.Str(field(got, "msg")), "the async job was lost") {
		t.Errorf("got %s", value.Repr(got))
	}
}

func TestAsyncScriptTakesItsBodyAlong(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	c := detached(request("script", "_raw_params", "dir/hello.sh a 'b  c'"), "j6", 30)
	if _, err := l.Call(t.Context(), c, strings.NewReader("#!/bin/sh\nsleep 0.2\necho $# \"$2\" $(basename $0)\n"), nil); err != nil {
		t.Fatal(err)
	}
	if s := awaitJob(t, l, "j6"); field(s, "stdout") != "2 b  c hello.sh\n" {
		t.Errorf("got %s", value.Repr(s))
	}
}

func TestAsyncContentThatBreaksOff(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	c := detached(request("script", "_raw_params", "x.sh"), "j7", 30)
	body := io.MultiReader(strings.NewReader("#!/bin/sh\ntouch "+home+"/ran\n"), broken{errors.New("disk on fire")})
	if _, err := l.Call(t.Context(), c, body, nil); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("got %v", err)
	}
	time.Sleep(300 * time.Millisecond)
	if exists(filepath.Join(home, "ran")) || exists(filepath.Join(home, ".ansible_async", "j7")) {
		t.Error("half a script ran")
	}
}

func TestT12AsyncBytesArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	all := make([]byte, 0, 255)
	for c := 1; c < 256; c++ {
		all = append(all, byte(c))
	}
	c := detached(request("command", "argv", value.NewList("sh", "-c", `printf "%s|%s" "$X" "$1"`, "-", string(all)), "expand_argument_vars", false), "j8", 30)
	c.Env = []string{"X=" + string(all)}
	run(t, l, c)
	if s := awaitJob(t, l, "j8"); field(s, "stdout") != string(all)+"|"+string(all) {
		t.Errorf("got %s", value.Repr(s))
	}
}

// TestT10JobIDs: a job's id is data; one that is no plain name starts, reads and
// removes nothing.
func TestT10JobIDs(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	for _, jid := range []string{"", "..", ".x", "a/b", "../x", "a b", "x;rm -rf ~", "x; touch CANARY", "$(touch CANARY)", "../../etc/passwd", "a\x00b", strings.Repeat("x", 129), "ü", "-\n"} {
		got := run(t, l, detached(request("ping"), jid, 5))
		if field(got, "failed") != true || !strings.Contains(value.Str(field(got, "msg")), "as a job id") {
			t.Errorf("%q: %s", jid, value.Repr(got))
		}
		got = run(t, l, request("async_status", "jid", jid, "mode", "cleanup"))
		if field(got, "msg") != "could not find job" {
			t.Errorf("%q: %s", jid, value.Repr(got))
		}
	}
	if _, err := os.Stat(filepath.Join(home, ".ansible_async")); err == nil {
		t.Error("a bad job id made a folder")
	}
	if exists(filepath.Join(home, "CANARY")) {
		t.Error("a job id ran")
	}
}

// TestAsyncHundredsOfJobs: they run at the same time, each has its own result,
// and cleanup removes every file.
func TestAsyncHundredsOfJobs(t *testing.T) {
	t.Parallel()
	const n = 200
	l, home := openAgent(t)
	for i := range n {
		jid := fmt.Sprintf("j7.%d", i)
		got := run(t, l, detached(request("command", "_raw_params", fmt.Sprintf("echo %d", i)), jid, 60))
		if field(got, "started") != 1 {
			t.Fatalf("%s: %s", jid, value.Repr(got))
		}
	}
	for i := range n {
		jid := fmt.Sprintf("j7.%d", i)
		if s := awaitJob(t, l, jid); field(s, "stdout") != fmt.Sprint(i) {
			t.Errorf("%s: %s", jid, value.Repr(s))
		}
		run(t, l, request("async_status", "jid", jid, "mode", "cleanup"))
	}
	if left, _ := os.ReadDir(filepath.Join(home, ".ansible_async")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestAsyncResultLargerThanAFrame: it is sent in parts.
func TestAsyncResultLargerThanAFrame(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	run(t, l, detached(request("shell", "_raw_params", "head -c 5000000 /dev/zero | tr '\\0' x"), "j8.1", 60))
	if out, _ := field(awaitJob(t, l, "j8.1"), "stdout").(string); len(out) != 5000000 || strings.Trim(out, "x") != "" {
		t.Errorf("%d bytes came back", len(out))
	}
}

// TestAsyncSweep: the next job removes what is older than a week and has ended;
// running jobs and files of other kinds stay.
func TestAsyncSweep(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	dir := filepath.Join(home, ".ansible_async")
	for _, jid := range []string{"j9.old", "j9.young"} {
		run(t, l, detached(request("command", "_raw_params", "true"), jid, 60))
		awaitJob(t, l, jid)
	}
	run(t, l, detached(request("command", "_raw_params", "sleep 60"), "j9.running", 120))
	for _, name := range []string{"notes", ".job-123", "j9.old", "j9.running"} {
		path := filepath.Join(dir, name)
		if strings.HasPrefix(name, "n") || strings.HasPrefix(name, ".") {
			if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		old := time.Now().Add(-8 * 24 * time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	run(t, l, detached(request("command", "_raw_params", "true"), "j9.last", 60))
	awaitJob(t, l, "j9.last")
	var names []string
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), "j9.last j9.running j9.young notes"; got != want {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
	run(t, l, request("play_jobs", "mode", "kill", "jid", "j9.running"))
}

// TestAsyncNoLogResultIsGivenOnce: the file is for its owner alone, a listing
// shows nothing of it, and it is censored once read (T4).
func TestAsyncNoLogResultIsGivenOnce(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	c := detached(request("command", "_raw_params", "echo CANARY-1"), "j10.1", 60)
	c.NoLog = true
	run(t, l, c)
	run(t, l, request("play_jobs", "mode", "wait", "jid", "j10.1"))
	path := filepath.Join(home, ".ansible_async", "j10.1")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for _, mode := range []string{"list", "show"} {
		if shown := value.Repr(run(t, l, request("play_jobs", "mode", mode, "jid", "j10.1"))); strings.Contains(shown, "CANARY") {
			t.Errorf("%s shows the result: %s", mode, shown)
		}
	}
	if s := jobStatus(t, l, "j10.1"); field(s, "stdout") != "CANARY-1" {
		t.Errorf("the result: %s", value.Repr(s))
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), "CANARY") || !strings.Contains(string(data), "has been hidden") {
		t.Errorf("the file afterwards: %s %v", data, err)
	}
	if s := jobStatus(t, l, "j10.1"); field(s, "finished") != 1 || strings.Contains(value.Repr(s), "CANARY") {
		t.Errorf("read again: %s", value.Repr(s))
	}
}

// TestAsyncKill: the wrapper ends everything; what a wrapper that was killed
// left running is ended too; a job of unknown origin is not touched.
func TestAsyncKill(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	for i, killWrapper := range []bool{false, true} {
		jid := fmt.Sprintf("j11.%d", i)
		pids := filepath.Join(home, jid+".pids")
		run(t, l, detached(request("shell", "_raw_params", "setsid sleep 120 & sleep 121 & echo $! $$ >"+pids+"; wait"), jid, 300))
		var child, shell int
		for {
			data, _ := os.ReadFile(pids)
			if n, _ := fmt.Sscan(string(data), &child, &shell); n == 2 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if killWrapper {
			wrapper, err := unix.Getsid(child)
			if err != nil {
				t.Fatal(err)
			}
			_ = syscall.Kill(wrapper, syscall.SIGKILL)
			run(t, l, request("play_jobs", "mode", "wait", "jid", jid))
		}
		run(t, l, request("play_jobs", "mode", "kill", "jid", jid))
		for _, pid := range []int{child, shell} {
			if running(pid) {
				t.Errorf("%s: process %d still runs", jid, pid)
			}
		}
	}
	foreign := filepath.Join(home, ".ansible_async", "j11.foreign")
	if err := os.WriteFile(foreign, []byte(`{"started": 1, "finished": 0, "ansible_job_id": "j11.foreign"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, l, request("play_jobs", "mode", "kill", "jid", "j11.foreign"))
	if field(got, "failed") != true {
		t.Errorf("%s", value.Repr(got))
	}
}

// TestAsyncEnvironmentIsTheModulesAlone: the wrapper, which lives as long as the
// job, does not have the task's variables in its own environment (T5).
func TestAsyncEnvironmentIsTheModulesAlone(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	c := detached(request("shell", "_raw_params", `cat "/proc/$PPID/environ"; printf "<%s>" "$SECRET"`), "j12.1", 60)
	c.Env = []string{"SECRET=CANARY-2"}
	run(t, l, c)
	if out, _ := field(awaitJob(t, l, "j12.1"), "stdout").(string); strings.Count(out, "CANARY-2") != 1 || !strings.HasSuffix(out, "<CANARY-2>") {
		t.Errorf("got %q", out)
	}
}
