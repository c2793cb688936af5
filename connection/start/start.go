// Package start gets an agent running on a host, over any transport. Flowing
// in: a Transport and the agent binaries. Flowing out: a Stream that stands at
// the agent's first byte. When the agent is already on the host this takes one
// exec; else it is uploaded once into a private folder of the user, checked,
// renamed into place and started. It knows no frames, and never puts a file
// where another user could have prepared the place.
package start

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"play/connection"
)

// Binary is one agent executable.
type Binary struct {
	Hash string // SHA-256, lower-case hex
	Size int64  // bytes
	Open func() (io.ReadCloser, error)
}

// Agents has the agent executables that this build of play can send.
type Agents interface {
	// ID names the set; it changes whenever one of the executables does. It is
	// part of a file name.
	ID() string
	// Args are the arguments with which such an executable serves.
	Args() []string
	// Binary returns the executable for a platform in Go's words ("linux",
	// "amd64"), or false.
	Binary(goos, goarch string) (Binary, bool)
	// Platforms names the platforms there are, for messages.
	Platforms() []string
}

// Ready is an optional ability of a Transport: an agent that is already on the
// host and needs no upload where the user may execute it. "": none.
type Ready interface {
	ReadyAgent() (path string, args []string)
}

// Options are the choices for one start.
type Options struct {
	Host      string // for messages
	RemoteTmp string // the operator's folder, tried first; may begin with ~/
	Fresh     bool   // do not trust a copy that is already there
	// Stall is how long the host may make no progress, in any step; 0: 30 s.
	Stall time.Duration
	Trace connection.Trace // what is found and sent
	// Instead are plain words (letters and digits) that the executable gets in the
	// place of its last argument; nil: it serves.
	Instead []string
}

// defaultStall leaves room for a host under load.
const defaultStall = 30 * time.Second

// maxNoise is how much a login shell may print before the first answer.
const maxNoise = 1 << 20

// config is one start, made ready for the scripts.
type config struct {
	agents           Agents
	args             string
	remoteTmp        string
	ready, readyArgs string
	host             string
	reasons          []string // why folders were passed over
	progress         func()   // puts the stall limit off
	say              func(format string, args ...any)
}

// Agent starts the agent over tr and returns the stream at its first byte. ctx
// bounds the whole start, not the agent's life. Errors are *UnreachableError,
// except for an error of tr itself or of ctx.
func Agent(ctx context.Context, tr connection.Transport, agents Agents, o Options) (connection.Stream, error) {
	ctx, progress, stop := watch(ctx, o)
	defer stop()
	folder, err := remoteFolder(o.RemoteTmp)
	if err != nil {
		return nil, connection.Unreachablef(o.Host, "%w", err)
	}
	c := &config{agents: agents, args: o.words(agents.Args()), remoteTmp: folder, host: o.Host, progress: progress,
		say: func(format string, args ...any) { o.Trace.Say(3, o.Host, format, args...) }}
	if r, ok := tr.(Ready); ok {
		path, args := r.ReadyAgent()
		if path != "" {
			c.ready, c.readyArgs = connection.Quote(path), o.words(args)
		}
	}
	var skip []int
	for {
		stream, where, err := c.find(ctx, tr, skip, o.Fresh)
		if err != nil || stream != nil {
			return stream, err
		}
		stream, err = c.install(ctx, tr, where)
		var refused *folderError
		if !errors.As(err, &refused) {
			return stream, err
		}
		c.reasons = append(c.reasons, refused.reason)
		skip = append(skip, where.index)
	}
}

// words are the executable's arguments.
func (o *Options) words(args []string) string {
	if len(o.Instead) > 0 && len(args) > 0 {
		args = slices.Concat(args[:len(args)-1], o.Instead)
	}
	return strings.Join(args, " ")
}

