package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"play/modules/value"
	"play/modules/wire"
)

// maxWaiting bounds the calls that a controller may have open.
const maxWaiting = 4096

// session is one controller's connection.
type session struct {
	*runner
	config *Config
	out    *wire.Writer
	slots  chan struct{} // one for each call that may run
	wait   sync.WaitGroup
	ctx    context.Context // the parent of all calls

	mu    sync.Mutex
	calls map[uint32]*call
	last  uint32 // highest id so far
	parts map[uint32][]byte
}

// call is one call that has no reply yet.
type call struct {
	cancel context.CancelCauseFunc
	inbox  *wire.Inbox // nil: the call has no content
	outbox *wire.Outbox
}

// read turns the input into frames until it ends.
func read(in io.Reader, frames chan<- *wire.Frame, stop <-chan struct{}) error {
	r := wire.NewReader(bufio.NewReader(in))
	for {
		f, err := r.Next()
		if err != nil {
			return err
		}
		select {
		case frames <- f:
		case <-stop:
			return nil
		}
	}
}

// loop handles frames until the session is over; the error says why it broke.
func (s *session) loop(ctx context.Context, in io.Reader) error {
	frames, stop, ended := make(chan *wire.Frame), make(chan struct{}), make(chan error, 1)
	defer close(stop)
	go func() { ended <- read(in, frames, stop) }()
	idle := time.NewTimer(s.config.Idle)
	defer idle.Stop()
	greeted := false
	for {
		select {
		case f := <-frames:
			idle.Reset(s.config.Idle)
			bye, err := s.handle(f, &greeted)
			if bye || err != nil {
				return err
			}
		case err := <-ended:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case <-idle.C:
			return fmt.Errorf("the controller was silent for %s", s.config.Idle)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// handle takes one frame; bye is true when the controller said it is done.
func (s *session) handle(f *wire.Frame, greeted *bool) (bye bool, err error) {
	if f.Kind == wire.KindHello {
		if *greeted {
			return false, fmt.Errorf("%w: a second hello", wire.ErrProtocol)
		}
		*greeted = true
		return false, greet(f)
	}
	if !*greeted {
		return false, fmt.Errorf("%w: no hello", wire.ErrProtocol)
	}
	switch f.Kind {
	case wire.KindCall:
		return false, s.begin(f)
	case wire.KindPart:
		return false, s.part(f)
	case wire.KindData, wire.KindCredit, wire.KindCancel:
		return false, s.toCall(f)
	case wire.KindPing:
		return false, s.out.Write(wire.KindPong, f.ID, nil)
	case wire.KindBye:
		return true, nil
	}
	return false, fmt.Errorf("%w: a frame of kind %d from a controller", wire.ErrProtocol, f.Kind)
}

func greet(f *wire.Frame) error {
	h, err := f.Hello()
	if err != nil {
		return err
	}
	if msg := wire.VersionMismatch(wire.Version, h.Version); msg != "" {
		return errors.New(msg)
	}
	return nil
}

// part keeps a piece of the arguments of a call to come.
func (s *session) part(f *wire.Frame) error {
	data, err := f.Bytes()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.ID <= s.last {
		return fmt.Errorf("%w: arguments for call %d, which was made before", wire.ErrProtocol, f.ID)
	}
	if len(s.parts[f.ID])+len(data) > wire.MaxText || len(s.parts) >= wire.MaxRunning {
		return fmt.Errorf("%w: arguments of more than %d bytes", wire.ErrProtocol, wire.MaxText)
	}
	s.parts[f.ID] = append(s.parts[f.ID], data...)
	return nil
}

// begin starts a call.
func (s *session) begin(f *wire.Frame) error {
	request, err := f.Call()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.ID <= s.last || len(s.calls) >= maxWaiting {
		return fmt.Errorf("%w: call %d after call %d, %d open", wire.ErrProtocol, f.ID, s.last, len(s.calls))
	}
	s.last = f.ID
	if first, ok := s.parts[f.ID]; ok {
		request.Args = append(first, request.Args...)
		delete(s.parts, f.ID)
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	c := &call{cancel: cancel, outbox: wire.NewOutbox(s.out, f.ID)}
	if request.Body {
		c.inbox = wire.NewInbox(func(n uint32) { _ = s.out.Write(wire.KindCredit, f.ID, n) }) // a broken stream ends the session by itself
		context.AfterFunc(ctx, func() { c.inbox.Fail(context.Cause(ctx)) })
	}
	context.AfterFunc(ctx, c.outbox.Stop)
	s.calls[f.ID] = c
	s.wait.Go(func() { s.serve(ctx, f.ID, c, request) })
	return nil
}

// toCall hands a frame to the call it belongs to; one that was answered already
// does not need it any more.
func (s *session) toCall(f *wire.Frame) error {
	s.mu.Lock()
	c, last := s.calls[f.ID], s.last
	s.mu.Unlock()
	if f.ID == 0 || f.ID > last {
		return fmt.Errorf("%w: a frame for call %d, which was never made", wire.ErrProtocol, f.ID)
	}
	if c == nil {
		return nil
	}
	switch f.Kind {
	case wire.KindCancel:
		c.cancel(errCancelled)
	case wire.KindCredit:
		n, err := f.Number()
		if err != nil {
			return err
		}
		c.outbox.Credit(n)
	case wire.KindData:
		data, err := f.Bytes()
		if err != nil {
			return err
		}
		if c.inbox == nil {
			return fmt.Errorf("%w: content for call %d, which has none", wire.ErrProtocol, f.ID)
		}
		return c.inbox.Push(data)
	}
	return nil
}

// serve runs one call and replies.
func (s *session) serve(ctx context.Context, id uint32, c *call, request *wire.Call) {
	defer c.cancel(nil)
	out := s.waitAndRun(ctx, id, c, request)
	s.mu.Lock()
	delete(s.calls, id)
	s.mu.Unlock()
	if c.inbox != nil {
		c.inbox.Drop()
	}
	// A stream that takes no reply ends the session by itself.
	last, err := s.out.WriteText(id, encode(out))
	if err == nil {
		_ = s.out.Write(wire.KindReply, id, &wire.Reply{Result: last})
	}
}

func (s *session) waitAndRun(ctx context.Context, id uint32, c *call, request *wire.Call) *value.Dict {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return failure(context.Cause(ctx))
	}
	if request.Async != nil {
		return s.detach(request, c)
	}
	var st streams
	sent := &sentContent{outbox: c.outbox}
	if request.Content {
		st.content = sent
	}
	if c.inbox != nil {
		st.body = c.inbox
	}
	if request.Live {
		// The command goes on without its display when the stream takes no more.
		lines := startLastLine(func(line []byte) { _ = s.out.Write(wire.KindOutput, id, line) })
		defer lines.close() // nothing may follow the reply
		st.output = lines
	}
	out := s.result(ctx, request, st)
	if sent.any {
		_ = c.outbox.End() // the reply follows, or the session is broken
	}
	return out
}

// sentContent notes whether a module sent content.
type sentContent struct {
	outbox *wire.Outbox
	any    bool
}

func (w *sentContent) Write(p []byte) (int, error) {
	w.any = true
	return w.outbox.Write(p)
}
