package link_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"play/connection"
	"play/connection/link"
	"play/modules"
	"play/modules/agent"
	"play/modules/wire"
)

// pipe is a stream whose far end is in this process.
type pipe struct {
	in     *io.PipeReader
	out    *io.PipeWriter
	stderr string
}

func (p *pipe) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p *pipe) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p *pipe) Stderr() string              { return p.stderr }
func (p *pipe) Wait() (int, error)          { return 0, nil }
func (p *pipe) Close() error {
	p.in.CloseWithError(io.ErrClosedPipe)
	return p.out.Close()
}

// far is the agent's end of a pipe.
type far struct {
	in  *io.PipeReader
	out *io.PipeWriter
}

func newPipe() (*pipe, *far) {
	toAgent, fromLink := io.Pipe()
	toLink, fromAgent := io.Pipe()
	return &pipe{in: toLink, out: fromLink}, &far{in: toAgent, out: fromAgent}
}

// serveOver runs a real agent with the given modules in this process.
func serveOver(t *testing.T, f *far, list ...modules.Module) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		agent.Serve(context.Background(), f.in, f.out, agent.Config{Modules: list, TmpParents: []string{t.TempDir()}})
		f.out.Close()
	}()
	t.Cleanup(func() { <-done })
}

func openContent(t *testing.T) connection.Link {
	t.Helper()
	p, f := newPipe()
	serveOver(t, f, contentModule())
	l, err := link.Open(t.Context(), p, "web1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestContentBothWays(t *testing.T) {
	t.Parallel()
	l := openContent(t)
	var wait sync.WaitGroup
	for _, size := range []int{0, 1, wire.Window, wire.Window + 1, 10 << 20} {
		wait.Go(func() {
			data := make([]byte, size)
			rand.Read(data)
			var back bytes.Buffer
			c := request("content")
			c.Sink = &back
			reply, err := l.Call(t.Context(), c, bytes.NewReader(data), nil)
			if err != nil {
				t.Error(err)
				return
			}
			if got := field(result(t, reply), "sum"); got != fmt.Sprintf("%x", sha256.Sum256(data)) {
				t.Errorf("%d bytes: the agent got others: %s", size, reply.Result)
			}
			if !bytes.Equal(back.Bytes(), data) {
				t.Errorf("%d bytes: %d came back", size, back.Len())
			}
		})
	}
	wait.Wait()
}

func TestContentNotReadAndNotWanted(t *testing.T) {
	t.Parallel()
	l := openContent(t)
	if _, err := l.Call(t.Context(), request("content", "skip", true), bytes.NewReader(make([]byte, 4<<20)), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Call(t.Context(), request("content"), bytes.NewReader(make([]byte, 4<<20)), nil); err != nil {
		t.Fatal(err)
	}
}

type broken struct{ err error }

func (b broken) Read(p []byte) (int, error) { return 0, b.err }

func TestBodyThatCannotBeRead(t *testing.T) {
	t.Parallel()
	l := openContent(t)
	why := errors.New("disk on fire")
	_, err := l.Call(t.Context(), request("content"), io.MultiReader(strings.NewReader("half"), broken{why}), nil)
	if !errors.Is(err, why) {
		t.Fatalf("got %v", err)
	}
	if _, err := l.Call(t.Context(), request("content", "skip", true), nil, nil); err != nil {
		t.Fatalf("the link is broken: %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestSinkThatFails(t *testing.T) {
	t.Parallel()
	l := openContent(t)
	c := request("content")
	c.Sink = full{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := l.Call(ctx, c, bytes.NewReader(make([]byte, 4<<20)), nil); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Fatalf("got %v", err)
	}
}

// script is a peer that plays the agent's part frame by frame.
type script struct {
	*far
	w *wire.Writer
	r *wire.Reader
}

func hostile(t *testing.T, o link.Options, play func(s *script)) (*link.Link, error) {
	t.Helper()
	p, f := newPipe()
	p.stderr = "from stderr"
	done := make(chan struct{})
	go func() {
		defer close(done)
		play(&script{far: f, w: wire.NewWriter(f.out), r: wire.NewReader(f.in)})
		f.out.Close()
		io.Copy(io.Discard, f.in)
	}()
	l, err := link.OpenWith(t.Context(), p, "web1", o)
	t.Cleanup(func() {
		if l != nil {
			l.Close()
		}
		p.Close()
		<-done
	})
	return l, err
}

func (s *script) greet(version int) {
	io.WriteString(s.out, wire.Magic)
	s.w.Write(wire.KindHello, 0, &wire.Hello{Version: version})
}

// next reads frames up to one of the kind.
func (s *script) next(kind wire.Kind) *wire.Frame {
	for {
		f, err := s.r.Next()
		if err != nil {
			return &wire.Frame{}
		}
		if f.Kind == kind {
			return f
		}
	}
}

func TestOpeningOfHostileAgents(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		play func(s *script)
		want string
	}{
		"nothing":        {func(s *script) {}, "the agent did not start: the stream ended; the host said: from stderr"},
		"noise only":     {func(s *script) { io.WriteString(s.out, "motd") }, "the stream ended"},
		"endless noise":  {func(s *script) { io.Copy(s.out, endless{}) }, "no agent answered within"},
		"silence":        {func(s *script) { s.r.Next() }, "the agent did not answer within 500ms"},
		"other version":  {func(s *script) { s.greet(7); s.next(wire.KindBye) }, "the agent speaks protocol version 7 and play speaks version 1"},
		"no hello":       {func(s *script) { io.WriteString(s.out, wire.Magic); s.w.Write(wire.KindPong, 0, nil) }, "before the hello"},
		"giant frame":    {func(s *script) { io.WriteString(s.out, wire.Magic+"\xff\xff\xff\xff") }, "4294967295 bytes"},
		"garbage":        {func(s *script) { io.WriteString(s.out, wire.Magic+"\x00\x00\x00\x02\xff\xff") }, "not CBOR"},
		"half a frame":   {func(s *script) { io.WriteString(s.out, wire.Magic+"\x00\x00\x00\x05ab") }, "ended inside a frame"},
		"hello is a map": {func(s *script) { io.WriteString(s.out, wire.Magic); s.w.Write(wire.KindHello, 0, []byte("x")) }, "frame of kind 1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := link.Options{Open: time.Minute}
			if name == "silence" {
				o.Open = 500 * time.Millisecond
			}
			_, err := hostile(t, o, c.play)
			var lost *connection.UnreachableError
			if !errors.As(err, &lost) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestNoiseBeforeTheHello(t *testing.T) {
	t.Parallel()
	_, err := hostile(t, link.Options{}, func(s *script) {
		io.WriteString(s.out, strings.Repeat("Welcome to web1! \x00play-agent? ", 1000))
		s.greet(wire.Version)
		s.r.Next()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestHostileAgents(t *testing.T) {
	t.Parallel()
	reply := &wire.Reply{Result: []byte("{}")}
	cases := map[string]struct {
		play func(s *script, id uint32)
		want string
	}{
		"reply to nobody":  {func(s *script, id uint32) { s.w.Write(wire.KindReply, id+1, reply) }, "which is not open"},
		"id 0":             {func(s *script, id uint32) { s.w.Write(wire.KindOutput, 0, []byte("x")) }, "which is not open"},
		"a long line":      {func(s *script, id uint32) { s.w.Write(wire.KindOutput, id, make([]byte, wire.MaxLine+1)) }, "a line of more than"},
		"unwanted content": {func(s *script, id uint32) { s.w.Write(wire.KindData, id, []byte("x")) }, "nobody asked for"},
		"second hello":     {func(s *script, id uint32) { s.greet(1) }, "bytes (at most"},
		"call":             {func(s *script, id uint32) { s.w.Write(wire.KindCall, id, &wire.Call{}) }, "from an agent"},
		"bye":              {func(s *script, id uint32) { s.w.Write(wire.KindBye, 0, "out of \x1b[31mmemory") }, "the agent ended: out of"},
		"reply is text":    {func(s *script, id uint32) { s.w.Write(wire.KindReply, id, "x") }, "frame of kind 6"},
		"end":              {func(s *script, id uint32) {}, "the stream ended; the host said: from stderr"},
		"silence":          {func(s *script, id uint32) { s.next(wire.KindBye) }, "silent for 2s"},
		"parts without end": {func(s *script, id uint32) {
			for s.w.Write(wire.KindPart, id, make([]byte, wire.PartSize)) == nil {
			}
		}, "more than 134217728 bytes"},
		"unknown kind":         {func(s *script, id uint32) { s.w.Write(wire.Kind(99), id, nil) }, "unknown frame kind 99"},
		"negative-like credit": {func(s *script, id uint32) { s.w.Write(wire.KindCredit, id, "much") }, "frame of kind 8"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := link.Options{}
			if name == "silence" { // the others end at once, however slow the machine is
				options = link.Options{Ping: 50 * time.Millisecond, Dead: 2 * time.Second}
			}
			l, err := hostile(t, options, func(s *script) {
				s.greet(wire.Version)
				c.play(s, s.next(wire.KindCall).ID)
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = l.Call(t.Context(), request("ping"), nil, nil)
			var lost *connection.UnreachableError
			if !errors.As(err, &lost) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestT13ZeroWindow: an agent that takes nothing any more ends the call, and the
// close, in bounded time, also where it goes on telling that it is alive: with
// the caller's patience, or without that when it has taken nothing for long.
func TestT13ZeroWindow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options link.Options
		alive   bool
		patient bool
		want    string
	}{
		"silent": {link.Options{Ping: 50 * time.Millisecond, Dead: 2 * time.Second}, false, true, "silent for 2s"},
		"alive":  {link.Options{Grace: 100 * time.Millisecond}, true, false, "deadline exceeded"},
		"deaf":   {link.Options{Ping: 50 * time.Millisecond, Dead: 2 * time.Second}, true, true, "has taken nothing for 2s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			l, err := hostile(t, c.options, func(s *script) {
				s.greet(wire.Version)
				s.next(wire.KindHello)
				for c.alive && s.w.Write(wire.KindPong, 0, nil) == nil {
					time.Sleep(10 * time.Millisecond)
				}
				<-over
			})
			t.Cleanup(func() { close(over) })
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if !c.patient {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Second)
				defer cancel()
			}
			began := time.Now()
			if _, err := l.Call(ctx, request("ping"), strings.NewReader("content"), nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			l.Close()
			if took := time.Since(began); took > 40*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestContentBeyondTheWindow(t *testing.T) {
	t.Parallel()
	stuck, release := io.Pipe()
	l, err := hostile(t, link.Options{}, func(s *script) {
		s.greet(wire.Version)
		id := s.next(wire.KindCall).ID
		for s.w.Write(wire.KindData, id, make([]byte, wire.DataSize)) == nil {
		}
		stuck.Close() // only now does the receiver take anything
	})
	if err != nil {
		t.Fatal(err)
	}
	c := request("ping")
	c.Sink = release
	if _, err := l.Call(t.Context(), c, nil, nil); err == nil || !strings.Contains(err.Error(), "more content than was asked for") {
		t.Errorf("got %v", err)
	}
}

func TestCancelThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	l, err := hostile(t, link.Options{Grace: 100 * time.Millisecond}, func(s *script) {
		s.greet(wire.Version)
		s.next(wire.KindBye)
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := l.Call(ctx, request("ping"), nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	_, err = l.Call(t.Context(), request("ping"), nil, nil)
	if err == nil || !strings.Contains(err.Error(), "did not answer a cancelled call within 100ms") {
		t.Errorf("got %v", err)
	}
}

// TestNoGoroutineIsLeft runs alone: it counts goroutines.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		p, f := newPipe()
		ended := make(chan struct{})
		go func() {
			agent.Serve(context.Background(), f.in, f.out, agent.Config{Modules: []modules.Module{contentModule()}})
			f.out.Close()
			close(ended)
		}()
		l, err := link.Open(t.Context(), p, "web1")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		l.Call(ctx, request("content"), endless{}, func([]byte) {})
		cancel()
		l.Close()
		<-ended
	}
	for range 1500 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines before, %d after\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}