// watch returns a context that ends when no progress is told of for too long.
func watch(ctx context.Context, o Options) (_ context.Context, progress, stop func()) {
	stall := o.Stall
	if stall <= 0 {
		stall = defaultStall
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(stall, func() {
		cancel(connection.Unreachablef(o.Host, "cannot start the agent: the host did not answer for %s", stall))
	})
	return ctx, func() { timer.Reset(stall) }, func() { timer.Stop(); cancel(nil) }
}

// place is where the agent may go.
type place struct {
	index        int
	goos, goarch string
	dir          string
}

// folderError says that a folder did not take the agent; the next one may.
type folderError struct{ reason string }

func (e *folderError) Error() string { return e.reason }

// find returns either the started agent or the place for an upload.
func (c *config) find(ctx context.Context, tr connection.Transport, skip []int, fresh bool) (connection.Stream, *place, error) {
	marker := rand.Text()
	s, err := tr.Start(ctx, findScript(marker, c, skip, fresh))
	if err != nil {
		return nil, nil, err
	}
	a, err := awaitAnswer(ctx, s, marker)
	c.progress()
	if err != nil {
		return nil, nil, c.failed(ctx, s, err)
	}
	for _, reason := range a.reasons {
		if !slices.Contains(c.reasons, reason) {
			c.reasons = append(c.reasons, reason)
			c.say("AGENT: a folder was passed over: %s", reason)
		}
	}
	if a.kind == 'S' {
		c.say("AGENT: found and started")
		return a.stream, nil, nil
	}
	leave(ctx, s)
	where, err := parsePlace(a.kind, a.rest)
	if err != nil {
		return nil, nil, connection.Unreachablef(c.host, "cannot start the agent: %w", err)
	}
	if where == nil {
		return nil, nil, connection.Unreachablef(c.host, "cannot start the agent: no folder on the host can take it: %s", strings.Join(c.reasons, "; "))
	}
	return nil, where, nil
}

// parsePlace reads the fields of an N answer; an X answer has none (nil).
func parsePlace(kind byte, rest string) (*place, error) {
	if kind == 'X' {
		return nil, nil
	}
	var p place
	var system, machine string
	if n, _ := fmt.Sscanf(rest, "%d %s %s", &p.index, &system, &machine); n != 3 {
		return nil, fmt.Errorf("the host gave the answer %q", rest)
	}
	fields := strings.SplitN(rest, " ", 4)
	if len(fields) < 4 || !strings.HasPrefix(fields[3], "/") {
		return nil, fmt.Errorf("the host gave the answer %q", rest)
	}
	p.dir = fields[3]
	p.goos, p.goarch = platform(system, machine)
	return &p, nil
}

// platform turns the words of uname into Go's.
func platform(system, machine string) (goos, goarch string) {
	goos = strings.ToLower(system)
	if strings.HasPrefix(goos, "cygwin") || strings.HasPrefix(goos, "mingw") || strings.HasPrefix(goos, "msys") {
		goos = "windows"
	}
	arch := map[string]string{
		"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "armv6l": "arm", "armv7l": "arm",
		"i386": "386", "i486": "386", "i586": "386", "i686": "386", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x",
	}
	if a, ok := arch[machine]; ok {
		return goos, a
	}
	return goos, machine
}

// install uploads the agent and starts it. A *folderError means that another
// folder may do.
func (c *config) install(ctx context.Context, tr connection.Transport, p *place) (connection.Stream, error) {
	b, ok := c.agents.Binary(p.goos, p.goarch)
	if !ok {
		return nil, connection.Unreachablef(c.host, "cannot start the agent: this play has none for %s/%s (it has %s)",
			p.goos, p.goarch, strings.Join(c.agents.Platforms(), ", "))
	}
	c.say("AGENT: not found; sending the one for %s/%s (%d bytes) to %s", p.goos, p.goarch, b.Size, connection.Printable(p.dir))
	temp := ".up-" + rand.Text()
	if err := c.upload(ctx, tr, b, p.dir+"/"+temp); err != nil {
		return nil, err
	}
	marker := rand.Text()
	s, err := tr.Start(ctx, finishScript(marker, p.dir, temp, c, b))
	if err != nil {
		return nil, err
	}
	a, err := awaitAnswer(ctx, s, marker)
	c.progress()
	if err != nil {
		return nil, c.failed(ctx, s, err)
	}
	if a.kind == 'S' {
		c.say("AGENT: sent and started")
		return a.stream, nil
	}
	leave(ctx, s)
	return nil, &folderError{strings.Join(a.reasons, "; ")}
}

// leave waits for the end of a script that has said all: a server that allows
// one session at a time refuses the next one until this one is over.
func leave(ctx context.Context, s connection.Stream) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = s.Wait() // how it ended does not matter any more
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	s.Close()
}

// failed words an error of a script that gave no answer.
func (c *config) failed(ctx context.Context, s connection.Stream, err error) error {
	defer s.Close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var unreachable *connection.UnreachableError
	if errors.As(err, &unreachable) {
		return err
	}
	said := strings.TrimSpace(s.Stderr())
	if said == "" {
		said = err.Error()
	}
	return connection.Unreachablef(c.host, "cannot start the agent: the host's shell did not run the start script: %s", said)
}
