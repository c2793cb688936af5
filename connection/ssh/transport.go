package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/pkg/sftp"
	gossh "golang.org/x/crypto/ssh"

	"play/connection"
)

// Transport is a live connection, with further ones where the server allows
// only few sessions on each.
type Transport struct {
	dialer *Dialer
	s      *settings

	mu      sync.Mutex
	clients []*live
	closed  bool
}

var (
	_ connection.Transport   = (*Transport)(nil)
	_ connection.LineStarter = (*Transport)(nil)
	_ connection.FilePutter  = (*Transport)(nil)
)

// maxClients bounds the connections to one host.
const maxClients = 8

func newTransport(d *Dialer, s *settings, client *gossh.Client) *Transport {
	return &Transport{dialer: d, s: s, clients: []*live{keepAlive(client, s.aliveEvery, s.aliveMax)}}
}

// Start runs a script by /bin/sh.
func (t *Transport) Start(ctx context.Context, script string) (connection.Stream, error) {
	return t.StartLine(ctx, "/bin/sh -c "+connection.Quote(script))
}

// StartLine gives a command line to the user's login shell.
func (t *Transport) StartLine(ctx context.Context, line string) (connection.Stream, error) {
	t.dialer.trace(t.s.name, "SSH: EXEC %s", connection.Shown(ctx, line))
	return within(ctx, func() (connection.Stream, error) {
		session, err := t.session(ctx)
		if err != nil {
			return nil, err
		}
		if t.s.forward {
			// As with ssh, a refusal is no reason to give up.
			_, _ = session.SendRequest("auth-agent-req@openssh.com", false, nil)
		}
		return newStream(t.s.name, session, line)
	}, func(s connection.Stream) { s.Close() })
}

// session opens a session, on a new connection when the server refuses more on
// those there are (MaxSessions).
func (t *Transport) session(ctx context.Context) (*session, error) {
	t.mu.Lock()
	clients := slices.Clone(t.clients)
	t.mu.Unlock()
	var err error
	for _, client := range clients {
		var one *session
		if one, err = openSession(ctx, client); err == nil {
			return one, nil
		}
	}
	var refused *gossh.OpenChannelError
	if !errors.As(err, &refused) || len(clients) >= maxClients {
		return nil, t.lost(err)
	}
	client, err := t.dialer.connect(ctx, t.s)
	if err != nil {
		return nil, failed(t.s.target, err)
	}
	further := keepAlive(client, t.s.aliveEvery, t.s.aliveMax)
	if !t.keep(further) {
		client.Close()
		return nil, t.lost(errors.New("it was closed"))
	}
	one, err := openSession(ctx, further)
	if err != nil {
		return nil, t.lost(err)
	}
	return one, nil
}

// keep adds a further connection; false: the transport is closed.
func (t *Transport) keep(client *live) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.clients = append(t.clients, client)
	return true
}

func (t *Transport) lost(err error) error {
	return connection.Unreachablef(t.s.name, "the connection to %q was lost: %w", t.s.name, err)
}

// PutFile writes a new file by SFTP.
func (t *Transport) PutFile(ctx context.Context, path string, mode uint32, r io.Reader) error {
	t.dialer.trace(t.s.name, "PUT play-agent TO %s", path)
	_, err := within(ctx, func() (struct{}, error) {
		session, err := t.session(ctx)
		if err != nil {
			return struct{}{}, err
		}
		defer session.Close()
		stop := context.AfterFunc(ctx, func() { session.Close() })
		defer stop()
		return struct{}{}, put(session, path, os.FileMode(mode), r)
	}, func(struct{}) {})
	return err
}

// inFlight is how many packets of 32 KiB of an upload are on their way at once:
// enough for a distant host, little enough for many hosts.
const inFlight = 16

func put(session *session, path string, mode os.FileMode, r io.Reader) error {
	go gossh.DiscardRequests(session.requests)
	go io.Copy(io.Discard, session.Stderr()) // it must not fill up
	if err := session.ask("subsystem", "sftp"); err != nil {
		return fmt.Errorf("cannot use SFTP: %w", err)
	}
	client, err := sftp.NewClientPipe(session, session)
	if err != nil {
		return fmt.Errorf("cannot use SFTP: %w", err)
	}
	defer client.Close()
	file, err := client.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return fmt.Errorf("cannot create %q: %w", path, err)
	}
	_, err = file.ReadFromWithConcurrency(r, inFlight)
	if err == nil {
		err = file.Chmod(mode)
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = client.Remove(path) // the failure above is the one to tell
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	return nil
}

// Close ends the connection and everything on it.
func (t *Transport) Close() error {
	t.mu.Lock()
	clients := t.clients
	t.clients, t.closed = nil, true
	t.mu.Unlock()
	for _, c := range clients {
		c.Close()
		t.dialer.trace(t.s.name, "SSH: CLOSED")
	}
	return nil
}

// within runs a step that a hung server could hold up for ever. When ctx ends
// first, its late outcome is undone.
func within[T any](ctx context.Context, step func() (T, error), undo func(T)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := step()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		go func() {
			if o := <-done; o.err == nil {
				undo(o.value)
			}
		}()
		var none T
		return none, context.Cause(ctx)
	}
}

// live is a connection whose end can be awaited.
type live struct {
	*gossh.Client
	gone chan struct{} // closed at its end
}

// keepAlive asks the server for a sign of life at intervals, and closes the
// connection after so many questions without an answer. It ends with the
// connection.
func keepAlive(client *gossh.Client, every time.Duration, most int) *live {
	l := &live{Client: client, gone: make(chan struct{})}
	go func() {
		_ = client.Wait() // any end will do
		close(l.gone)
	}()
	if every > 0 {
		go l.ask(every, most)
	}
	return l
}

func (l *live) ask(every time.Duration, most int) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	answered := make(chan struct{}, 1)
	for waiting := 0; ; {
		select {
		case <-l.gone:
			return
		case <-answered:
			waiting = 0
		case <-tick.C:
			if waiting++; waiting > most {
				l.Close()
				return
			}
			if waiting == 1 {
				go l.askOnce(answered)
			}
		}
	}
}

// askOnce sends one question; whatever is answered shows life.
func (l *live) askOnce(answered chan<- struct{}) {
	if _, _, err := l.SendRequest("keepalive@openssh.com", true, nil); err == nil {
		answered <- struct{}{}
	}
}
