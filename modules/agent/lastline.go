package agent

import (
	"bytes"
	"sync"
	"time"
	"unicode/utf8"

	"play/modules/wire"
)

// linePace is the time between two output frames of one call.
const linePace = 200 * time.Millisecond

// lastLine sends the last line of what a command prints while it runs: one at
// a time, at a bounded pace, cut. Writing to it never waits for the controller.
type lastLine struct {
	send func(line []byte)
	stop chan struct{}
	done chan struct{}
	wake chan struct{} // there is a line to send

	mu   sync.Mutex
	part []byte // the line that is being printed, up to wire.MaxLine bytes
	next []byte // what to send; nil: nothing new
}

// startLastLine returns a writer that sends from a goroutine of its own until
// close.
func startLastLine(send func(line []byte)) *lastLine {
	l := &lastLine{send: send, stop: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1)}
	go l.run()
	return l
}

// Write takes a piece of output. A line also ends at a carriage return, as
// programs show their progress.
func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		end := bytes.IndexAny(rest, "\r\n")
		text := rest
		if rest = nil; end >= 0 {
			text, rest = text[:end], text[end+1:]
		}
		l.part = append(l.part, text[:min(len(text), wire.MaxLine-len(l.part))]...)
		if len(bytes.TrimSpace(l.part)) > 0 {
			l.next = append(l.next[:0], l.part...)
		}
		if end >= 0 {
			l.part = l.part[:0]
		}
	}
	if l.next != nil {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
	return len(p), nil
}

// close ends the sending; nothing is sent after it has returned.
func (l *lastLine) close() {
	close(l.stop)
	<-l.done
}

func (l *lastLine) run() {
	defer close(l.done)
	for {
		select {
		case <-l.wake:
		case <-l.stop:
			return
		}
		if line := l.take(); line != nil {
			l.send(line)
		}
		select {
		case <-time.After(linePace):
		case <-l.stop:
			return
		}
	}
}

// take returns what is to be sent, without a character that was cut.
func (l *lastLine) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.next
	l.next = nil
	if len(line) < wire.MaxLine {
		return line
	}
	for i := len(line) - 1; i >= 0 && i > len(line)-utf8.UTFMax; i-- {
		if utf8.RuneStart(line[i]) {
			if !utf8.FullRune(line[i:]) {
				return line[:i]
			}
			break
		}
	}
	return line
}
