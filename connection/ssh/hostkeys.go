package ssh

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/skeema/knownhosts"
	gossh "golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// HostKeyError says that a host's key is not to be trusted; it is never retried.
type HostKeyError struct{ Msg string }

// Error gives the reason and what would help.
func (e *HostKeyError) Error() string { return e.Msg }

// knownHosts reads each list of known_hosts files once for a whole run.
type knownHosts struct {
	mu     sync.Mutex
	dbs    map[string]*knownHostsDB
	asking sync.Mutex // one question at a time
}

// knownHostsDB is the content of known_hosts files, and the keys that were
// added since.
type knownHostsDB struct {
	once  sync.Once
	db    *knownhosts.HostKeyDB
	err   error
	mu    sync.Mutex
	added map[string]gossh.PublicKey // by address
}

// load returns the content of the files; absent ones are empty.
func (k *knownHosts) load(files []string) (*knownHostsDB, error) {
	key := strings.Join(files, "\x00")
	k.mu.Lock()
	if k.dbs == nil {
		k.dbs = map[string]*knownHostsDB{}
	}
	one, ok := k.dbs[key]
	if !ok {
		one = &knownHostsDB{added: map[string]gossh.PublicKey{}}
		k.dbs[key] = one
	}
	k.mu.Unlock()
	one.once.Do(func() { one.db, one.err = readKnownHosts(files) })
	return one, one.err
}

func readKnownHosts(files []string) (*knownhosts.HostKeyDB, error) {
	var present []string
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			present = append(present, file)
		}
	}
	db, err := knownhosts.NewDB(present...)
	if err != nil {
		return nil, &SettingError{fmt.Sprintf("cannot read the known hosts: %v", err)}
	}
	return db, nil
}

// keyName is the name under which the host's key is known.
func (s *settings) keyName() string {
	if s.keyAlias != "" {
		return net.JoinHostPort(s.keyAlias, "22")
	}
	return s.address()
}

// algorithms are those of the keys that are known of the host, so that it is
// not asked for a key of another kind; nil: none is known.
func (k *knownHosts) algorithms(s *settings) []string {
	one, err := k.load(s.knownHosts)
	if err != nil {
		return nil
	}
	one.mu.Lock()
	key, ok := one.added[s.keyName()]
	one.mu.Unlock()
	if ok && key.Type() != gossh.KeyAlgoRSA {
		return []string{key.Type()}
	}
	return one.db.HostKeyAlgorithms(s.keyName())
}

// check is the host key callback of one connection.
func (k *knownHosts) check(s *settings, l *login) gossh.HostKeyCallback {
	return func(_ string, remote net.Addr, key gossh.PublicKey) error {
		one, err := k.load(s.knownHosts)
		if err != nil {
			return &HostKeyError{err.Error()}
		}
		if remote == nil || remote.String() == "" {
			remote = &net.TCPAddr{IP: net.IPv4zero}
		}
		err = one.verify(s, remote, key)
		if err == nil {
			return nil
		}
		if s.strict == strictOff {
			var unknown *xknownhosts.KeyError
			// As in OpenSSH: whoever answers under another's key gets no password.
			l.noSecrets = !errors.As(err, &unknown) || len(unknown.Want) > 0
			return nil
		}
		return one.judge(s, remote, key, err, l)
	}
}

// verify looks the key up among those added in this run and those in the files.
func (o *knownHostsDB) verify(s *settings, remote net.Addr, key gossh.PublicKey) error {
	o.mu.Lock()
	added, ok := o.added[s.keyName()]
	o.mu.Unlock()
	if ok && bytes.Equal(added.Marshal(), key.Marshal()) {
		return nil
	}
	return lookUp(o.db, s, remote, key)
}

// lookUp looks a key up as OpenSSH does: a host that has no entry for its port
// may be known by its name alone.
func lookUp(db *knownhosts.HostKeyDB, s *settings, remote net.Addr, key gossh.PublicKey) error {
	err := db.HostKeyCallback()(s.keyName(), remote, key)
	var unknown *xknownhosts.KeyError
	if s.keyAlias == "" && s.port != 22 && errors.As(err, &unknown) && len(unknown.Want) == 0 {
		if db.HostKeyCallback()(net.JoinHostPort(s.host, "22"), &net.TCPAddr{IP: net.IPv4zero}, key) == nil {
			return nil
		}
	}
	return err
}

