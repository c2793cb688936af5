package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"play/connection"
	"play/connection/inside"
	"play/connection/link"
	"play/connection/local"
	"play/connection/pool"
	"play/connection/ssh"
	"play/engine/event"
	"play/modules/shellquote"
)

// connections are a run's links to hosts.
type connections struct {
	*pool.Pool
	dialer *ssh.Dialer
}

// Close ends the links, then the bastions under them.
func (c *connections) Close() {
	c.Pool.Close()
	_ = c.dialer.Close() // nothing is lost with a bastion that cannot say goodbye
}

// newPool makes the pool of connections with every transport. verbosity is what
// people asked to see. Questions to the person end with ctx.
func newPool(ctx context.Context, h *host, sink event.Sink, verbosity int) (*connections, error) {
	plainAgents, fullAgents, err := agentBinaries()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find play's own executable: %w", err)
	}
	trace := tracer(sink, verbosity)
	dialer, err := newDialer(ctx, h, trace)
	if err != nil {
		return nil, err
	}
	plain := &local.Transport{Dir: h.Dir, User: dialer.User, Trace: trace}
	near := *plain
	near.Agent, near.AgentArgs = self, []string{agentCommand, "serve"}
	dial := map[string]pool.Dial{"ssh": dialer.Dial, "local": near.Dial}
	for name, kind := range inside.Kinds() {
		dial[name] = func(_ context.Context, t *connection.Target) (connection.Transport, error) {
			return kind.Dial(plain, t)
		}
	}
	return &connections{dialer: dialer, Pool: pool.New(pool.Config{
		Dial:   dial,
		Agents: plainAgents,
		Full:   fullAgents,
		Open: func(ctx context.Context, s connection.Stream, host string) (connection.Link, error) {
			return link.OpenWith(ctx, s, host, link.Options{Trace: trace})
		},
		Trace: trace,
	})}, nil
}

// tracer shows what is done for hosts to those who asked for it.
func tracer(sink event.Sink, verbosity int) connection.Trace {
	if verbosity < 3 {
		return nil
	}
	return func(level int, host, line string) {
		if level <= verbosity {
			sink.Verbose(level, host, line)
		}
	}
}

func newDialer(ctx context.Context, h *host, trace connection.Trace) (*ssh.Dialer, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("cannot find your home folder: %w", err)
	}
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	d := &ssh.Dialer{Home: home, User: name, AgentSock: os.Getenv("SSH_AUTH_SOCK"), Getenv: os.Getenv,
		ConfigFiles: []string{filepath.Join(home, ".ssh", "config"), "/etc/ssh/ssh_config"},
		Trace:       trace,
		Ask:         func(prompt string) (string, error) { return h.Ask(ctx, prompt, false) }}
	if h.Interactive() {
		d.AskHostKey = func(prompt string) (string, error) { return h.Ask(ctx, prompt, true) }
	}
	return d, nil
}

// sshOptions reads the text of ssh_args and its kin.
func sshOptions(args string) (map[string]string, error) {
	words, err := shellquote.Split(args)
	if err != nil {
		return nil, fmt.Errorf("cannot read the ssh arguments %q: %w", args, err)
	}
	return ssh.ParseArgs(words)
}

// newJobID makes the id of an asynchronous job: "j", the time, and chance.
func newJobID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	return fmt.Sprintf("j%d.%s", time.Now().Unix(), hex.EncodeToString(b[:]))
}
