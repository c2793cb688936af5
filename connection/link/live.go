package link

import "sync"

// maxLive bounds the live output of a call that waits for its receiver, in
// bytes; more is dropped, since the result has all of it again.
const maxLive = 256 << 10

// live hands a call's live output to its receiver, in order, from a goroutine
// of its own. A nil live drops everything.
type live struct {
	out  func([]byte)
	done chan struct{}

	mu     sync.Mutex
	wake   sync.Cond
	queue  []byte
	closed bool
}

func startLive(out func([]byte)) *live {
	v := &live{out: out, done: make(chan struct{})}
	v.wake.L = &v.mu
	go v.run()
	return v
}

// push adds output and never blocks.
func (v *live) push(data []byte) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.queue)+len(data) <= maxLive {
		v.queue = append(v.queue, data...)
		v.wake.Signal()
	}
}

// close delivers what is left and returns when the receiver has it.
func (v *live) close() {
	if v == nil {
		return
	}
	v.mu.Lock()
	v.closed = true
	v.wake.Signal()
	v.mu.Unlock()
	<-v.done
}

func (v *live) run() {
	defer close(v.done)
	for {
		v.mu.Lock()
		for len(v.queue) == 0 && !v.closed {
			v.wake.Wait()
		}
		data := v.queue
		v.queue = nil
		v.mu.Unlock()
		if len(data) == 0 {
			return
		}
		v.out(data)
	}
}
