// Package link is the controller's half of the protocol (docs/protocol.md); the
// target's half is package modules/agent. Flowing in: a stream that stands at an
// agent's first byte, and calls. Flowing out: replies. It carries many calls at
// once, notices a dead host, and trusts no agent: what it keeps and waits for is
// bounded. It starts no process and knows no module.
package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"play/connection"
	"play/modules/wire"
)

// Options are the limits of a link; zero values mean the protocol's own.
type Options struct {
	Open  time.Duration    // how long the agent may take to say hello; 0: 30 s
	Ping  time.Duration    // between signs of life; 0: 10 s
	Dead  time.Duration    // silence after which the host is lost; 0: 60 s
	Grace time.Duration    // how long a cancelled call may take to be answered; 0: 10 s
	Trace connection.Trace // frames and timings
}

func (o Options) filled() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.Open, 30*time.Second)
	set(&o.Ping, 10*time.Second)
	set(&o.Dead, 60*time.Second)
	set(&o.Grace, 10*time.Second)
	return o
}

// Link is a connected agent. It is safe for concurrent use.
type Link struct {
	host    string
	stream  connection.Stream
	out     *wire.Writer
	options Options
	hello   *wire.Hello
	lost    chan struct{} // closed once err is set
	read    chan struct{} // closed once the reader has ended
	heard   chan struct{} // a sign of life, for the watch

	sending chan struct{} // held by the one call that is going out, so that ids are in order

	mu    sync.Mutex
	err   error
	calls map[uint32]*pending
	last  uint32
}

var _ connection.Link = (*Link)(nil)

// Open makes a link over a stream that stands at the agent's first byte. It
// closes the stream when it fails; the error is an *UnreachableError, or ctx's
// cause.
func Open(ctx context.Context, s connection.Stream, host string) (connection.Link, error) {
	return OpenWith(ctx, s, host, Options{})
}

// OpenWith is Open with limits of one's own.
func OpenWith(ctx context.Context, s connection.Stream, host string, o Options) (*Link, error) {
	l := &Link{
		host: host, stream: s, out: wire.NewWriter(s), options: o.filled(),
		lost: make(chan struct{}), read: make(chan struct{}), heard: make(chan struct{}, 1), calls: map[uint32]*pending{},
		sending: make(chan struct{}, 1),
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.options.Open,
		connection.Unreachablef(host, "the agent did not answer within %s", l.options.Open))
	defer cancel()
	greeted := make(chan error, 1)
	go l.run(greeted)
	var err error
	select {
	case err = <-greeted:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	go l.watch()
	return l, nil
}

// run opens the stream and reads it to its end.
func (l *Link) run(greeted chan<- error) {
	defer close(l.read)
	in := bufio.NewReader(l.stream)
	noise, err := wire.SkipNoise(in)
	frames := wire.NewReader(in)
	if err == nil {
		err = l.greet(frames)
	}
	if err != nil {
		greeted <- l.cannotOpen(err, noise)
		return
	}
	greeted <- nil
	for {
		f, err := frames.Next()
		if err == nil {
			select {
			case l.heard <- struct{}{}:
			default:
			}
			l.traceReceived(f)
			err = l.handle(f)
		}
		if err != nil {
			l.fail(l.lostError(err))
			return
		}
	}
}

// greet exchanges hellos.
func (l *Link) greet(frames *wire.Reader) error {
	f, err := frames.Next()
	if err != nil {
		return err
	}
	if f.Kind != wire.KindHello {
		return fmt.Errorf("%w: a frame of kind %d before the hello", wire.ErrProtocol, f.Kind)
	}
	h, err := f.Hello()
	if err != nil {
		return err
	}
	l.hello = h
	l.options.Trace.Say(4, l.host, "AGENT: process %d of %s (uid %d) on %s/%s, build %s", h.PID, connection.Printable(h.User), h.UID,
		connection.Printable(h.OS), connection.Printable(h.Arch), connection.Printable(h.Build))
	if err := l.out.Write(wire.KindHello, 0, &wire.Hello{Version: wire.Version, Build: wire.Build()}); err != nil {
		return err
	}
	if msg := wire.VersionMismatch(h.Version, wire.Version); msg != "" {
		return connection.Unreachablef(l.host, "cannot use the agent: %s", msg)
	}
	return nil
}

// cannotOpen words a failed opening, with what the host printed instead.
func (l *Link) cannotOpen(err error, noise []byte) error {
	var told *connection.UnreachableError
	if errors.As(err, &told) {
		return err
	}
	said := strings.TrimSpace(l.stream.Stderr())
	if said == "" {
		said = strings.TrimSpace(string(noise[:min(len(noise), maxExcerpt)]))
	}
	return connection.Unreachablef(l.host, "the agent did not start: %s", describe(err, said))
}

// lostError words the loss of a running agent.
func (l *Link) lostError(err error) error {
	return connection.Unreachablef(l.host, "lost the connection to the agent: %s", describe(err, strings.TrimSpace(l.stream.Stderr())))
}

// maxExcerpt is how much of a host's own words a message repeats, in bytes.
const maxExcerpt = 1000

// describe joins a cause and the end of what the host said.
func describe(err error, said string) string {
	cause := err.Error()
	if errors.Is(err, io.EOF) {
		cause = "the stream ended"
	}
	if said == "" {
		return cause
	}
	if len(said) > maxExcerpt {
		said = "…" + said[len(said)-maxExcerpt:]
	}
	return cause + "; the host said: " + connection.Printable(said)
}

// Hello is what the agent said of itself.
func (l *Link) Hello() *wire.Hello { return l.hello }

// Close ends the session. The agent ends what still runs, and open calls fail.
func (l *Link) Close() error {
	l.fail(connection.Unreachablef(l.host, "the connection was closed"))
	<-l.read
	return nil
}

// fail ends the link once; open calls get err. It closes the stream, which ends
// the reader.
func (l *Link) fail(err error) {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	l.err = err
	calls := l.calls
	l.calls = map[uint32]*pending{}
	close(l.lost)
	l.mu.Unlock()
	for _, c := range calls {
		c.finish(nil, err)
	}
	l.stream.Close()
}

// watch pings the agent and gives the host up after too long a silence, or when
// it takes nothing for as long.
func (l *Link) watch() {
	pinging := make(chan struct{}, 1) // holds a token while a ping is being sent
	var since time.Time
	ping := time.NewTicker(l.options.Ping)
	defer ping.Stop()
	dead := time.NewTimer(l.options.Dead)
	defer dead.Stop()
	for {
		select {
		case <-l.lost:
			return
		case <-l.heard:
			dead.Reset(l.options.Dead)
		case <-ping.C:
			select {
			case pinging <- struct{}{}:
				since = time.Now()
				go func() { _ = l.out.Write(wire.KindPing, 0, nil); <-pinging }() // it may block on a dead host
			default:
				if time.Since(since) > l.options.Dead {
					l.fail(connection.Unreachablef(l.host, "lost the connection to the agent: the host has taken nothing for %s", l.options.Dead))
					return
				}
			}
		case <-dead.C:
			l.fail(connection.Unreachablef(l.host, "lost the connection to the agent: the host was silent for %s", l.options.Dead))
			return
		}
	}
}