// judge turns a failed lookup into what a person can act on, or records a new
// key where that was asked for.
func (o *knownHostsDB) judge(s *settings, remote net.Addr, key gossh.PublicKey, err error, l *login) error {
	print := fmt.Sprintf("%s key %s", keyKind(key), gossh.FingerprintSHA256(key))
	var revoked *xknownhosts.RevokedError
	if errors.As(err, &revoked) {
		return &HostKeyError{fmt.Sprintf("Host key verification failed: the %s of %q is marked as revoked at %s:%d",
			print, s.keyName(), revoked.Revoked.Filename, revoked.Revoked.Line)}
	}
	var mismatch *xknownhosts.KeyError
	if !errors.As(err, &mismatch) {
		return &HostKeyError{fmt.Sprintf("Host key verification failed: cannot check the %s of %q: %v", print, s.keyName(), err)}
	}
	if len(mismatch.Want) > 0 {
		return changedKey(s, print, mismatch.Want[0])
	}
	if s.strict == acceptNew {
		return o.accept(s, remote, key)
	}
	if s.strict == strictAsk && l.dialer.AskHostKey != nil {
		return o.ask(s, remote, key, l)
	}
	return &HostKeyError{fmt.Sprintf("Host key verification failed: %q is not a known host; it offers the %s. "+
		"Compare that with the host's own (ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub there); to record it, connect once with ssh, or use --accept-new-host-keys",
		s.keyName(), print)}
}

func changedKey(s *settings, print string, old xknownhosts.KnownKey) error {
	return &HostKeyError{fmt.Sprintf("Host key verification failed: REMOTE HOST IDENTIFICATION HAS CHANGED: %q offers the %s, but %s:%d has the %s key %s. "+
		"Somebody may be listening in, or the host was set up anew; in that case remove the old key: ssh-keygen -f %s -R %s",
		s.keyName(), print, old.Filename, old.Line, keyKind(old.Key), gossh.FingerprintSHA256(old.Key),
		old.Filename, knownhosts.Normalize(s.keyName()))}
}

// keyKind is the short name of a key's type, as OpenSSH shows it.
func keyKind(key gossh.PublicKey) string {
	switch t := key.Type(); {
	case strings.Contains(t, "cert"):
		return "certificate " + t
	case strings.Contains(t, "ed25519"):
		return "ED25519"
	case strings.Contains(t, "ecdsa"):
		return "ECDSA"
	case strings.Contains(t, "rsa"):
		return "RSA"
	default:
		return t
	}
}

// accept records a new host's key: in this run's memory, and at the end of the
// first file, under a lock so that runs at the same time lose nothing. What
// another run recorded meanwhile counts.
func (o *knownHostsDB) accept(s *settings, remote net.Addr, key gossh.PublicKey) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if added, ok := o.added[s.keyName()]; ok && !bytes.Equal(added.Marshal(), key.Marshal()) {
		return &HostKeyError{fmt.Sprintf("Host key verification failed: %q has shown two different new keys in this run", s.keyName())}
	}
	if len(s.knownHosts) > 0 {
		if err := appendKey(s, remote, key); err != nil {
			return err
		}
	}
	o.added[s.keyName()] = key
	return nil
}

func appendKey(s *settings, remote net.Addr, key gossh.PublicKey) error {
	path := s.knownHosts[0]
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return &HostKeyError{fmt.Sprintf("cannot record the key of %q: %v", s.keyName(), err)}
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return &HostKeyError{fmt.Sprintf("cannot record the key of %q: %v", s.keyName(), err)}
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return &HostKeyError{fmt.Sprintf("cannot lock %q: %v", path, err)}
	}
	db, err := readKnownHosts(s.knownHosts)
	if err != nil {
		return &HostKeyError{err.Error()}
	}
	err = lookUp(db, s, remote, key)
	var mismatch *xknownhosts.KeyError
	switch {
	case err == nil:
		return nil // another run was faster
	case errors.As(err, &mismatch) && len(mismatch.Want) > 0:
		return changedKey(s, fmt.Sprintf("%s key %s", keyKind(key), gossh.FingerprintSHA256(key)), mismatch.Want[0])
	}
	return writeKey(file, s, key)
}

// writeKey appends one line in one write, after completing a last line that has
// no line break.
func writeKey(file *os.File, s *settings, key gossh.PublicKey) error {
	name := knownhosts.Normalize(s.keyName())
	if s.hashNew {
		name = xknownhosts.HashHostname(name)
	}
	line := name + " " + strings.TrimSpace(string(gossh.MarshalAuthorizedKey(key))) + "\n"
	info, err := file.Stat()
	if err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err = file.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = "\n" + line
		}
	}
	if err == nil {
		_, err = file.WriteString(line)
	}
	if err != nil {
		return &HostKeyError{fmt.Sprintf("cannot record the key of %q: %v", s.keyName(), err)}
	}
	return nil
}
