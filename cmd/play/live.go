package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"play/engine/event"
	"play/engine/history"
	"play/engine/live"
)

// leaveTime is how long the block may take to go when play must leave at once.
const leaveTime = 200 * time.Millisecond

// startLive puts the status block under what h shows from now on, when a person
// watches. It returns what must be told the run's events before the output is,
// or nil, and what ends it.
func startLive(h *host, o *options, c *cli.Context) (view *live.View, stop func()) {
	if c.Bool("no-live") || !watched(h, o) {
		return nil, func() {}
	}
	view = live.NewView(live.Options{Color: o.color(h), ASCII: !h.speaksUTF8(), Lines: c.Bool("live"), Expected: earlierRuns(h, o, c)})
	p := live.NewPainter(live.PainterOptions{Terminal: h.OutFile, Block: view.Block, Size: h.size, Foreground: h.foreground})
	out, errs := h.Out, h.Err
	h.Out = p.Writer(out)
	if f, ok := errs.(*os.File); ok && terminal(f) {
		h.Err = p.Writer(errs)
	}
	h.block.Store(p)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGCONT)
	ended := make(chan struct{})
	go heed(p, signals, ended)
	watch := startSentinel(func(s *sentinel) { halt(p, s) })
	p.Start()
	return view, func() {
		watch.close()
		signal.Stop(signals)
		close(ended)
		p.Close()
		h.Out, h.Err = out, errs
	}
}

// watched reports whether a person looks at the output on a terminal that can
// show the block: never in a pipe, in continuous integration or with an output
// that draws by itself or is for programs.
func watched(h *host, o *options) bool {
	if f, ok := h.Out.(*os.File); !ok || f != h.OutFile || !terminal(f) {
		return false
	}
	if ci := strings.ToLower(h.env("CI")); ci != "" && ci != "0" && ci != "false" {
		return false
	}
	if t := h.env("TERM"); t == "" || t == "dumb" {
		return false
	}
	name := o.Settings.StdoutCallback
	return !slices.Contains([]string{"json", "jsonl", "dense", "null"}, name[strings.LastIndexByte(name, '.')+1:])
}

// heed draws anew when the terminal's size changes, and when play goes on after
// it was stopped.
func heed(p *live.Painter, signals chan os.Signal, ended chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case s := <-signals:
			if s == syscall.SIGWINCH {
				p.Resized()
			} else {
				p.Resume()
			}
		}
	}
}

// halt stops play as Ctrl-Z wants it, without the block; SIGCONT, when play goes
// on, brings it back.
func halt(p *live.Painter, s *sentinel) {
	p.Suspend()
	if s.goesOn() { // nobody would let play go on
		p.Resume()
		return
	}
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP) // it is always allowed
}

// earlierRuns are the durations of the playbooks' earlier runs; nil when none
// are known.
func earlierRuns(h *host, o *options, c *cli.Context) event.Expectations {
	path := historyPath(h)
	if _, err := os.Stat(path); path == "" || err != nil || o.Settings.NoHistory {
		return nil
	}
	store, err := history.Open(path)
	if err != nil {
		return nil // the run itself will warn of it
	}
	defer store.Close()
	var paths []string
	for _, p := range c.Args().Slice() {
		paths = append(paths, h.path(filepath.Clean(p)))
	}
	known, err := store.Durations(paths)
	if err != nil {
		return nil
	}
	return absolutely{known, h}
}

// absolutely asks for playbooks by their absolute paths.
type absolutely struct {
	event.Expectations
	host *host
}

func (a absolutely) Expected(playbook, task string) time.Duration {
	return a.Expectations.Expected(a.host.path(filepath.Clean(playbook)), task)
}

// size is the terminal's size now; 0, 0 when it is not known.
func (h *host) size() (cols, rows int) {
	cols, rows, err := term.GetSize(int(h.OutFile.Fd()))
	if err != nil {
		return 0, 0
	}
	return cols, rows
}

// foreground reports whether the terminal listens to play, and not to another
// job of the shell.
func (h *host) foreground() bool {
	group, err := unix.IoctlGetInt(int(h.OutFile.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// speaksUTF8 reports whether the locale's characters are UTF-8.
func (h *host) speaksUTF8() bool {
	locale := first(h.env("LC_ALL"), h.env("LC_CTYPE"), h.env("LANG"))
	return strings.Contains(strings.ToLower(strings.ReplaceAll(locale, "-", "")), "utf8")
}

// leave removes a plaintext and takes the block away when play must leave at
// once, without waiting for a terminal that stands still.
func (h *host) leave() {
	if c := h.private.Load(); c != nil {
		c.shred()
	}
	p := h.block.Load()
	if p == nil {
		return
	}
	gone := make(chan struct{})
	go func() { p.Suspend(); close(gone) }()
	select {
	case <-gone:
	case <-time.After(leaveTime):
	}
}
