package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"play/connection"
)

// login chooses the ways to authenticate on one connection.
type login struct {
	dialer    *Dialer
	s         *settings
	guard     *guard
	sock      net.Conn // to the ssh-agent; nil: not used yet
	trusted   bool     // the person was asked about the host's key, and trusts it
	noSecrets bool     // the host's key is not the known one: no password may be sent
	err       error    // why authentication ended, for a person
	locked    error    // why a key that the server wanted could not be used
	asked     bool     // keyboard-interactive: the password was given
}

func (d *Dialer) newLogin(s *settings, g *guard) *login { return &login{dialer: d, s: s, guard: g} }

// close ends the conversation with the ssh-agent.
func (l *login) close() {
	if l.sock != nil {
		l.sock.Close()
	}
}

// next names the method to try next: each once, in the preferred order, as far
// as the server takes it and there is something to show.
func (l *login) next(c *gossh.ClientAuthContext) (gossh.AuthMethod, error) {
	for _, method := range l.s.methods {
		if !slices.Contains(c.AllowedMethods, method) || slices.Contains(c.TriedMethods, method) || slices.Contains(c.PartialSuccessMethods, method) {
			continue
		}
		switch {
		case method == "publickey":
			signers, err := l.signers()
			if err != nil {
				return nil, err
			}
			if len(signers) > 0 {
				return gossh.PublicKeys(signers...), nil
			}
		case l.s.password == "" || l.noSecrets:
		case method == "password":
			return gossh.Password(l.s.password), nil
		case method == "keyboard-interactive":
			return gossh.KeyboardInteractive(l.challenge), nil
		}
	}
	msg := fmt.Sprintf("%s@%s: Permission denied (%s).", l.s.user, l.s.host, strings.Join(printable(c.AllowedMethods), ","))
	if l.locked != nil {
		msg += " " + l.locked.Error()
	}
	l.err = &authError{msg}
	return nil, l.err
}

// authError is a rejected login, in OpenSSH's words.
type authError struct{ msg string }

func (e *authError) Error() string        { return e.msg }
func (e *authError) Is(target error) bool { return target == connection.ErrAuth }

func printable(words []string) []string {
	said := make([]string, len(words))
	for i, w := range words {
		said[i] = connection.Printable(w)
	}
	return said
}

// challenge answers a hidden question with the password, once: a second one
// means that it was wrong.
func (l *login) challenge(_, _ string, questions []string, echos []bool) ([]string, error) {
	answers := make([]string, len(questions))
	for i := range questions {
		if echos[i] || l.asked {
			return nil, errors.New("the server asked a question that has no answer")
		}
		answers[i], l.asked = l.s.password, true
	}
	return answers, nil
}

// maxAgentKeys bounds how many keys of the ssh-agent are offered: servers count
// each offer as an attempt.
const maxAgentKeys = 20

// signers are the keys to offer: those the operator named, the ssh-agent's, and
// the default ones where none was named.
func (l *login) signers() ([]gossh.Signer, error) {
	held := l.agentSigners()
	var all []gossh.Signer
	for _, file := range l.s.keyFiles {
		key, err := l.dialer.keys.load(file, l)
		if err != nil {
			return nil, &SettingError{err.Error()}
		}
		all = append(all, prefer(held, key)...)
	}
	if !l.s.identitiesOnly {
		all = append(all, held[:min(len(held), maxAgentKeys)]...)
	}
	for _, file := range l.s.defaultKeys {
		// A default key that is absent or unreadable is passed over, as ssh does.
		if key, err := l.dialer.keys.load(file, l); err == nil {
			all = append(all, prefer(held, key)...)
		}
	}
	return unique(l.certified(all)), nil
}

// certified puts the certificates that the operator named before the keys, each
// with the key it is for.
func (l *login) certified(signers []gossh.Signer) []gossh.Signer {
	var first []gossh.Signer
	for _, path := range l.s.certFiles {
		cert, ok := publicBeside(path).(*gossh.Certificate)
		if !ok {
			l.dialer.trace(l.s.name, "cannot use the certificate %q", path)
			continue
		}
		for _, s := range signers {
			if c, err := gossh.NewCertSigner(cert, s); err == nil {
				first = append(first, c)
				break
			}
		}
	}
	return append(first, signers...)
}

// prefer takes the ssh-agent's copy of a key, which needs no passphrase.
func prefer(held, keys []gossh.Signer) []gossh.Signer {
	var chosen []gossh.Signer
	for _, key := range keys {
		blob := string(key.PublicKey().Marshal())
		at := slices.IndexFunc(held, func(h gossh.Signer) bool { return string(h.PublicKey().Marshal()) == blob })
		if at >= 0 {
			key = held[at]
		}
		chosen = append(chosen, key)
	}
	return chosen
}

func unique(signers []gossh.Signer) []gossh.Signer {
	seen := map[string]bool{}
	return slices.DeleteFunc(signers, func(s gossh.Signer) bool {
		blob := string(s.PublicKey().Marshal())
		defer func() { seen[blob] = true }()
		return seen[blob]
	})
}

// agentSigners lists the ssh-agent's keys; an agent that is gone has none.
func (l *login) agentSigners() []gossh.Signer {
	if l.s.agentSock == "" || l.sock != nil {
		return nil
	}
	var dialer net.Dialer
	ctx, cancel := context.WithTimeout(context.Background(), l.s.timeout)
	defer cancel()
	sock, err := dialer.DialContext(ctx, "unix", l.s.agentSock)
	if err != nil {
		l.dialer.trace(l.s.name, "cannot reach the ssh-agent: %v", err)
		return nil
	}
	l.sock = sock
	signers, err := agent.NewClient(sock).Signers()
	if err != nil {
		l.dialer.trace(l.s.name, "cannot list the keys of the ssh-agent: %v", err)
	}
	return signers
}

// failed notes why a key that the server wanted could not be used.
func (l *login) failed(err error) { l.locked = err }

func (l *login) pause()  { l.guard.pause() }
func (l *login) resume() { l.guard.resume() }

// unlock asks for a key's passphrase.
func (l *login) unlock(file string) (string, error) {
	if l.dialer.Ask == nil {
		return "", fmt.Errorf("cannot use the key %q: it is encrypted, and nobody can be asked for its passphrase", file)
	}
	return l.dialer.Ask(fmt.Sprintf("Enter passphrase for key '%s': ", file))
}
