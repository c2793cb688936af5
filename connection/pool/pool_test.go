package pool_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"play/connection"
	"play/connection/contract"
	"play/connection/fleet"
	"play/connection/local"
	"play/connection/pool"
	"play/connection/ssh"
	"play/connection/start"
	"play/modules/wire"
)

func TestMain(m *testing.M) { os.Exit(contract.Main(m)) }

// agent stands in for play-agent: it says its process id, then answers each
// line; "die" ends it.
const agent = `#!/bin/sh
echo $$
while read -r line; do
  [ "$line" = die ] && exit 1
  echo "$USER $line"
done
`

// full is one that says so of itself.
var full = strings.Replace(agent, "$$", "$$ full", 1)

// agents has one script for every platform.
type agents string

func (a agents) sum() string { h := sha256.Sum256([]byte(a)); return hex.EncodeToString(h[:]) }

func (a agents) ID() string        { return a.sum()[:12] }
func (agents) Args() []string      { return []string{"serve"} }
func (agents) Platforms() []string { return nil }
func (a agents) Binary(string, string) (start.Binary, bool) {
	return start.Binary{Hash: a.sum(), Size: int64(len(a)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(string(a))), nil
	}}, true
}

// link speaks with such an agent.
type link struct {
	mu   sync.Mutex
	s    connection.Stream
	r    *bufio.Reader
	pid  string
	full bool
}

func open(ctx context.Context, s connection.Stream, host string) (connection.Link, error) {
	l := &link{s: s, r: bufio.NewReader(s)}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	pid, err := l.r.ReadString('\n')
	if err != nil {
		return nil, connection.Unreachablef(host, "no agent: %w", err)
	}
	l.pid, l.full = strings.CutSuffix(strings.TrimSpace(pid), " full")
	return l, nil
}

func (l *link) Hello() *wire.Hello { return &wire.Hello{User: l.pid, Full: l.full} }
func (l *link) Close() error       { return l.s.Close() }

func (l *link) Call(_ context.Context, call *wire.Call, _ io.Reader, _ func([]byte)) (*wire.Reply, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := io.WriteString(l.s, call.Module+"\n"); err != nil {
		return nil, connection.Unreachablef("h", "lost: %w", err)
	}
	answer, err := l.r.ReadString('\n')
	if err != nil {
		return nil, connection.Unreachablef("h", "lost: %w", err)
	}
	return &wire.Reply{Result: []byte(strings.TrimSpace(answer))}, nil
}

// setup starts a fleet and a pool for it.
func setup(t *testing.T, o fleet.Options) (*fleet.Fleet, *pool.Pool) {
	return setupWith(t, o, pool.Config{Agents: agents(agent), Open: open})
}

