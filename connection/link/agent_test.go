package link_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"play/connection"
	"play/connection/link"
	"play/modules"
	"play/modules/agent"
	"play/modules/value"
	"play/modules/wire"
)

func TestMain(m *testing.M) {
	if os.Getenv("LINK_TEST_AGENT") != "" && len(os.Args) > 1 && os.Args[1] == "agent" {
		os.Exit(agent.Main(os.Args[2:], modules.All(), modules.HTTP))
	}
	os.Exit(m.Run())
}

// process is an agent that runs as a real process.
type process struct {
	io.WriteCloser
	io.Reader
	cmd    *exec.Cmd
	stderr *connection.Bounded
	once   sync.Once
}

func (p *process) Stderr() string { return p.stderr.String() }

func (p *process) Wait() (int, error) {
	err := p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode(), err
}

func (p *process) Close() error {
	p.once.Do(func() {
		p.WriteCloser.Close()
		p.cmd.Wait()
	})
	return nil
}

// startAgent starts this test's executable as an agent, with a home of its own;
// before are the words of a program that starts it, with the executable's path
// added to them.
func startAgent(t testing.TB, home string, before ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words := []string{exe, "agent", "serve"}
	if len(before) > 0 {
		words = append(before, exe)
	}
	p := &process{cmd: exec.Command(words[0], words[1:]...), stderr: &connection.Bounded{}}
	p.cmd.Env = append(os.Environ(), "LINK_TEST_AGENT=1", "HOME="+home, "TMPDIR="+home)
	p.cmd.Dir, p.cmd.Stderr = home, p.stderr
	if p.WriteCloser, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if p.Reader, err = p.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func openStream(t testing.TB, s connection.Stream) connection.Link {
	t.Helper()
	l, err := link.Open(t.Context(), s, "web1")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func openAgent(t testing.TB) (connection.Link, string) {
	t.Helper()
	home := t.TempDir()
	l := openStream(t, startAgent(t, home))
	t.Cleanup(func() { l.Close() })
	return l, home
}

// request makes a call from alternating names and values.
func request(module string, args ...any) *wire.Call {
	text, err := value.AppendJSON(nil, value.DictOf(args...), value.WireJSON())
	if err != nil {
		panic(err)
	}
	return &wire.Call{Module: module, Args: text}
}

func run(t testing.TB, l connection.Link, c *wire.Call) *value.Dict {
	t.Helper()
	reply, err := l.Call(t.Context(), c, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result(t, reply)
}

func result(t testing.TB, r *wire.Reply) *value.Dict {
	t.Helper()
	v, err := value.DecodeJSON(r.Result)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Dict)
}

func field(d *value.Dict, name string) any {
	v, _ := d.Get(name)
	return v
}

func TestHelloAndPing(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	h := l.Hello()
	if h.Version != wire.Version || h.Home != home || h.UID != os.Getuid() || h.PID == os.Getpid() || h.PID == 0 {
		t.Errorf("hello %+v", h)
	}
	info, err := os.Stat(h.TmpDir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("private folder %q: %v %v", h.TmpDir, info, err)
	}
	got := run(t, l, request("ansible.builtin.ping"))
	if want := "{'changed': False, 'ping': 'pong', 'invocation': {'module_args': {'data': 'pong'}}}"; value.Repr(got) != want {
		t.Errorf("got %s\nwant %s", value.Repr(got), want)
	}
}

func TestTmpDirGoesWithTheAgent(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	dir := l.Hello().TmpDir
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}

func TestCommandOverLink(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	got := run(t, l, request("command", "_raw_params", "sh -c 'echo $0; echo err >&2; pwd' $HOME"))
	if out := field(got, "stdout"); out != home+"\n"+home {
		t.Errorf("stdout %q", out)
	}
	if field(got, "stderr") != "err" || field(got, "rc") != 0 || field(got, "changed") != true {
		t.Errorf("got %s", value.Repr(got))
	}
}

func TestPanicIsAFailure(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	got := run(t, l, request("ping", "data", "crash"))
	if field(got, "failed") != true || !strings.Contains(value.Str(field(got, "exception")), "runPing") {
		t.Errorf("got %s", value.Repr(got))
	}
	if got := run(t, l, request("ping")); field(got, "ping") != "pong" {
		t.Errorf("after the panic: %s", value.Repr(got))
	}
}

func TestUnknownModule(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	got := run(t, l, request("pnig"))
	if field(got, "failed") != true || !strings.Contains(value.Str(field(got, "msg")), `no module "pnig"`) {
		t.Errorf("got %s", value.Repr(got))
	}
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	got := run(t, l, request("ping", "dat", "x"))
	if want := "Unsupported parameters for (ping) module: dat. Supported parameters include: data."; field(got, "msg") != want {
		t.Errorf("msg %q", field(got, "msg"))
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	var wait sync.WaitGroup
	for i := range 200 {
		wait.Go(func() {
			want := fmt.Sprintf("n%d", i)
			reply, err := l.Call(t.Context(), request("ping", "data", want), nil, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if got := field(result(t, reply), "ping"); got != want {
				t.Errorf("got %v, want %s", got, want)
			}
		})
	}
	wait.Wait()
}

func TestSlowCallsDoNotStopOthers(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wait sync.WaitGroup
	// Content that nobody reads: the window fills, and no more.
	wait.Go(func() {
		l.Call(ctx, request("command", "_raw_params", "sleep 60"), endless{}, nil)
	})
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	run(t, l, request("ping"))
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("ping took %s", took)
	}
	cancel()
	wait.Wait()
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestCancelEndsTheProcessGroup(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	started := filepath.Join(home, "started")
	go func() {
		for !exists(started) {
			time.Sleep(5 * time.Millisecond)
		}
		cancel(why)
	}()
	_, err := l.Call(ctx, request("shell", "_raw_params", "sleep 300 & echo $! >pid; mv pid "+started+"; wait"), nil, nil)
	if !errors.Is(err, why) {
		t.Fatalf("got %v", err)
	}
	if !ends(pidIn(t, started)) {
		t.Error("a grandchild survived the cancel")
	}
	run(t, l, request("ping"))
}

// ends waits for the end of a process.
func ends(pid int) bool {
	for range 3000 {
		if !running(pid) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	c := request("command", "_raw_params", "sleep 20")
	c.Timeout = 0.2
	began := time.Now()
	got := run(t, l, c)
	if field(got, "failed") != true || !strings.Contains(value.Str(field(got, "msg")), "expected time frame (0.2)") {
		t.Errorf("got %s", value.Repr(got))
	}
	if time.Since(began) > 15*time.Second {
		t.Errorf("took %s", time.Since(began))
	}
}

// TestLiveOutput: the last line of a running command is seen, and nothing of one
// with no_log.
func TestLiveOutput(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	for name, noLog := range map[string]bool{"shown": false, "no_log": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			first := make(chan struct{})
			var once sync.Once
			if noLog {
				once.Do(func() { close(first) })
			}
			call := request("shell", "_raw_params", "echo zero; echo one >&2; read x < "+fifo(t, first)+"; echo two")
			call.NoLog = noLog
			reply, err := l.Call(t.Context(), call, nil, func(line []byte) {
				lines = append(lines, string(line)) // which one is the last is for the two pipes to say
				once.Do(func() { close(first) })
			})
			if err != nil || field(result(t, reply), "stdout") != "zero\ntwo" {
				t.Fatalf("result %+v, %v", reply, err)
			}
			if noLog != (len(lines) == 0) || strings.Contains(strings.Join(lines, ""), "\n") {
				t.Errorf("lines %q", lines)
			}
		})
	}
}

// fifo makes a pipe that gives a line once open is closed.
func fifo(t *testing.T, open <-chan struct{}) string {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := exec.Command("mkfifo", path).Run(); err != nil {
		t.Fatal(err)
	}
	go func() {
		<-open
		os.WriteFile(path, []byte("go\n"), 0o600)
	}()
	return path
}

func TestBigResultAndArguments(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	big := strings.Repeat("0123456789abcdef", 300<<10) // 4.8 MB
	got := run(t, l, request("ping", "data", big))
	if field(got, "ping") != big {
		t.Errorf("%d bytes came back", len(value.Str(field(got, "ping"))))
	}
}

func TestLostAgent(t *testing.T) {
	t.Parallel()
	l, _ := openAgent(t)
	_, err := l.Call(t.Context(), request("shell", "_raw_params", "kill -9 $PPID; sleep 5"), nil, nil)
	var lost *connection.UnreachableError
	if !errors.As(err, &lost) || lost.Host != "web1" {
		t.Fatalf("got %v", err)
	}
	_, err = l.Call(t.Context(), request("ping"), nil, nil)
	if !errors.As(err, &lost) {
		t.Fatalf("the next call: %v", err)
	}
}

// TestKilledAgentLeavesNothing: what a killed agent had running ends, and its
// folder and the file it was about to replace go; a detached job stays.
func TestKilledAgentLeavesNothing(t *testing.T) {
	t.Parallel()
	l, home := openAgent(t)
	run(t, l, detached(request("command", "_raw_params", "sleep 301.7"), "j1.k", 600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	started := filepath.Join(home, "started")
	go l.Call(ctx, request("shell", "_raw_params", "trap '' TERM; sleep 302.7 & echo $! >pid; mv pid "+started+"; wait; sleep 303.7"), nil, nil)
	for !exists(started) {
		time.Sleep(10 * time.Millisecond)
	}
	child := pidIn(t, started)
	if err := syscall.Kill(l.Hello().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !ends(child) {
		t.Errorf("process %d goes on without its agent", child)
	}
	for range 1500 { // what is left is the job: its wrapper and the command
		if exists(l.Hello().TmpDir) || len(withHome(t, home, l.Hello().PID)) > 2 {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		break
	}
	left := withHome(t, home, l.Hello().PID)
	if len(left) != 2 || !strings.Contains(strings.Join(left, "\n"), "sleep 301.7") || exists(l.Hello().TmpDir) {
		t.Errorf("left: %q, folder: %t", left, exists(l.Hello().TmpDir))
	}
	second := openStream(t, startAgent(t, home))
	defer second.Close()
	run(t, second, request("play_jobs", "mode", "kill", "jid", "j1.k"))
}

// contentModule sends back the content it gets, and its hash.
func contentModule() modules.Module {
	type args struct {
		Skip bool `arg:"skip,default=no"`
	}
	return modules.Define("content", "Send content back", func(c *modules.Call, a *args) (*modules.Result, error) {
		if a.Skip {
			return modules.NewResult(false), nil
		}
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(h, c.Content), c.Body)
		if err != nil {
			return nil, err
		}
		return modules.NewResult(true).With("size", int(n)).With("sum", fmt.Sprintf("%x", h.Sum(nil))), nil
	})
}
