package contract

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"play/connection"
	"play/connection/agents"
	"play/connection/link"
	"play/connection/start"
	"play/modules"
	"play/modules/agent"
	"play/modules/wire"
)

// AgentCommand is the first argument with which a test binary serves as the
// agent; its TestMain gives it to Agent.
const AgentCommand = "play-agent"

// Agent serves as the agent when the test binary was started as one; else it
// returns at once.
func Agent() {
	if len(os.Args) < 2 || os.Args[1] != AgentCommand {
		return
	}
	home := os.Getenv("HOME")
	list := append(modules.All(), modules.Define("contract_echo", "sends its content back", echo))
	slices.SortFunc(list, func(a, b modules.Module) int { return strings.Compare(a.Name, b.Name) })
	err := agent.Serve(context.Background(), os.Stdin, os.Stdout, agent.Config{
		Modules: list, Web: modules.HTTP, Env: os.Environ(), Home: home, Dir: home, TmpParents: []string{home},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// echo sends its content back and tells how much it was.
func echo(c *modules.Call, _ *struct{}) (*modules.Result, error) {
	n, err := io.Copy(c.Content, c.Body)
	if err != nil {
		return nil, err
	}
	return modules.NewResult(false).With("size", int(n)), nil
}

// Binary is the running test binary as the agent.
func Binary(t *testing.T) start.Agents {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return agents.NewSelf(self, AgentCommand)
}

// Links runs the contract of an agent that was started over a connection.
func Links(t *testing.T, p Peer) {
	cases := []struct {
		name string
		run  func(*testing.T, Peer)
	}{
		{"hello", Hello},
		{"commands", commands},
		{"ten megabytes both ways", bigContent},
		{"ten megabytes of output", bigOutput},
		{"many calls at once", manyCalls},
		{"live output", liveOutput},
		{"cancel", cancelCall},
		{"lost agent", lostAgent},
		{"closing ends what runs", closeEnds},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, p)
		})
	}
}

