package pool

import (
	"context"
	"errors"
	"io"
	"sync"

	"play/connection"
)

// errClosed answers a Get after Close.
var errClosed = errors.New("the connection pool is closed")

// slot is a value that is being made, or was.
type slot[T io.Closer] struct {
	host string        // Target.HostKey
	done chan struct{} // closed once value and err are set
	// value and err are read only after done.
	value T
	err   error
}

// await waits until the value is there.
func (s *slot[T]) await(ctx context.Context) (T, error) {
	select {
	case <-s.done:
		return s.value, s.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

func (s *slot[T]) finished() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// ready tells whether the value is there.
func (s *slot[T]) ready() bool { return s.finished() && s.err == nil }

// claim returns the slot under key; the first to ask makes it and starts
// filling it.
func claim[T io.Closer](p *Pool, slots map[string]*slot[T], key, host string, fill func() (T, error)) (*slot[T], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return nil, errClosed
	}
	if s, ok := slots[key]; ok {
		return s, nil
	}
	s := &slot[T]{host: host, done: make(chan struct{})}
	slots[key] = s
	p.wait.Go(func() {
		s.value, s.err = fill()
		if s.err != nil && !rejected(s.err) {
			forget(p, slots, key, s)
		}
		close(s.done)
	})
	return s, nil
}

// forget takes a slot out if it is still this one, and tells whether it was.
func forget[T io.Closer](p *Pool, slots map[string]*slot[T], key string, s *slot[T]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slots[key] != s {
		return false
	}
	delete(slots, key)
	return true
}

// take removes and returns the slots of a host ("": of all). The lock is held.
func take[T io.Closer](slots map[string]*slot[T], host string) []*slot[T] {
	var taken []*slot[T]
	for key, s := range slots {
		if host == "" || s.host == host {
			taken = append(taken, s)
			delete(slots, key)
		}
	}
	return taken
}

// closeAll closes the values at once, each as soon as it is there.
func closeAll[T io.Closer](slots []*slot[T]) {
	var wait sync.WaitGroup
	for _, s := range slots {
		wait.Go(func() {
			<-s.done
			if s.err == nil {
				s.value.Close()
			}
		})
	}
	wait.Wait()
}

// rejected tells of a password that must not be tried again.
func rejected(err error) bool {
	var b *connection.BecomeError
	return errors.As(err, &b) && b.Rejected
}
