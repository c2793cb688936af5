package ssh

import (
	"fmt"
	"net"
	"strings"

	gossh "golang.org/x/crypto/ssh"
)

// ask puts the question about a new host's key to the person, one host at a
// time, and records the key that was trusted. The host's own time stands still
// meanwhile.
func (o *knownHostsDB) ask(s *settings, remote net.Addr, key gossh.PublicKey, l *login) error {
	l.pause()
	defer l.resume()
	l.dialer.known.asking.Lock()
	defer l.dialer.known.asking.Unlock()
	if o.verify(s, remote, key) == nil {
		return nil // it was answered for another connection to the same host
	}
	trusted, err := l.dialer.trusts(s, key)
	if err != nil {
		return &HostKeyError{fmt.Sprintf("Host key verification failed: cannot ask about the key of %q: %v", s.keyName(), err)}
	}
	if !trusted {
		return &HostKeyError{fmt.Sprintf("Host key verification failed: the %s key %s of %q was not trusted", keyKind(key), gossh.FingerprintSHA256(key), s.keyName())}
	}
	l.trusted = true
	return o.accept(s, remote, key)
}

// maxQuestions is how often an answer that is neither yes nor no is asked for
// again.
const maxQuestions = 5

// trusts asks until the answer is yes, no, or the fingerprint, as ssh does.
func (d *Dialer) trusts(s *settings, key gossh.PublicKey) (bool, error) {
	print := gossh.FingerprintSHA256(key)
	text := fmt.Sprintf("The authenticity of host '%s (%s)' can't be established.\n%s key fingerprint is %s.\n"+
		"Are you sure you want to continue connecting (yes/no/[fingerprint])? ", s.name, s.keyName(), keyKind(key), print)
	for range maxQuestions {
		answer, err := d.AskHostKey(text)
		if err != nil {
			return false, err
		}
		switch answer = strings.TrimSpace(answer); {
		case strings.EqualFold(answer, "yes") || answer == print:
			return true, nil
		case strings.EqualFold(answer, "no"):
			return false, nil
		}
		text = "Please type 'yes', 'no' or the fingerprint: "
	}
	return false, nil
}
