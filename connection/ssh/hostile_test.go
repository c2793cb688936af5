package ssh_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"play/connection"
	"play/connection/fleet"
)

// patience is far more than anything here takes on a busy machine, and far less
// than for ever.
const patience = 40 * time.Second

// TestT13HangAtEachStep: a server that stops answering costs the connect
// time-out and that host alone.
func TestT13HangAtEachStep(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 5, fleet.Options{})
	for i, step := range []fleet.Step{fleet.HangAccept, fleet.HangKex, fleet.HangAuth} {
		if err := f.Hosts[i].SetFaults(fleet.Faults{Hang: step}); err != nil {
			t.Fatal(err)
		}
	}
	d := dialer(t)
	for i := range 3 {
		t.Run(f.Hosts[i].Name, func(t *testing.T) {
			t.Parallel()
			to := target(f, f.Hosts[i])
			to.Timeout = 500 * time.Millisecond
			began := time.Now()
			_, err := dial(t, d, to)
			wantError(t, err, "Connection timed out")
			if took := time.Since(began); took > patience {
				t.Errorf("it took %s", took)
			}
		})
	}
	if _, err := dial(t, d, target(f, f.Hosts[4])); err != nil {
		t.Errorf("a healthy host beside them: %v", err)
	}
}

// TestT13HangAfterLogin: sessions and commands that never start end with the
// caller's patience, and leave nothing behind.
func TestT13HangAfterLogin(t *testing.T) {
	t.Parallel()
	for _, step := range []fleet.Step{fleet.HangSession, fleet.HangExec} {
		f := newFleet(t, 1, fleet.Options{})
		if err := f.Hosts[0].SetFaults(fleet.Faults{Hang: step}); err != nil {
			t.Fatal(err)
		}
		tr, err := dial(t, dialer(t), target(f, f.Hosts[0]))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		if _, err := tr.Start(ctx, "echo hello"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("step %d: got %v, want the deadline", step, err)
		}
	}
}

// TestT13UnansweredSessions: each try to open a session that the server never
// answers leaves a goroutine only until the connection is closed. It runs alone,
// since it counts those of the whole process.
func TestT13UnansweredSessions(t *testing.T) {
	f := newFleet(t, 1, fleet.Options{})
	if err := f.Hosts[0].SetFaults(fleet.Faults{Hang: fleet.HangSession}); err != nil {
		t.Fatal(err)
	}
	tr, err := dial(t, dialer(t), target(f, f.Hosts[0]))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := tr.Start(ctx, "echo hello"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		cancel()
	}
	tr.Close()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		buf := make([]byte, 1<<20)
		stacks := string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(stacks, "ssh.openSession") {
			return
		}
		if time.Since(begun) > patience {
			t.Fatalf("goroutines are left:\n%s", stacks)
		}
	}
}

// TestT13Floods: text before the login costs bounded time and memory. It runs
// alone, since it measures the memory of the whole process.
func TestT13Floods(t *testing.T) {
	f := newFleet(t, 2, fleet.Options{})
	floods := []fleet.Faults{{BannerBytes: 1 << 30}, {VersionFlood: true}}
	for i, faults := range floods {
		if err := f.Hosts[i].SetFaults(faults); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		_, err := dial(t, dialer(t), target(f, f.Hosts[i]))
		wantError(t, err, "Failed to connect to the host via ssh: ")
		runtime.ReadMemStats(&after)
		if took := time.Since(began); took > patience {
			t.Errorf("flood %d took %s", i, took)
		}
		if used := int64(after.HeapInuse) - int64(before.HeapInuse); used > 64<<20 {
			t.Errorf("flood %d holds %d MB", i, used>>20)
		}
	}
}

func TestBannerIsPassedOver(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	if err := f.Hosts[0].SetFaults(fleet.Faults{BannerBytes: 10000}); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, dialer(t), target(f, f.Hosts[0])); err != nil {
		t.Error(err)
	}
}

