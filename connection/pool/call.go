package pool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"play/connection"
	"play/modules/wire"
)

// Call runs a module; a lost host's link leaves the pool, so that the next Get
// connects anew.
func (l *pooled) Call(ctx context.Context, call *wire.Call, body io.Reader, out func(line []byte)) (*wire.Reply, error) {
	reply, err := l.Link.Call(ctx, call, body, out)
	var lost *connection.UnreachableError
	if errors.As(err, &lost) {
		l.lost()
	}
	return reply, err
}

// Close does nothing: the link is the pool's.
func (l *pooled) Close() error { return nil }

// Output is what a command without an agent gave.
type Output struct {
	Stdout []byte
	Stderr string // its first and last part where it is long
	Status int
}

// maxOutput bounds the stdout that is kept of a command without an agent.
const maxOutput = 256 << 20

// Exec runs a command line without an agent (raw): by the user's login shell,
// or by /bin/sh as the become user. stdin may be nil.
func (p *Pool) Exec(ctx context.Context, t *connection.Target, line string, stdin io.Reader) (*Output, error) {
	t = p.effective(t)
	s, err := p.startLine(ctx, t, line)
	if err != nil {
		return nil, unreachable(t, err)
	}
	defer s.Close()
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	go feed(s, stdin)
	var stdout bytes.Buffer
	_, err = io.Copy(&stdout, io.LimitReader(s, maxOutput+1))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil && stdout.Len() > maxOutput {
		err = fmt.Errorf("the command printed more than %d bytes", maxOutput)
	}
	if err != nil {
		return nil, unreachable(t, err)
	}
	status, err := s.Wait()
	if err != nil {
		return nil, unreachable(t, err)
	}
	return &Output{Stdout: stdout.Bytes(), Stderr: s.Stderr(), Status: status}, nil
}

// startLine starts the command over the host's connection; one that was there
// before and is lost is made anew, once.
func (p *Pool) startLine(ctx context.Context, t *connection.Target, line string) (connection.Stream, error) {
	tr, fresh, err := p.transport(ctx, t)
	if err != nil {
		return nil, err
	}
	s, err := p.lineOver(ctx, tr, t, line)
	if err == nil || fresh || isBecome(err) || ctx.Err() != nil {
		return s, err
	}
	p.dropHost(t, tr)
	if tr, _, err = p.transport(ctx, t); err != nil {
		return nil, err
	}
	return p.lineOver(ctx, tr, t, line)
}

func (p *Pool) lineOver(ctx context.Context, tr connection.Transport, t *connection.Target, line string) (connection.Stream, error) {
	if t.Become != nil {
		return p.become(tr, t).Start(ctx, line)
	}
	if starter, ok := tr.(connection.LineStarter); ok {
		return starter.StartLine(ctx, line)
	}
	return tr.Start(ctx, line)
}

// feed gives a command its input and ends it.
func feed(s connection.Stream, stdin io.Reader) {
	if stdin != nil {
		_, _ = io.Copy(struct{ io.Writer }{s}, stdin) // a command need not read it all
	}
	if half, ok := s.(connection.HalfCloser); ok {
		half.CloseWrite()
	}
}
