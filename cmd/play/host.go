package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/term"

	"play/engine/live"
)

// host is what play gets of the machine it runs on; tests make their own.
type host struct {
	In       *os.File
	Out, Err io.Writer
	OutFile  *os.File // the file behind Out; nil when it is none
	Environ  []string
	Dir      string
	mu       sync.Mutex                   // one question at a time
	block    atomic.Pointer[live.Painter] // of the run that is watched; or nil
	private  atomic.Pointer[plainCopy]    // what an editor shows; or nil
}

func newHost() *host {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return &host{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, OutFile: os.Stdout, Environ: os.Environ(), Dir: dir}
}

// terminal reports whether a file is a terminal.
func terminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// width is the terminal's width less one, as the banners use it; 0 without a
// terminal.
func (h *host) width() int {
	if !terminal(h.OutFile) {
		return 0
	}
	w, _, err := term.GetSize(int(h.OutFile.Fd()))
	if err != nil {
		return 0
	}
	return w - 1
}

// Interactive tells whether there is a person to ask.
func (h *host) Interactive() bool { return terminal(h.In) }

// errNoTerminal is returned where a person would have to be asked.
var errNoTerminal = errors.New("there is no terminal to ask at")

// Ask shows a prompt and reads a line. It returns early when ctx ends.
func (h *host) Ask(ctx context.Context, prompt string, echo bool) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !terminal(h.In) {
		return "", errNoTerminal
	}
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	state, _ := term.GetState(int(h.In.Fd()))
	if !echo {
		hideTyping(h.In) // before the prompt: who answers it at once is not to be seen either
		defer func() {
			if state != nil {
				_ = term.Restore(int(h.In.Fd()), state) // a terminal that is gone shows nothing
			}
		}()
	}
	show, shut := h.prompter()
	defer shut()
	fmt.Fprint(show, prompt)
	go func() {
		if !echo {
			b, err := term.ReadPassword(int(h.In.Fd()))
			fmt.Fprintln(show)
			got <- answer{string(b), err}
			return
		}
		line, err := bufio.NewReaderSize(h.In, 1).ReadString('\n')
		got <- answer{trimNewline(line), err}
	}()
	select {
	case a := <-got:
		return a.text, a.err
	case <-ctx.Done():
		if state != nil {
			_ = term.Restore(int(h.In.Fd()), state)
		}
		return "", context.Cause(ctx)
	}
}

// prompter is where questions are shown: the output, or the terminal itself when
// the output goes elsewhere.
func (h *host) prompter() (w io.Writer, shut func()) {
	if !terminal(h.OutFile) {
		if tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
			return tty, func() { _ = tty.Close() } // nothing is buffered
		}
	}
	return h.Out, func() {}
}

func trimNewline(s string) string {
	for len(s) > 0 && (s[len(s)-1] == '\n' || s[len(s)-1] == '\r') {
		s = s[:len(s)-1]
	}
	return s
}
