package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"play/connection"
)

// maxBanner bounds what a server may say before the login, in bytes.
const maxBanner = 64 << 10

// connectAsking is connect for a host whose person may be asked about its key:
// a host that did not wait for the answer is called again, with its key recorded.
func (d *Dialer) connectAsking(ctx context.Context, s *settings) (*gossh.Client, error) {
	client, err := d.connect(ctx, s)
	var late *lateAnswerError
	if errors.As(err, &late) && ctx.Err() == nil {
		return d.connect(ctx, s)
	}
	return client, err
}

// lateAnswerError tells of a connection that ended after the person had trusted
// its host's key.
type lateAnswerError struct{ err error }

func (e *lateAnswerError) Error() string { return e.err.Error() }
func (e *lateAnswerError) Unwrap() error { return e.err }

// connect reaches the host, checks its key and authenticates, all within the
// connect time-out.
func (d *Dialer) connect(ctx context.Context, s *settings) (*gossh.Client, error) {
	d.trace(s.name, "ESTABLISH SSH CONNECTION FOR USER: %s", s.user)
	conn, err := d.reach(ctx, s)
	if err != nil {
		return nil, err
	}
	guard := newGuard(ctx, conn, s.timeout)
	defer guard.stop()
	login := d.newLogin(s, guard)
	defer login.close()
	config := &gossh.ClientConfig{
		User:              s.user,
		AuthCallback:      login.next,
		HostKeyAlgorithms: s.hostKeyAlgos,
		HostKeyCallback:   d.known.check(s, login),
		BannerCallback:    boundedBanner(),
	}
	if config.HostKeyAlgorithms == nil {
		config.HostKeyAlgorithms = d.known.algorithms(s)
	}
	c, chans, reqs, err := gossh.NewClientConn(conn, s.address(), config)
	if err != nil {
		conn.Close()
		err = guard.explain(ctx, s, login, err)
		if login.trusted && !final(err) {
			err = &lateAnswerError{err}
		}
		return nil, err
	}
	client := gossh.NewClient(c, chans, reqs)
	if s.forward {
		if err := agent.ForwardToRemote(client, s.agentSock); err != nil {
			d.trace(s.name, "cannot forward the ssh-agent: %v", err)
		}
	}
	return client, nil
}

