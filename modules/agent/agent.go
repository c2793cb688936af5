// Package agent is the target's half of the protocol (docs/protocol.md); the
// controller's half is package connection/link. Flowing in: calls, over one byte
// stream. Flowing out: the modules' results. It runs modules concurrently and
// keeps them apart, and starts detached runs. It never opens a network port, and
// prints nothing of its own.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strings"
	"time"

	"play/modules"
	"play/modules/foreign"
	"play/modules/leftover"
	"play/modules/wire"
)

// Config is what an agent is made of.
type Config struct {
	Modules []modules.Module // sorted by name
	Web     modules.Web      // nil: this is the plain agent
	Env     []string         // environment of the agent and of what it starts
	Home    string           // the user's home folder
	Dir     string           // the working directory, as the hello tells it
	// TmpParents are the folders to try for the private one; the first that takes
	// it wins.
	TmpParents []string
	// Self is the command line, without arguments, that runs Main again.
	Self []string
	// Idle ends the session after such a silence; 0: 15 minutes.
	Idle time.Duration
	// Grace is how long the end waits for running modules; 0: 5 seconds.
	Grace time.Duration
	// Watch makes a killed agent leave nothing behind (see package leftover).
	Watch bool
}

const (
	defaultIdle  = 15 * time.Minute
	defaultGrace = 5 * time.Second
)

// Serve speaks with one controller until the input ends, the controller says
// bye, or ctx ends. All calls that still run are ended then. The error says what
// the controller did wrong, or why the session was cut short.
func Serve(ctx context.Context, in io.Reader, out io.Writer, config Config) error {
	if config.Idle == 0 {
		config.Idle = defaultIdle
	}
	if config.Grace == 0 {
		config.Grace = defaultGrace
	}
	tmpDir := privateDir(config.TmpParents)
	if tmpDir != "" {
		defer os.RemoveAll(tmpDir)
	}
	if config.Watch {
		leftover.Watch(tmpDir, watchEnv(config.Env))
	}
	calls, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	s := &session{
		runner: newRunner(&config, tmpDir), config: &config, out: wire.NewWriter(out), ctx: calls,
		slots: make(chan struct{}, wire.MaxRunning), calls: map[uint32]*call{}, parts: map[uint32][]byte{},
	}
	s.warm = &foreign.Warm{}
	defer s.warm.Close()
	if err := s.hello(out); err != nil {
		cancel(errGone)
		return err
	}
	err := s.loop(ctx, in)
	cancel(errGone)
	if err != nil {
		s.wait.Go(func() { _ = s.out.Write(wire.KindBye, 0, err.Error()) }) // nobody may be there to read it
	}
	s.settle()
	return err
}

// hello opens the stream.
func (s *session) hello(out io.Writer) error {
	if _, err := io.WriteString(out, wire.Magic); err != nil {
		return err
	}
	h := &wire.Hello{
		Version: wire.Version, Build: wire.Build(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		UID: os.Getuid(), Home: s.home, TmpDir: s.tmpDir, PID: os.Getpid(), Dir: s.config.Dir, Full: s.config.Web != nil,
	}
	if u, err := user.LookupId(fmt.Sprint(h.UID)); err == nil {
		h.User = u.Username
	}
	return s.out.Write(wire.KindHello, 0, h)
}

// settle waits for the modules that were told to end, and for the last frames.
func (s *session) settle() {
	done := make(chan struct{})
	go func() {
		s.wait.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(s.config.Grace):
	}
}

// watchEnv is what the shell that outlives the agent needs of its environment.
func watchEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		return !strings.HasPrefix(e, "PATH=") && !strings.HasPrefix(e, "HOME=")
	})
}

// privateDir makes a folder that only this user can enter, or returns "" when
// no parent takes it (a full or read-only disk).
func privateDir(parents []string) string {
	for _, p := range parents {
		if p == "" {
			continue
		}
		if dir, err := os.MkdirTemp(p, "play-agent-"); err == nil {
			return dir
		}
	}
	return ""
}

// errUsage is the answer to a command line that play never gives.
var errUsage = errors.New("usage: play-agent serve")
