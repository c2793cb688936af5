// Package become runs scripts as another user over a connection of the login
// user, by sudo, su or doas. Flowing in: a Transport of the login user. Flowing
// out: a Transport of the other user. A password travels by the command's input
// alone, once, after its own prompt has been seen; it is never in an argument,
// an environment or a file.
package become

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"play/connection"
)

// Transport starts processes as another user.
type Transport struct {
	login connection.Transport
	how   connection.Become
	host  string // for messages
	// terminal starts a command that has a terminal; nil: none can be had.
	terminal Terminal
}

// Terminal starts a command on the login user's side with a terminal that is not
// its standard input and output. Whenever the terminal shows a prompt, marker is
// written to stderr, and the next line of the input goes to the terminal.
type Terminal func(ctx context.Context, marker string, argv []string) (connection.Stream, error)

var _ connection.Transport = (*Transport)(nil)

// Over returns the transport of the user in how, over that of the login user.
func Over(login connection.Transport, how connection.Become, host string) *Transport {
	if how.Method == "" {
		how.Method = "sudo"
	}
	if how.User == "" {
		how.User = "root"
	}
	if how.Exe == "" {
		how.Exe = how.Method
	}
	return &Transport{login: login, how: how, host: host}
}

// WithTerminal lets programs that insist on a terminal have one.
func (t *Transport) WithTerminal(terminal Terminal) *Transport {
	t.terminal = terminal
	return t
}

// Start runs a script as the other user. It returns once the script has
// started; ctx bounds that. Errors are *connection.BecomeError, or those of the
// login user's transport, or ctx's.
func (t *Transport) Start(ctx context.Context, script string) (connection.Stream, error) {
	// doas reads a password from a terminal only.
	if t.how.Method == "doas" && t.how.Password != "" && t.terminal != nil {
		return t.onTerminal(ctx, script)
	}
	d := &dialog{host: t.host, how: &t.how, success: rand.Text()}
	argv, err := t.command(d, "echo "+d.success+"; "+script)
	if err != nil {
		return nil, err
	}
	line := "exec"
	for _, w := range argv {
		line += " " + connection.Quote(w)
	}
	s, err := t.login.Start(ctx, line)
	if err != nil {
		return nil, err
	}
	s, err = d.run(ctx, s)
	var refused *connection.BecomeError
	if errors.As(err, &refused) && refused.NoTerminal && t.terminal != nil {
		return t.onTerminal(ctx, script)
	}
	return s, err
}

// onTerminal is Start with a terminal.
func (t *Transport) onTerminal(ctx context.Context, script string) (connection.Stream, error) {
	d := &dialog{host: t.host, how: &t.how, success: rand.Text(), marker: rand.Text()}
	argv, err := t.command(d, "echo "+d.success+"; "+script)
	if err != nil {
		return nil, err
	}
	s, err := t.terminal(ctx, d.marker, argv)
	if err != nil {
		return nil, err
	}
	return d.run(ctx, s)
}

// Close does nothing: the login user's connection belongs to its owner.
func (t *Transport) Close() error { return nil }

// ReadyAgent is that of the login user's transport, where it has one.
func (t *Transport) ReadyAgent() (path string, args []string) {
	if r, ok := t.login.(interface{ ReadyAgent() (string, []string) }); ok {
		return r.ReadyAgent()
	}
	return "", nil
}

// command builds the command's words and tells the dialog what the prompt is.
func (t *Transport) command(d *dialog, script string) ([]string, error) {
	var words []string
	shell := []string{"/bin/sh", "-c", script}
	switch t.how.Method {
	case "sudo":
		d.prompt = rand.Text()
		words = append(sudoFlags(t.how.Flags), "-p", d.prompt, "-u", t.how.User)
		words = append(words, shell...)
	case "su":
		words = append(strings.Fields(t.how.Flags), t.how.User, "-c", script)
	case "doas":
		words = append(doasFlags(t.how.Flags, d.marker != ""), "-u", t.how.User)
		words = append(words, shell...)
	default:
		return nil, &connection.BecomeError{Host: t.host, Msg: fmt.Sprintf("cannot become %q: the method %q is not known (sudo, su, doas are)", t.how.User, t.how.Method)}
	}
	return append([]string{t.how.Exe}, words...), nil
}

// doasFlags are the operator's flags; without a terminal doas must not look for
// one, and with one it must ask.
func doasFlags(flags string, terminal bool) []string {
	if !terminal {
		return flagsOr(flags, "-n")
	}
	return slices.DeleteFunc(strings.Fields(flags), func(w string) bool { return w == "-n" })
}

// sudoFlags are the operator's flags or the usual ones. -n would hide that a
// password is wanted behind a translated message, and without -S sudo looks for
// a terminal.
func sudoFlags(flags string) []string {
	words := []string{"-S"}
	for _, w := range flagsOr(flags, "-H") {
		switch w {
		case "-n", "--non-interactive", "-S", "--stdin":
		default:
			words = append(words, w)
		}
	}
	return words
}

func flagsOr(flags, other string) []string {
	if strings.TrimSpace(flags) == "" {
		return []string{other}
	}
	return strings.Fields(flags)
}
