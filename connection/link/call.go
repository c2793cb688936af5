package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"play/connection"
	"play/modules/wire"
)

// pending is a call that has no reply yet.
type pending struct {
	inbox  *wire.Inbox  // content from the agent; nil: none was asked for
	outbox *wire.Outbox // content to the agent
	live   *live        // nil: not wanted
	text   []byte       // the reply's JSON so far
	begun  time.Time
	sent   chan struct{}
	done   chan struct{}
	reply  *wire.Reply
	err    error // set before done is closed
}

// finish ends the call; it is called once, by whoever took it off the list.
func (p *pending) finish(reply *wire.Reply, err error) {
	p.reply, p.err = reply, err
	p.leave(err)
	close(p.done)
}

// leave ends the exchange of content; err nil: what came is complete.
func (p *pending) leave(err error) {
	p.outbox.Stop()
	if p.inbox == nil {
		return
	}
	if err == nil {
		err = io.EOF
	}
	p.inbox.Fail(err)
}

// Call runs one module and returns its reply. body must end by itself; it may
// still be read for a moment after Call has returned early. out gets the last
// line of a running command's output now and then, as the host sent it, and not
// after Call has returned. When ctx ends the
// module is cancelled on the target, and the error is ctx's cause. It is an
// *UnreachableError when the host is lost.
func (l *Link) Call(ctx context.Context, call *wire.Call, body io.Reader, out func(line []byte)) (*wire.Reply, error) {
	request := *call
	request.Body, request.Live, request.Content = body != nil, out != nil, call.Sink != nil
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case l.sending <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	id, p, err := l.register(&request, out)
	if err != nil {
		<-l.sending
		return nil, err
	}
	copied := l.startSink(p.inbox, call.Sink, stop)
	go l.send(id, p, &request, body, stop)
	select {
	case <-p.done:
	case <-ctx.Done():
		l.cancel(id, p)
		return nil, context.Cause(ctx)
	}
	p.live.close()
	sinkErr := <-copied
	if p.err != nil {
		return nil, p.err
	}
	return p.reply, sinkErr
}

// register gives a call its id; the caller has the right to send.
func (l *Link) register(request *wire.Call, out func(line []byte)) (uint32, *pending, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, nil, l.err
	}
	l.last++
	id := l.last
	p := &pending{begun: time.Now(), outbox: wire.NewOutbox(l.out, id), sent: make(chan struct{}), done: make(chan struct{})}
	if request.Content {
		p.inbox = wire.NewInbox(func(n uint32) { _ = l.out.Write(wire.KindCredit, id, n) }) // a broken stream ends the link by itself
	}
	if out != nil {
		p.live = startLive(out)
	}
	l.calls[id] = p
	return id, p, nil
}

// send writes the call, then its content. A body that cannot be read stops the
// call: the module must not take half of it for the whole.
func (l *Link) send(id uint32, p *pending, request *wire.Call, body io.Reader, stop context.CancelCauseFunc) {
	err := l.sendCall(id, request)
	if err != nil {
		l.mu.Lock()
		delete(l.calls, id) // the agent knows nothing of it
		l.mu.Unlock()
		stop(err)
	}
	close(p.sent)
	<-l.sending
	if err != nil {
		return
	}
	if body == nil {
		return
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{p.outbox}, struct{ io.Reader }{body}, make([]byte, wire.DataSize))
	if err == nil {
		err = p.outbox.End()
	}
	if err != nil && !errors.Is(err, wire.ErrEnded) {
		stop(fmt.Errorf("cannot send the content to %q: %w", l.host, err))
	}
}

// sendCall writes a call, the arguments of a long one ahead in parts.
func (l *Link) sendCall(id uint32, request *wire.Call) (err error) {
	if request.Args, err = l.out.WriteText(id, request.Args); err != nil {
		return err
	}
	l.trace("SENT call %d: module %s, %d bytes of arguments", id, request.Module, len(request.Args))
	err = l.out.Write(wire.KindCall, id, request)
	if errors.Is(err, wire.ErrBroken) {
		err = l.lostError(err)
		l.fail(err)
	}
	return err
}

// cancel asks the agent to end a call, and sees to it that its late frames are
// known but go nowhere. An agent that does not answer in time is taken for
// broken.
func (l *Link) cancel(id uint32, p *pending) {
	l.mu.Lock()
	_, open := l.calls[id]
	late := &pending{outbox: p.outbox, done: make(chan struct{})}
	if p.inbox != nil {
		late.inbox = wire.NewInbox(func(uint32) {})
		late.inbox.Drop()
	}
	if open {
		l.calls[id] = late
	}
	l.mu.Unlock()
	p.live.close()
	p.leave(wire.ErrEnded)
	if open {
		go l.awaitCancelled(id, p.sent, late.done)
	}
}

func (l *Link) awaitCancelled(id uint32, sent, answered <-chan struct{}) {
	limit := time.NewTimer(l.options.Grace)
	defer limit.Stop()
	go func() {
		<-sent // an agent knows nothing of a call that is still to come
		l.trace("SENT cancel %d", id)
		_ = l.out.Write(wire.KindCancel, id, nil) // a broken stream ends the link by itself
	}()
	select {
	case <-answered:
	case <-l.lost:
	case <-limit.C:
		l.fail(connection.Unreachablef(l.host, "lost the connection to the agent: it did not answer a cancelled call within %s", l.options.Grace))
	}
}

// startSink copies content to w; the channel gives how that ended. A failure
// also stops the call.
func (l *Link) startSink(in *wire.Inbox, w io.Writer, stop context.CancelCauseFunc) <-chan error {
	done := make(chan error, 1)
	if in == nil {
		done <- nil
		return done
	}
	go func() {
		_, err := io.Copy(w, struct{ io.Reader }{in})
		if err != nil {
			in.Drop()
			err = fmt.Errorf("cannot take the content from %q: %w", l.host, err)
			stop(err)
		}
		done <- err
	}()
	return done
}