func TestRefusedAndUnresolved(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	h := f.Hosts[0]
	if err := h.SetFaults(fleet.Faults{Refuse: true}); err != nil {
		t.Fatal(err)
	}
	_, err := dial(t, dialer(t), target(f, h))
	wantError(t, err, "Failed to connect to the host via ssh: ssh: connect to host "+h.Address+" port", "Connection refused")
	var unreachable *connection.UnreachableError
	if !errors.As(err, &unreachable) || unreachable.Host != "web1" {
		t.Errorf("got %#v, want an UnreachableError of web1", err)
	}
	to := target(f, h)
	to.Address = "no-such-host.invalid"
	_, err = dial(t, dialer(t), to)
	wantError(t, err, "Could not resolve hostname no-such-host.invalid")
}

// TestRetries: connection failures are tried again, and a host that comes back
// meanwhile is reached.
func TestRetries(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	h := f.Hosts[0]
	if err := h.SetFaults(fleet.Faults{Refuse: true}); err != nil {
		t.Fatal(err)
	}
	said := &lines{}
	d := dialer(t)
	d.Trace = func(level int, host, line string) {
		said.add(level, host, line)
		if said.count("ssh_retry") == 2 {
			_ = h.SetFaults(fleet.Faults{}) // a failure shows below
		}
	}
	to := target(f, h)
	to.Retries = 2
	if _, err := dial(t, d, to); err != nil {
		t.Error(err)
	}
	if n := said.count("ssh_retry"); n != 2 {
		t.Errorf("%d retries, want 2", n)
	}
}

// TestDropMidOutput: a connection that is cut ends reads and waits, with an
// UnreachableError.
func TestDropMidOutput(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	if err := f.Hosts[0].SetFaults(fleet.Faults{DropAfter: 1000}); err != nil {
		t.Fatal(err)
	}
	tr, err := dial(t, dialer(t), target(f, f.Hosts[0]))
	if err != nil {
		t.Fatal(err)
	}
	s, err := tr.Start(t.Context(), "while echo line; do :; done")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(s)
	if len(got) > 1000 {
		t.Errorf("%d bytes arrived, want 1000 at most", len(got))
	}
	_, err = s.Wait()
	var unreachable *connection.UnreachableError
	if !errors.As(err, &unreachable) {
		t.Errorf("got %v, want an UnreachableError", err)
	}
}

// alive starts a cat on a host that is asked for a sign of life each second and
// given up after so many questions without an answer.
func alive(t *testing.T, most string) (*fleet.Host, connection.Stream) {
	t.Helper()
	f := newFleet(t, 1, fleet.Options{})
	to := target(f, f.Hosts[0])
	to.Options["serveraliveinterval"], to.Options["serveralivecountmax"] = "1", most
	tr, err := dial(t, dialer(t), to)
	if err != nil {
		t.Fatal(err)
	}
	s, err := tr.Start(t.Context(), "cat")
	if err != nil {
		t.Fatal(err)
	}
	return f.Hosts[0], s
}

// TestT16Stall: a host whose network stands still for a moment is not given up.
func TestT16Stall(t *testing.T) {
	t.Parallel()
	h, s := alive(t, "60")
	h.Freeze(true)
	time.Sleep(1500 * time.Millisecond)
	h.Freeze(false)
	if _, err := io.WriteString(s, "still here"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	if _, err := io.ReadFull(s, buf); err != nil || string(buf) != "still here" {
		t.Fatalf("after a stall: %q, %v", buf, err)
	}
}

// TestKeepAlive: a host whose network is gone is noticed.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	h, s := alive(t, "1")
	h.Freeze(true)
	began := time.Now()
	if _, err := s.Wait(); err == nil {
		t.Error("no error although the host is gone")
	}
	if took := time.Since(began); took > patience {
		t.Errorf("it took %s to notice", took)
	}
}

// TestT16MaxSessions: where a server allows one session on a connection, more
// connections are made.
func TestT16MaxSessions(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	if err := f.Hosts[0].SetFaults(fleet.Faults{MaxSessions: 1}); err != nil {
		t.Fatal(err)
	}
	tr, err := dial(t, dialer(t), target(f, f.Hosts[0]))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := tr.Start(t.Context(), "cat"); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.Hosts[0].Logins(); n != 3 {
		t.Errorf("%d logins, want 3", n)
	}
}
