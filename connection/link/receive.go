package link

import (
	"fmt"

	"play/connection"
	"play/modules/wire"
)

// handle takes one frame from the agent. It never blocks: the reader must go on
// whatever a call's receiver does.
func (l *Link) handle(f *wire.Frame) error {
	switch f.Kind {
	case wire.KindPong:
		return nil
	case wire.KindBye:
		why, err := f.Text()
		if err != nil {
			return err
		}
		return fmt.Errorf("the agent ended: %s", connection.Printable(why))
	}
	if f.Kind == wire.KindReply {
		return l.replied(f)
	}
	l.mu.Lock()
	p, past := l.calls[f.ID], f.ID > 0 && f.ID <= l.last
	l.mu.Unlock()
	if p != nil {
		return p.handle(f)
	}
	if past && f.Kind == wire.KindCredit {
		return nil // it crossed the end of the call
	}
	return notOpen(f)
}

func notOpen(f *wire.Frame) error {
	return fmt.Errorf("%w: a frame of kind %d for call %d, which is not open", wire.ErrProtocol, f.Kind, f.ID)
}

// replied ends a call.
func (l *Link) replied(f *wire.Frame) error {
	r, err := f.Reply()
	if err != nil {
		return err
	}
	l.mu.Lock()
	p := l.calls[f.ID]
	delete(l.calls, f.ID)
	l.mu.Unlock()
	if p == nil {
		return notOpen(f)
	}
	l.trace("RECEIVED reply %d: %d bytes, after %s", f.ID, len(p.text)+len(r.Result), since(p.begun))
	if len(p.text) > 0 {
		r.Result = append(p.text, r.Result...)
	}
	p.finish(r, nil)
	return nil
}

func (p *pending) handle(f *wire.Frame) error {
	switch f.Kind {
	case wire.KindCredit:
		n, err := f.Number()
		if err == nil {
			p.outbox.Credit(n)
		}
		return err
	case wire.KindPart, wire.KindOutput, wire.KindData:
		data, err := f.Bytes()
		if err != nil {
			return err
		}
		return p.take(f.Kind, data)
	}
	return fmt.Errorf("%w: a frame of kind %d from an agent", wire.ErrProtocol, f.Kind)
}

func (p *pending) take(kind wire.Kind, data []byte) error {
	switch kind {
	case wire.KindPart:
		if len(p.text)+len(data) > wire.MaxText {
			return fmt.Errorf("%w: a result of more than %d bytes", wire.ErrProtocol, wire.MaxText)
		}
		p.text = append(p.text, data...)
	case wire.KindOutput:
		if len(data) > wire.MaxLine {
			return fmt.Errorf("%w: a line of more than %d bytes", wire.ErrProtocol, wire.MaxLine)
		}
		p.live.push(data)
	case wire.KindData:
		if p.inbox == nil {
			return fmt.Errorf("%w: content that nobody asked for", wire.ErrProtocol)
		}
		return p.inbox.Push(data)
	}
	return nil
}
