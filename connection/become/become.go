// Package become runs scripts as another user over a connection of the login
// user, by sudo, su or doas. Flowing in: a Transport of the login user. Flowing
// out: a Transport of the other user. A password travels by the command's input
// alone, once, after its own prompt has been seen; it is never in an argument,
// an environment or a file.
package become

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"play/connection"
)

// Transport starts processes as another user.
type Transport struct {
	login connection.Transport
	how   connection.Become
	host  string // for messages
}

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

// Start runs a script as the other user. It returns once the script has
// started; ctx bounds that. Errors are *connection.BecomeError, or those of the
// login user's transport, or ctx's.
func (t *Transport) Start(ctx context.Context, script string) (connection.Stream, error) {
	d := &dialog{host: t.host, how: &t.how, success: rand.Text()}
	command, err := t.command(d, "echo "+d.success+"; "+script)
	if err != nil {
		return nil, err
	}
	s, err := t.login.Start(ctx, command)
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

// command builds the command line and tells the dialog what the prompt is.
func (t *Transport) command(d *dialog, script string) (string, error) {
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
		// doas reads a password from a terminal only, and there is none.
		words = append(flagsOr(t.how.Flags, "-n"), "-u", t.how.User)
		words = append(words, shell...)
	default:
		return "", &connection.BecomeError{Host: t.host, Msg: fmt.Sprintf("cannot become %q: the method %q is not known (sudo, su, doas are)", t.how.User, t.how.Method)}
	}
	line := "exec " + connection.Quote(t.how.Exe)
	for _, w := range words {
		line += " " + connection.Quote(w)
	}
	return line, nil
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