// reach opens the byte stream to the host's SSH port.
func (d *Dialer) reach(ctx context.Context, s *settings) (net.Conn, error) {
	switch {
	case len(s.jump) > 0:
		return d.throughBastion(ctx, s)
	case s.proxyCommand != "":
		return d.throughCommand(s)
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	dialer := net.Dialer{KeepAlive: 30 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", s.address())
	if err != nil {
		return nil, dialError(s, err)
	}
	return conn, nil
}

// throughBastion opens the stream over the connection to the last jump host,
// which itself may lie behind the ones before it.
func (d *Dialer) throughBastion(ctx context.Context, s *settings) (net.Conn, error) {
	via, err := d.bastionSettings(s)
	if err != nil {
		return nil, err
	}
	client, err := d.bastions.get(ctx, via.id(), func() (*gossh.Client, error) { return d.connectAsking(ctx, via) })
	if err != nil {
		return nil, fmt.Errorf("cannot reach the jump host %q: %w", via.address(), err)
	}
	// The jump host's own login, and the questions it may lead to, have their own limit.
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := client.DialContext(ctx, "tcp", s.address())
	if err != nil {
		return nil, fmt.Errorf("cannot reach %s from the jump host %q: %w", s.address(), via.address(), err)
	}
	return conn, nil
}

// bastionSettings resolves the jump host nearest to the target.
func (d *Dialer) bastionSettings(s *settings) (*settings, error) {
	last := s.jump[len(s.jump)-1]
	t := *s.target
	t.Address, t.Port, t.User, t.Password, t.Options = "", 0, "", "", map[string]string{}
	for _, name := range []string{"userknownhostsfile", "stricthostkeychecking"} {
		if v, ok := s.target.Options[name]; ok {
			t.Options[name] = v
		}
	}
	rest := strings.TrimPrefix(strings.TrimSpace(last), "ssh://")
	if user, host, ok := strings.Cut(rest, "@"); ok {
		t.User, rest = user, host
	}
	t.Address = strings.Trim(rest, "[]")
	if host, port, err := net.SplitHostPort(rest); err == nil {
		n, err := strconv.Atoi(port)
		if err != nil {
			return nil, &SettingError{fmt.Sprintf("cannot use the jump host %q: its port is not a number", last)}
		}
		t.Address, t.Port = host, n
	}
	if before := s.jump[:len(s.jump)-1]; len(before) > 0 {
		t.Options["proxyjump"] = strings.Join(before, ",")
	}
	via, err := d.resolve(&t)
	if err != nil {
		return nil, err
	}
	if len(s.jump) > maxJumps || len(via.jump) > 0 && via.id() == s.id() {
		return nil, &SettingError{fmt.Sprintf("cannot use the jump host %q: it leads to itself", last)}
	}
	return via, nil
}

// maxJumps bounds a chain of jump hosts, which configuration could make endless.
const maxJumps = 8

// boundedBanner passes over what the server says, up to a bound.
func boundedBanner() gossh.BannerCallback {
	seen := 0
	return func(message string) error {
		if seen += len(message) + 1; seen > maxBanner {
			return fmt.Errorf("the server sent a banner of more than %d bytes", maxBanner)
		}
		return nil
	}
}

// dialError words a failure to reach the port as OpenSSH does.
func dialError(s *settings, err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return fmt.Errorf("ssh: Could not resolve hostname %s: %w", s.host, err)
	}
	reason := err.Error()
	var errno syscall.Errno
	var timeout net.Error
	switch {
	case errors.As(err, &errno):
		reason = capital(errno.Error())
	case errors.As(err, &timeout) && timeout.Timeout():
		reason = "Connection timed out"
	}
	return &reachError{fmt.Sprintf("ssh: connect to host %s port %d: %s", s.host, s.port, reason), err}
}

// reachError is a failure to reach the port.
type reachError struct {
	msg string
	err error
}

func (e *reachError) Error() string { return e.msg }
func (e *reachError) Unwrap() error { return e.err }

func capital(s string) string {
	r := []rune(s)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

// guard closes a connection that takes too long to set up. It can be paused
// while a person is asked.
type guard struct {
	conn  net.Conn
	left  time.Duration
	stopC func() bool // of the caller's context

	mu      sync.Mutex
	timer   *time.Timer
	since   time.Time
	expired bool
}

func newGuard(ctx context.Context, conn net.Conn, limit time.Duration) *guard {
	g := &guard{conn: conn, left: limit}
	g.stopC = context.AfterFunc(ctx, func() { conn.Close() })
	g.resume()
	return g
}

func (g *guard) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.since = time.Now()
	g.timer = time.AfterFunc(g.left, func() {
		g.mu.Lock()
		g.expired = true
		g.mu.Unlock()
		g.conn.Close()
	})
}

func (g *guard) pause() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer.Stop()
	g.left = max(g.left-time.Since(g.since), time.Second)
}

func (g *guard) stop() {
	g.stopC()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer.Stop()
}

// explain words the end of a handshake.
func (g *guard) explain(ctx context.Context, s *settings, l *login, err error) error {
	g.mu.Lock()
	expired := g.expired
	g.mu.Unlock()
	var key *HostKeyError
	var disagree *gossh.AlgorithmNegotiationError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case expired:
		return fmt.Errorf("ssh: connect to host %s port %d: Connection timed out (no login within %s)", s.host, s.port, s.timeout)
	case errors.As(err, &key):
		return key
	case l.err != nil:
		return l.err
	case errors.As(err, &disagree):
		return &HostKeyError{fmt.Sprintf("Host key verification failed: %q and play have no algorithm in common: %s", s.keyName(), connection.Printable(err.Error()))}
	}
	return &reachError{fmt.Sprintf("ssh: connect to host %s port %d: %s", s.host, s.port, connection.Printable(err.Error())), err}
}
