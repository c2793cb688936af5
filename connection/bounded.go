package connection

import (
	"fmt"
	"io"
	"sync"
)

// stderrPart is how many bytes are kept of either end of a process's stderr.
const stderrPart = 64 << 10

// Bounded collects a process's stderr in bounded memory: the first and the last
// 64 KiB are kept. It may be read while it is written. The zero value is ready.
type Bounded struct {
	mu      sync.Mutex
	head    []byte
	tail    []byte
	dropped int
}

// Write keeps what fits; it never fails.
func (b *Bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(p)
	if room := stderrPart - len(b.head); room > 0 {
		take := min(room, len(p))
		b.head = append(b.head, p[:take]...)
		p = p[take:]
	}
	b.tail = append(b.tail, p...)
	// The tail is cut only when it has doubled, so that the cost per byte is constant.
	if len(b.tail) > 2*stderrPart {
		cut := len(b.tail) - stderrPart
		b.dropped += cut
		b.tail = append(b.tail[:0], b.tail[cut:]...)
	}
	return n, nil
}

// ReadFrom collects all of r through a small buffer: a thousand hosts have a
// thousand of them, and most say nothing.
func (b *Bounded) ReadFrom(r io.Reader) (int64, error) {
	var total int64
	buf := make([]byte, 1<<10)
	for {
		n, err := r.Read(buf)
		total += int64(n)
		_, _ = b.Write(buf[:n]) // it never fails
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// String returns what was kept, with a note in the place of what was not.
func (b *Bounded) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dropped == 0 {
		return string(b.head) + string(b.tail)
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", b.head, b.dropped, b.tail)
}
