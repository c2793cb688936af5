package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"

	gossh "golang.org/x/crypto/ssh"

	"play/connection"
)

// session is an open channel for one command, with the server's requests on it.
// Package x/crypto's own Session stops reading them at the first odd one, which
// stalls the whole connection.
type session struct {
	gossh.Channel
	requests <-chan *gossh.Request
}

// openSession opens a session. A connection that ends at the wrong moment
// leaves x/crypto's OpenChannel waiting for ever, so its end and ctx's are
// awaited here, too.
func openSession(ctx context.Context, client *live) (*session, error) {
	type outcome struct {
		session *session
		err     error
	}
	opened := make(chan outcome)
	left := make(chan struct{})
	defer close(left)
	go func() {
		channel, requests, err := client.OpenChannel("session", nil)
		select {
		case opened <- outcome{&session{channel, requests}, err}:
		case <-left:
			if err == nil {
				go gossh.DiscardRequests(requests)
				channel.Close()
			}
		}
	}()
	select {
	case o := <-opened:
		return o.session, o.err
	case <-client.gone:
		return nil, errors.New("it has ended")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ask sends a request that must be granted ("exec", "subsystem"; both carry one
// text).
func (s *session) ask(kind, text string) error {
	granted, err := s.SendRequest(kind, true, gossh.Marshal(struct{ Text string }{text}))
	if err == nil && !granted {
		err = fmt.Errorf("the server refused the request %q", kind)
	}
	return err
}

// stream is one process on the host.
type stream struct {
	host    string
	session *session
	stderr  connection.Bounded
	done    chan struct{} // closed once status and err are set
	status  int
	err     error
}

var (
	_ connection.Stream     = (*stream)(nil)
	_ connection.HalfCloser = (*stream)(nil)
)

// newStream starts a command line in a new session, which it takes over.
func newStream(host string, session *session, line string) (connection.Stream, error) {
	s := &stream{host: host, session: session, done: make(chan struct{}), status: -1, err: errors.New("it gave no exit status")}
	go s.watch()
	if err := session.ask("exec", line); err != nil {
		session.Close()
		return nil, connection.Unreachablef(host, "cannot start a command on %q: %w", host, err)
	}
	return s, nil
}

// watch reads stderr and the server's requests to their end: that of the
// process, or of the connection.
func (s *stream) watch() {
	defer close(s.done)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = s.stderr.ReadFrom(s.session.Stderr()) // the end of the session is told by its requests
	}()
	for r := range s.session.requests {
		s.take(r)
	}
	<-drained
	if s.err != nil {
		s.err = connection.Unreachablef(s.host, "the connection to %q was lost: %w", s.host, s.err)
	}
}

// signals are the numbers that shells give to the signals of RFC 4254.
var signals = map[string]int{
	"HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "ABRT": 6, "FPE": 8, "KILL": 9, "USR1": 10, "SEGV": 11, "USR2": 12,
	"PIPE": 13, "ALRM": 14, "TERM": 15,
}

// take notes how the process ended; the first account counts.
func (s *stream) take(r *gossh.Request) {
	switch {
	case s.status >= 0:
	case r.Type == "exit-status":
		var exit struct{ Status uint32 }
		if s.err = gossh.Unmarshal(r.Payload, &exit); s.err == nil {
			s.status = int(exit.Status & 0xff)
		}
	case r.Type == "exit-signal":
		var exit struct {
			Name    string
			Core    bool
			Message string
			Lang    string
		}
		if s.err = gossh.Unmarshal(r.Payload, &exit); s.err == nil {
			s.status = 128 + signals[exit.Name]
		}
	}
	if r.WantReply {
		_ = r.Reply(false, nil) // a lost connection shows elsewhere
	}
}

func (s *stream) Read(p []byte) (int, error) { return s.session.Read(p) }
func (s *stream) CloseWrite() error          { return s.session.CloseWrite() }
func (s *stream) Stderr() string             { return s.stderr.String() }

func (s *stream) Write(p []byte) (int, error) {
	n, err := s.session.Write(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("cannot write to %q: %w", s.host, err)
	}
	return n, err
}

// Close gives the session up; sshd ends the process's input. Unlike CloseWrite
// it may be called while another goroutine writes.
func (s *stream) Close() error {
	s.session.Close()
	return nil
}

func (s *stream) Wait() (int, error) {
	<-s.done
	return s.status, s.err
}