// agentOn starts the agent on the peer.
func (p Peer) agentOn(t *testing.T) (context.Context, connection.Link) {
	t.Helper()
	ctx, tr := p.connect(t)
	s, err := start.Agent(ctx, tr, Binary(t), start.Options{Host: "peer"})
	if err != nil {
		t.Fatalf("cannot start the agent: %v", err)
	}
	l, err := link.Open(ctx, s, "peer")
	if err != nil {
		t.Fatalf("cannot speak with the agent: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	return ctx, l
}

// result is what the cases read of a module's result.
type result struct {
	Stdout, Stderr, Msg string
	RC, Size            int
	Failed              bool
}

// call runs a module.
func call(ctx context.Context, l connection.Link, c *wire.Call, body io.Reader, out func([]byte)) (*result, error) {
	reply, err := l.Call(ctx, c, body, out)
	if err != nil {
		return nil, err
	}
	var r result
	if err := json.Unmarshal(reply.Result, &r); err != nil {
		return nil, fmt.Errorf("cannot read the result %q: %w", reply.Result, err)
	}
	return &r, nil
}

// shell is a call of the shell module.
func shell(line string) *wire.Call {
	args, err := json.Marshal(map[string]string{"_raw_params": line})
	if err != nil {
		panic(err) // text always has a JSON form
	}
	return &wire.Call{Module: "shell", Args: args}
}

// Hello checks that the agent starts and tells who it is.
func Hello(t *testing.T, p Peer) {
	t.Helper()
	_, l := p.agentOn(t)
	h := l.Hello()
	if h.Version != wire.Version || h.OS != runtime.GOOS || h.Arch != runtime.GOARCH || h.PID <= 1 || h.Home == "" {
		t.Errorf("got %+v", h)
	}
}

func commands(t *testing.T, p Peer) {
	ctx, l := p.agentOn(t)
	for want := range 3 {
		r, err := call(ctx, l, shell(fmt.Sprintf("echo out; echo err >&2; exit %d", want)), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Stdout != "out" || r.Stderr != "err" || r.RC != want || r.Failed != (want != 0) {
			t.Errorf("got %+v, want status %d", r, want)
		}
	}
}

func bigContent(t *testing.T, p Peer) {
	ctx, l := p.agentOn(t)
	content := bytes.Repeat([]byte("\x00play-agent\n\xff 0123456"), 10<<20/20)
	sum := sha256.New()
	r, err := call(ctx, l, &wire.Call{Module: "contract_echo", Args: []byte("{}"), Sink: sum}, bytes.NewReader(content), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := sha256.Sum256(content); r.Size != len(content) || !bytes.Equal(sum.Sum(nil), want[:]) {
		t.Errorf("the content came back changed: %+v", r)
	}
}

func bigOutput(t *testing.T, p Peer) {
	ctx, l := p.agentOn(t)
	r, err := call(ctx, l, shell("head -c 10485760 /dev/zero | tr '\\0' x"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Stdout) != 10<<20 || strings.Trim(r.Stdout, "x") != "" {
		t.Errorf("%d bytes of output, want 10 MiB", len(r.Stdout))
	}
}

func manyCalls(t *testing.T, p Peer) {
	ctx, l := p.agentOn(t)
	// Each waits for all others.
	const line = `touch "$HOME/many.%[1]d"; until [ $(ls "$HOME" | grep -c "^many") -ge 30 ]; do sleep 0.1; done; echo %[1]d`
	var wait sync.WaitGroup
	for i := range 30 {
		wait.Go(func() {
			r, err := call(ctx, l, shell(fmt.Sprintf(line, i)), nil, nil)
			if err != nil || r.Stdout != fmt.Sprint(i) {
				t.Errorf("call %d: %+v, %v", i, r, err)
			}
		})
	}
	wait.Wait()
}

// liveOutput: what a command prints is seen while it runs.
func liveOutput(t *testing.T, p Peer) {
	ctx, l := p.agentOn(t)
	early := make(chan struct{})
	var once sync.Once
	done := make(chan error, 1)
	go func() {
		_, err := call(ctx, l, shell("echo early; cat; sleep 100"), nil, func(b []byte) {
			if strings.Contains(string(b), "early") {
				once.Do(func() { close(early) })
			}
		})
		done <- err
	}()
	select {
	case <-early:
	case err := <-done:
		t.Errorf("the command ended (%v) before its output was seen", err)
	}
}

// running waits until the command has told its process id in a file.
func running(ctx context.Context, t *testing.T, l connection.Link, file string) string {
	t.Helper()
	r, err := call(ctx, l, shell(fmt.Sprintf("while ! [ -s %[1]s ]; do sleep 0.05; done; cat %[1]s", file)), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Stdout
}

// gone waits until a process does not run any more.
func gone(ctx context.Context, t *testing.T, l connection.Link, pid string) {
	t.Helper()
	for range 1200 {
		r, err := call(ctx, l, shell("kill -0 "+pid), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.RC != 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("process %s still runs", pid)
}

func cancelCall(t *testing.T, p Peer) {
	ctx, l := p.agentOn(t)
	stopped, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := call(stopped, l, shell("echo $$ >$HOME/cancel.pid; sleep 60"), nil, nil)
		done <- err
	}()
	pid := running(ctx, t, l, "$HOME/cancel.pid")
	cancel()
	select {
	case err := <-done:
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("a cancelled call did not return")
	}
	gone(ctx, t, l, pid)
}

func lostAgent(t *testing.T, p Peer) {
	ctx, l := p.agentOn(t)
	began := time.Now()
	_, err := call(ctx, l, shell(fmt.Sprintf("kill -9 %d; sleep 3", l.Hello().PID)), nil, nil)
	var unreachable *connection.UnreachableError
	if !errors.As(err, &unreachable) {
		t.Errorf("got %v, want an UnreachableError", err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s to notice", took)
	}
	if _, err := call(ctx, l, shell("true"), nil, nil); !errors.As(err, &unreachable) {
		t.Errorf("a later call: %v, want an UnreachableError", err)
	}
}

// closeEnds: work that is not asynchronous ends with its controller.
func closeEnds(t *testing.T, p Peer) {
	ctx, watcher := p.agentOn(t)
	_, l := p.agentOn(t)
	go call(ctx, l, shell("echo $$ >$HOME/close.pid; sleep 60"), nil, nil)
	pid := running(ctx, t, watcher, "$HOME/close.pid")
	l.Close()
	gone(ctx, t, watcher, pid)
}