// setupWith is setup with a pool's agents.
func setupWith(t *testing.T, o fleet.Options, config pool.Config) (*fleet.Fleet, *pool.Pool) {
	t.Helper()
	dir, err := os.MkdirTemp("", "play-pool-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	o.Dir = dir
	f, err := fleet.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	d := &ssh.Dialer{Home: dir, User: f.User}
	near := &local.Transport{Env: append(os.Environ(), "HOME="+dir)}
	ready := *near
	ready.Agent, ready.AgentArgs = dir+"/ready", []string{"serve"}
	if err := os.WriteFile(ready.Agent, []byte(full), 0o700); err != nil {
		t.Fatal(err)
	}
	config.Dial = map[string]pool.Dial{"ssh": d.Dial, "local": near.Dial, "ready": ready.Dial}
	p := pool.New(config)
	t.Cleanup(p.Close)
	return f, p
}

func target(f *fleet.Fleet, h *fleet.Host) *connection.Target {
	return &connection.Target{
		Name: h.Name, Transport: "ssh", Address: h.Address, Port: h.Port, User: f.User, KeyFiles: []string{f.Key},
		HostKeyChecking: true, Timeout: time.Minute, Options: map[string]string{"userknownhostsfile": f.KnownHosts},
	}
}

// say makes a call and returns the answer.
func say(t *testing.T, p *pool.Pool, to *connection.Target, word string) (string, error) {
	t.Helper()
	l, err := p.Get(t.Context(), to)
	if err != nil {
		return "", err
	}
	reply, err := l.Call(t.Context(), &wire.Call{Module: word}, nil, nil)
	if err != nil {
		return "", err
	}
	return string(reply.Result), nil
}

func mustSay(t *testing.T, p *pool.Pool, to *connection.Target, word string) string {
	t.Helper()
	answer, err := say(t, p, to, word)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestOnce: however many ask, a host gets one connection and one agent a user.
func TestOnce(t *testing.T) {
	t.Parallel()
	f, p := setup(t, fleet.Options{Hosts: 3, Sudo: true})
	pids := make(map[string]bool)
	var mu sync.Mutex
	var wait sync.WaitGroup
	for i := range 60 {
		wait.Go(func() {
			to := target(f, f.Hosts[i%3])
			if i%2 == 0 {
				to.Become = &connection.Become{User: "other"}
			}
			l, err := p.Get(t.Context(), to)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			pids[l.Hello().User] = true
			mu.Unlock()
		})
	}
	wait.Wait()
	if len(pids) != 6 {
		t.Errorf("%d agents, want 6", len(pids))
	}
	for _, h := range f.Hosts {
		if n := h.Logins(); n != 1 {
			t.Errorf("%s: %d logins, want 1", h.Name, n)
		}
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	_, p := setup(t, fleet.Options{})
	if answer := mustSay(t, p, &connection.Target{Name: "localhost", Transport: "local"}, "hello"); !strings.HasSuffix(answer, "hello") {
		t.Errorf("got %q", answer)
	}
}

func TestUnknownTransport(t *testing.T) {
	t.Parallel()
	_, p := setup(t, fleet.Options{})
	_, err := p.Get(t.Context(), &connection.Target{Name: "h", Transport: "winrm"})
	var unreachable *connection.UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), `"winrm"`) {
		t.Errorf("got %v", err)
	}
}

// TestLostAgent: a call on an agent that died is unreachable; the next task gets
// a new agent over the same connection.
func TestLostAgent(t *testing.T) {
	t.Parallel()
	f, p := setup(t, fleet.Options{Hosts: 1})
	to := target(f, f.Hosts[0])
	_, err := say(t, p, to, "die")
	var unreachable *connection.UnreachableError
	if !errors.As(err, &unreachable) {
		t.Errorf("got %v", err)
	}
	mustSay(t, p, to, "again")
	if n := f.Hosts[0].Logins(); n != 1 {
		t.Errorf("%d logins, want 1", n)
	}
}

// TestLostHost: a connection that was cut is made anew for the next task.
func TestLostHost(t *testing.T) {
	t.Parallel()
	f, p := setup(t, fleet.Options{Hosts: 1, Sudo: true})
	to := target(f, f.Hosts[0])
	asOther := target(f, f.Hosts[0])
	asOther.Become = &connection.Become{User: "other"}
	mustSay(t, p, to, "hello")
	f.Hosts[0].Drop()
	if _, err := say(t, p, to, "hello"); err == nil {
		t.Error("a call succeeded on a connection that was cut")
	}
	mustSay(t, p, asOther, "hello")
	mustSay(t, p, to, "hello")
	if n := f.Hosts[0].Logins(); n != 2 {
		t.Errorf("%d logins, want 2", n)
	}
}

// TestFailureIsNotKept: a host that comes up later is reached then.
func TestFailureIsNotKept(t *testing.T) {
	t.Parallel()
	f, p := setup(t, fleet.Options{Hosts: 1})
	h := f.Hosts[0]
	if err := h.SetFaults(fleet.Faults{Refuse: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Get(t.Context(), target(f, h)); err == nil {
		t.Error("a host that refuses was reached")
	}
	if err := h.SetFaults(fleet.Faults{}); err != nil {
		t.Fatal(err)
	}
	mustSay(t, p, target(f, h), "hello")
}

func TestReset(t *testing.T) {
	t.Parallel()
	f, p := setup(t, fleet.Options{Hosts: 2, Sudo: true})
	to := target(f, f.Hosts[0])
	asOther := *to
	asOther.Become = &connection.Become{User: "other"}
	for range 2 {
		mustSay(t, p, to, "hello")
		mustSay(t, p, &asOther, "hello")
		mustSay(t, p, target(f, f.Hosts[1]), "hello")
		p.Reset(to)
	}
	if a, b := f.Hosts[0].Logins(), f.Hosts[1].Logins(); a != 2 || b != 1 {
		t.Errorf("%d and %d logins, want 2 and 1", a, b)
	}
}

// TestWrongPasswordOnce: a rejected become password is not tried again, whatever
// else asks for it.
func TestWrongPasswordOnce(t *testing.T) {
	t.Parallel()
	f, p := setup(t, fleet.Options{Hosts: 1, Sudo: true, SudoPassword: "s3cret"})
	to := target(f, f.Hosts[0])
	to.Become = &connection.Become{User: "admin", Password: "guess"}
	for range 3 {
		_, err := p.Get(t.Context(), to)
		var failed *connection.BecomeError
		if !errors.As(err, &failed) || failed.Msg != "Incorrect sudo password" {
			t.Errorf("got %v", err)
		}
	}
	if log, _ := os.ReadFile(f.SudoLog()); strings.Count(string(log), "\n") != 1 {
		t.Errorf("sudo was asked: %q", log)
	}
	to.Become = &connection.Become{User: "admin", Password: "s3cret"}
	if answer := mustSay(t, p, to, "hello"); answer != "admin hello" {
		t.Errorf("got %q", answer)
	}
}

// TestSameUser: becoming who one is already needs no sudo.
func TestSameUser(t *testing.T) {
	t.Parallel()
	f, p := setup(t, fleet.Options{Hosts: 1, Sudo: true, SudoPassword: "s3cret"})
	to := target(f, f.Hosts[0])
	to.Become = &connection.Become{User: f.User}
	mustSay(t, p, to, "hello")
	if out, err := p.Exec(t.Context(), to, "echo $USER", nil); err != nil || string(out.Stdout) != f.User+"\n" {
		t.Errorf("got %+v, %v", out, err)
	}
	mustSay(t, p, &connection.Target{Name: "localhost", Transport: "local", Become: &connection.Become{User: f.User}}, "hello")
}

// TestDamagedCopy: an agent on the host that does not come up is replaced.
func TestDamagedCopy(t *testing.T) {
	t.Parallel()
	f, p := setup(t, fleet.Options{Hosts: 1})
	h := f.Hosts[0]
	to := target(f, h)
	mustSay(t, p, to, "hello")
	p.Reset(to)
	out, err := p.Exec(t.Context(), to, "for f in ~/.cache/play/agent-*; do echo exit 3 >$f; done", nil)
	if err != nil || out.Status != 0 {
		t.Fatal(out, err)
	}
	mustSay(t, p, to, "hello")
}

func TestExec(t *testing.T) {
	t.Parallel()
	f, p := setup(t, fleet.Options{Hosts: 1, Sudo: true, SudoPassword: "s3cret"})
	to := target(f, f.Hosts[0])
	out, err := p.Exec(t.Context(), to, "cat; echo \"it's $USER\" >&2; exit 3", strings.NewReader("input"))
	if err != nil || string(out.Stdout) != "input" || out.Stderr != "it's "+f.User+"\n" || out.Status != 3 {
		t.Errorf("got %+v, %v", out, err)
	}
	to.Become = &connection.Become{User: "other", Password: "s3cret"}
	out, err = p.Exec(t.Context(), to, "echo $USER", nil)
	if err != nil || string(out.Stdout) != "other\n" || out.Status != 0 {
		t.Errorf("as another user: %+v, %v", out, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	to.Become = nil
	if _, err := p.Exec(ctx, to, "sleep 5", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

// TestCallerGivesUp: who stops waiting does not stop the others.
func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	f, p := setup(t, fleet.Options{Hosts: 1})
	if err := f.Hosts[0].SetFaults(fleet.Faults{Slow: 10 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	to := target(f, f.Hosts[0])
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := p.Get(t.Context(), to)
		done <- err
	}()
	if _, err := p.Get(ctx, to); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestClose: nothing starts after the end, and what was being started ends.
func TestClose(t *testing.T) {
	t.Parallel()
	f, p := setup(t, fleet.Options{Hosts: 2})
	if err := f.Hosts[1].SetFaults(fleet.Faults{Hang: fleet.HangOutput}); err != nil {
		t.Fatal(err)
	}
	l, err := p.Get(t.Context(), target(f, f.Hosts[0]))
	if err != nil {
		t.Fatal(err)
	}
	hung := make(chan error, 1)
	go func() {
		_, err := p.Get(t.Context(), target(f, f.Hosts[1]))
		hung <- err
	}()
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	p.Close()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("closing took %s", took)
	}
	if err := <-hung; err == nil {
		t.Error("a host that hangs was reached")
	}
	if _, err := l.Call(t.Context(), &wire.Call{Module: "hello"}, nil, nil); err == nil {
		t.Error("a call succeeded after the end")
	}
	if _, err := p.Get(t.Context(), target(f, f.Hosts[0])); err == nil {
		t.Error("a start succeeded after the end")
	}
	if n := f.Hosts[0].Logins(); n != 1 {
		t.Errorf("%d logins", n)
	}
}
