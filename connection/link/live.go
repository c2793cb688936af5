package link

import (
	"sync"
	"time"
)

// livePace is the least time between two lines that a call's receiver gets,
// however fast a host sends them.
const livePace = 100 * time.Millisecond

// live hands the last line of a call's output to its receiver, from a goroutine
// of its own. A line that the receiver had no time for is replaced by the next
// one: it is for displays, and the result has all of it again. A nil live
// drops everything.
type live struct {
	out  func(line []byte)
	wake chan struct{} // there is a line
	stop chan struct{}
	done chan struct{}

	mu   sync.Mutex
	line []byte // nil: nothing new
}

func startLive(out func(line []byte)) *live {
	v := &live{out: out, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go v.run()
	return v
}

// push takes a line and never blocks.
func (v *live) push(line []byte) {
	if v == nil {
		return
	}
	v.mu.Lock()
	v.line = line
	v.mu.Unlock()
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// close ends the delivery; the receiver is not called after it has returned.
func (v *live) close() {
	if v == nil {
		return
	}
	close(v.stop)
	<-v.done
}

func (v *live) run() {
	defer close(v.done)
	for {
		select {
		case <-v.wake:
		case <-v.stop:
			return
		}
		v.mu.Lock()
		line := v.line
		v.line = nil
		v.mu.Unlock()
		if line != nil {
			v.out(line)
		}
		select {
		case <-time.After(livePace):
		case <-v.stop:
			return
		}
	}
}
