package wire

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrEnded is what reading or sending content gives once its call is over.
var ErrEnded = errors.New("the call has ended")

// Inbox is the receiving end of one call's content: the reader of frames pushes
// into it and never blocks, a module or a sink reads from it.
type Inbox struct {
	mu     sync.Mutex
	wake   sync.Cond
	queue  [][]byte
	ahead  int // bytes that the sender may still send
	owed   int // bytes read since the last credit
	err    error
	credit func(n uint32)
}

// NewInbox returns an empty inbox; credit is called when the reader has made
// room, and must not block on the reader of frames.
func NewInbox(credit func(n uint32)) *Inbox {
	b := &Inbox{ahead: Window, credit: credit}
	b.wake.L = &b.mu
	return b
}

// Push adds the payload of one data frame; an empty one ends the content. The
// error wraps ErrProtocol when the sender broke its limit.
func (b *Inbox) Push(data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(data) > b.ahead || errors.Is(b.err, io.EOF) {
		return fmt.Errorf("%w: more content than was asked for", ErrProtocol)
	}
	if b.err != nil {
		return nil
	}
	b.ahead -= len(data)
	if len(data) == 0 {
		b.err = io.EOF
	} else {
		b.queue = append(b.queue, data)
	}
	b.wake.Broadcast()
	return nil
}

// Fail ends reading with err after what has been pushed; content that is
// complete stays readable. It may be called more than once.
func (b *Inbox) Fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
		b.wake.Broadcast()
	}
}

// Drop forgets what was pushed and ends reading.
func (b *Inbox) Drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = nil
	if b.err == nil {
		b.err = ErrEnded
	}
	b.wake.Broadcast()
}

// Read gives the content in order and io.EOF at its end.
func (b *Inbox) Read(p []byte) (int, error) {
	b.mu.Lock()
	for len(b.queue) == 0 && b.err == nil {
		b.wake.Wait()
	}
	if len(b.queue) == 0 {
		defer b.mu.Unlock()
		return 0, b.err
	}
	n := copy(p, b.queue[0])
	b.queue[0] = b.queue[0][n:]
	if len(b.queue[0]) == 0 {
		b.queue = b.queue[1:]
	}
	grant := b.settle(n)
	b.mu.Unlock()
	if grant > 0 {
		b.credit(grant)
	}
	return n, nil
}

// settle returns the credit that is worth a frame now that n bytes were read.
func (b *Inbox) settle(n int) uint32 {
	b.owed += n
	if b.err != nil || b.owed < Window/4 {
		return 0
	}
	grant := b.owed
	b.owed, b.ahead = 0, b.ahead+grant
	return uint32(grant)
}

// Outbox is the sending end of one call's content.
type Outbox struct {
	mu     sync.Mutex
	wake   sync.Cond
	credit int64
	err    error
	out    *Writer
	id     uint32
}

// NewOutbox returns the sending end of call id on out.
func NewOutbox(out *Writer, id uint32) *Outbox {
	b := &Outbox{credit: Window, out: out, id: id}
	b.wake.L = &b.mu
	return b
}

// Credit allows n bytes more.
func (b *Outbox) Credit(n uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.credit += int64(n)
	b.wake.Broadcast()
}

// Stop ends sending; a Write that waits returns ErrEnded.
func (b *Outbox) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = ErrEnded
	b.wake.Broadcast()
}

// Write sends p in frames, as the receiver's credit allows.
func (b *Outbox) Write(p []byte) (int, error) {
	sent := 0
	for sent < len(p) {
		n, err := b.take(len(p) - sent)
		if err == nil {
			err = b.out.Write(KindData, b.id, p[sent:sent+n])
		}
		if err != nil {
			return sent, err
		}
		sent += n
	}
	return sent, nil
}

// End sends the frame that ends the content.
func (b *Outbox) End() error { return b.out.Write(KindData, b.id, []byte{}) }

// take waits for credit and uses up to want bytes of it.
func (b *Outbox) take(want int) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.credit <= 0 && b.err == nil {
		b.wake.Wait()
	}
	if b.err != nil {
		return 0, b.err
	}
	n := int(min(int64(want), b.credit, DataSize))
	b.credit -= int64(n)
	return n, nil
}
