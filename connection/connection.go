// Package connection reaches hosts. A transport only starts processes on a
// host and moves bytes to them; everything above (finding or uploading the
// agent, frames, become, file transfer) is shared by all transports. Flowing
// in: a Target, resolved from a host's variables. Flowing out: a Link over
// which module calls run. It knows no playbook and evaluates no template.
package connection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"play/modules/wire"
)

// Target is everything that says how to reach a host, resolved to plain values.
// It must not change once it was handed to a pool.
type Target struct {
	Name            string // inventory name, for messages
	Transport       string // "ssh", "local"
	Address         string // ansible_host; "": Name
	Port            int    // 0: the transport's default
	User            string // "": the transport's default
	Password        string
	KeyFiles        []string      // ansible_ssh_private_key_file and the like; empty: the defaults
	Timeout         time.Duration // for the whole of connecting and authenticating; 0: 10 s
	HostKeyChecking bool
	AcceptNew       bool              // record the key of a host that is not known yet instead of refusing it
	Retries         int               // further attempts after a failed connection (never after a rejected login)
	RemoteTmp       string            // the operator's choice for the agent's folder, tried first; "": the built-in ones
	Become          *Become           // nil: the login user
	Options         map[string]string // ssh options by lower-case ssh_config name, as -o gives them
	// Full asks for the full agent: the plain one lacks the modules that need TLS.
	Full bool
}

// Become says which other user a second agent runs as.
type Become struct {
	Method   string // "sudo", "su", "doas"; "": sudo
	User     string // "": root
	Password string
	Flags    string // "": the method's default; split at spaces
	Exe      string // "": the method's name
}

// DefaultTimeout bounds connecting where a target names no limit.
const DefaultTimeout = 10 * time.Second

// ConnectTimeout is the target's limit for connecting, or the default one.
func (t *Target) ConnectTimeout() time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return DefaultTimeout
}

// Host is the address to connect to: Address, or Name.
func (t *Target) Host() string {
	if t.Address != "" {
		return t.Address
	}
	return t.Name
}

// HostKey identifies the login connection that serves a target: two targets
// that differ only in Become, Full or in how patient they are share it. It holds secrets and is never shown.
func (t *Target) HostKey() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q %d %q %q %q %t %t %q", t.Transport, t.Name, t.Host(), t.Port, t.User, t.Password,
		t.KeyFiles, t.HostKeyChecking, t.AcceptNew, t.RemoteTmp)
	for _, name := range slices.Sorted(maps.Keys(t.Options)) {
		fmt.Fprintf(&b, " %q=%q", name, t.Options[name])
	}
	return b.String()
}

// Key identifies the agent that serves a target: one per login connection,
// become and kind of agent. It holds secrets and is never shown.
func (t *Target) Key() string {
	key := t.HostKey()
	if t.Become != nil {
		key += fmt.Sprintf(" become %q", *t.Become)
	}
	if t.Full {
		key += " full"
	}
	return key
}

// With is the target with the agent of a kind.
func (t *Target) With(full bool) *Target {
	if t.Full == full {
		return t
	}
	other := *t
	other.Full = full
	return &other
}

// Stream is a running process on the host: its stdin and stdout. Close ends
// the process's input and gives the stream up; it does not wait for the end.
type Stream interface {
	io.ReadWriteCloser
	// Stderr returns what the process wrote to stderr so far (bounded: the
	// first and the last part are kept).
	Stderr() string
	// Wait returns the exit status once the process has ended (128 and the
	// signal's number for one that a signal ended); -1 with an error when it is
	// not known, since the connection was lost.
	Wait() (int, error)
}

// HalfCloser is an optional ability of a Stream: ending the process's stdin
// while its stdout is still read.
type HalfCloser interface {
	CloseWrite() error
}

// Transport is one live connection to a host as its login user. Its methods
// may be called concurrently.
type Transport interface {
	// Start runs a script by the host's /bin/sh, whatever the user's login
	// shell is, and returns its pipes. ctx bounds the start only.
	Start(ctx context.Context, script string) (Stream, error)
	Close() error
}

// LineStarter is an optional ability of a Transport: giving a command line to
// the user's own login shell (raw), which need not be a POSIX shell.
type LineStarter interface {
	StartLine(ctx context.Context, line string) (Stream, error)
}

// FilePutter is an optional ability of a Transport: writing a new file directly
// (SFTP). Without it the agent is uploaded through a pipe.
type FilePutter interface {
	PutFile(ctx context.Context, path string, mode uint32, r io.Reader) error
}

// Link is a started agent on a host. Calls may run concurrently.
type Link interface {
	// Hello is what the agent said of itself and its host.
	Hello() *wire.Hello
	// Call runs one module; body is its content (nil: none). out receives the
	// last line of a running command's output now and then, raw (nil: not
	// wanted). When ctx ends, the module is cancelled on the target. The error is
	// an *UnreachableError when the host is lost.
	Call(ctx context.Context, call *wire.Call, body io.Reader, out func(line []byte)) (*wire.Reply, error)
	Close() error
}

// Unreachablef makes an UnreachableError; %w sets its cause. Whatever words of
// the host's it holds come out fit for a terminal.
func Unreachablef(host, format string, args ...any) *UnreachableError {
	err := fmt.Errorf(format, args...)
	return &UnreachableError{Host: host, Msg: Printable(err.Error()), Err: errors.Unwrap(err)}
}

// UnreachableError says that a host could not be reached or was lost, and why.
type UnreachableError struct {
	Host string
	Msg  string
	Err  error
}

// Error gives the reason.
func (e *UnreachableError) Error() string { return e.Msg }

// Unreachable reports that the host was not reached.
func (e *UnreachableError) Unreachable() bool { return true }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// BecomeError says that becoming another user failed: the host is reachable,
// the task has failed (as "Missing sudo password" does in Ansible).
type BecomeError struct {
	Host string
	Msg  string
	// Rejected tells that the password was wrong; trying it again could lock
	// the account.
	Rejected bool
	// NoTerminal tells that the program wants a terminal and had none.
	NoTerminal bool
}

// Error gives the reason.
func (e *BecomeError) Error() string { return e.Msg }

// ErrAuth is wrapped when the host refused every way to authenticate; it is
// never retried.
var ErrAuth = errors.New("authentication failed")
