package live

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// pace is how often a block is drawn at most, and how often it is looked at
// whether it must be.
const pace = 100 * time.Millisecond

// Painter keeps the block at the foot of a terminal. Between two writes the
// cursor stands where the block begins, so that whatever else writes to the
// terminal, or a new size, leaves nothing of it behind. Its methods may be called
// from several goroutines.
type Painter struct {
	o     PainterOptions
	mu    sync.Mutex
	drawn []string // what stands on the screen
	last  time.Time
	open  bool // the last line of text has not ended: somebody is asked
	held  bool // between Suspend and Resume
	ended bool
	stop  chan struct{}
	done  chan struct{}
}

// PainterOptions are what a Painter needs of a terminal.
type PainterOptions struct {
	Terminal io.Writer
	Block    func(cols, rows int) []string
	Size     func() (cols, rows int) // 0, 0 when it is not known
	// Foreground tells whether the terminal is ours to draw on; nil: always.
	Foreground func() bool
	Now        func() time.Time // nil means time.Now
}

// NewPainter returns a painter that has drawn nothing yet.
func NewPainter(o PainterOptions) *Painter {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Foreground == nil {
		o.Foreground = func() bool { return true }
	}
	return &Painter{o: o}
}

// Start draws from now on by itself whenever the block changes, until Close.
func (p *Painter) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil || p.ended {
		return
	}
	p.stop, p.done = make(chan struct{}), make(chan struct{})
	go p.tick(p.stop, p.done)
}

func (p *Painter) tick(stop, done chan struct{}) {
	defer close(done)
	t := time.NewTicker(pace)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			p.Redraw()
		case <-stop:
			return
		}
	}
}

// Writer returns a writer for text that scrolls above the block; to is the
// terminal, or another file that is the same terminal.
func (p *Painter) Writer(to io.Writer) io.Writer { return &scrolled{p: p, to: to} }

type scrolled struct {
	p  *Painter
	to io.Writer
}

// Write takes the block away, writes the text as it is, and draws the block
// again, unless that was done a moment ago or the text's line goes on.
func (s *scrolled) Write(text []byte) (int, error) {
	p := s.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(text) == 0 {
		return 0, nil
	}
	p.erase()
	n, err := s.to.Write(text)
	p.open = n > 0 && text[n-1] != '\n'
	if p.o.Now().Sub(p.last) >= pace {
		p.draw()
	}
	return n, err
}

// Redraw draws the block when it has changed.
func (p *Painter) Redraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draw()
}

// Resized draws the block for the terminal's new size.
func (p *Painter) Resized() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.draw()
}

// Suspend takes the block away until Resume. On a terminal that others have
// taken over already it leaves everything as it is.
func (p *Painter) Suspend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.o.Foreground() {
		p.drawn = nil
	}
	p.erase()
	p.held = true
}

// Resume draws the block again.
func (p *Painter) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = false
	p.draw()
}

// Close takes the block away for good and ends the drawing. Writers go on.
func (p *Painter) Close() {
	p.mu.Lock()
	p.erase()
	p.ended = true
	stop, done := p.stop, p.done
	p.stop = nil
	p.mu.Unlock()
	if stop != nil {
		close(stop)
		<-done
	}
}

// erase clears from the cursor, which stands at the block's first column, to the
// end of the screen.
func (p *Painter) erase() {
	if len(p.drawn) > 0 {
		p.put([]byte("\r\x1b[J"))
		p.drawn = nil
	}
}

// draw writes the block and leaves the cursor where it begins.
func (p *Painter) draw() {
	if p.open || p.held || p.ended || !p.o.Foreground() {
		return
	}
	cols, rows := p.o.Size()
	lines := p.o.Block(cols, rows)
	if slices.Equal(lines, p.drawn) {
		return
	}
	p.last = p.o.Now()
	if len(lines) == 0 {
		p.erase()
		return
	}
	var b bytes.Buffer
	b.WriteByte('\r')
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line + "\x1b[K")
	}
	b.WriteString("\x1b[J\r") // what is left of a longer block
	if n := len(lines) - 1; n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", n)
	}
	p.put(b.Bytes())
	p.drawn = lines
}

// put writes to the terminal; a terminal that is gone is noticed by others.
func (p *Painter) put(text []byte) { _, _ = p.o.Terminal.Write(text) }
