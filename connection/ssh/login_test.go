package ssh_test

import (
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"play/connection"
	"play/connection/fleet"
)

func TestPassword(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{Password: "s3cret"})
	for _, c := range []struct {
		password string
		ok       bool
	}{{"s3cret", true}, {"wrong", false}, {"", false}} {
		to := target(f, f.Hosts[0])
		to.KeyFiles, to.Password, to.Retries = nil, c.password, 3
		said := &lines{}
		d := dialer(t)
		d.Trace = said.add
		_, err := dial(t, d, to)
		if c.ok && err != nil {
			t.Errorf("%q: %v", c.password, err)
		}
		if !c.ok {
			wantError(t, err, f.User+"@"+f.Hosts[0].Address+": Permission denied (password,publickey).")
			if !errors.Is(err, connection.ErrAuth) {
				t.Errorf("%q: %#v does not wrap ErrAuth", c.password, err)
			}
		}
		if said.count("ssh_retry") != 0 {
			t.Errorf("%q: a rejected login was tried again", c.password)
		}
	}
}

// TestKeyboardInteractive: the password is given once, to a hidden question.
func TestKeyboardInteractive(t *testing.T) {
	t.Parallel()
	keyPath, key := writeKey(t, "")
	var asked atomic.Int32
	config := &gossh.ServerConfig{KeyboardInteractiveCallback: func(_ gossh.ConnMetadata, ask gossh.KeyboardInteractiveChallenge) (*gossh.Permissions, error) {
		for {
			answers, err := ask("", "", []string{"Kennwort: "}, []bool{false})
			if err != nil {
				return nil, err
			}
			asked.Add(1)
			if len(answers) == 1 && answers[0] == "s3cret" {
				return &gossh.Permissions{}, nil
			}
		}
	}}
	config.AddHostKey(signer(t, keyPath))
	port := serveLogins(t, config)
	to := &connection.Target{Name: "h", Address: "127.0.0.1", Port: port, Password: "s3cret", HostKeyChecking: true, Options: map[string]string{}}
	withKnownHosts(t, to, "127.0.0.1 "+keyLine(key)+"\n")
	if _, err := dial(t, dialer(t), to); err != nil {
		t.Error(err)
	}
	to.Password = "wrong"
	before := asked.Load()
	if _, err := dial(t, dialer(t), to); err == nil {
		t.Error("a wrong password was accepted")
	}
	if n := asked.Load() - before; n != 1 {
		t.Errorf("a wrong password was given %d times", n)
	}
}

// serveLogins is a server on which one can log in, and nothing else.
func serveLogins(t *testing.T, config *gossh.ServerConfig) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if server, _, requests, err := gossh.NewServerConn(conn, config); err == nil {
					go gossh.DiscardRequests(requests)
					_ = server.Wait() // until the client goes
				}
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// TestEncryptedKey: the passphrase is asked for once for many hosts, and only
// when a host wants the key.
func TestEncryptedKey(t *testing.T) {
	t.Parallel()
	locked, public := writeKey(t, "open sesame")
	f := newFleet(t, 3, fleet.Options{Authorized: []gossh.PublicKey{public}})
	var asked atomic.Int32
	d := dialer(t)
	d.Ask = func(prompt string) (string, error) {
		asked.Add(1)
		time.Sleep(4500 * time.Millisecond) // a person is slower than the limit below
		if !strings.Contains(prompt, locked) {
			t.Errorf("the prompt %q does not name the key", prompt)
		}
		return "open sesame", nil
	}
	done := make(chan error, len(f.Hosts))
	for _, h := range f.Hosts {
		go func() {
			to := target(f, h)
			to.KeyFiles, to.Timeout = []string{locked}, 4*time.Second
			tr, err := d.Dial(t.Context(), to)
			if err == nil {
				tr.Close()
			}
			done <- err
		}()
	}
	for range f.Hosts {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}

	unwanted, _ := writeKey(t, "never asked")
	to := target(f, f.Hosts[0])
	to.KeyFiles = []string{unwanted, f.Key}
	if _, err := dial(t, d, to); err != nil {
		t.Error(err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked for a key that no host wants (%d questions)", n)
	}
}

func TestEncryptedKeyWrongPassphrase(t *testing.T) {
	t.Parallel()
	locked, public := writeKey(t, "open sesame")
	f := newFleet(t, 1, fleet.Options{Authorized: []gossh.PublicKey{public}})
	d := dialer(t)
	d.Ask = func(string) (string, error) { return "guess", nil }
	to := target(f, f.Hosts[0])
	to.KeyFiles = []string{locked}
	_, err := dial(t, d, to)
	wantError(t, err, "cannot unlock the key", locked)
	_, err = dial(t, dialer(t), to)
	wantError(t, err, "encrypted", locked)
}

func TestKeyFileThatIsNone(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	to := target(f, f.Hosts[0])
	to.KeyFiles = []string{filepath.Join(t.TempDir(), "absent")}
	_, err := dial(t, dialer(t), to)
	wantError(t, err, "cannot read the key", "absent")
	write(t, to.KeyFiles[0], "no key\n")
	_, err = dial(t, dialer(t), to)
	wantError(t, err, "cannot use the key", "absent")
}

// TestDefaultKeys: without a named key, those in ~/.ssh are tried.
func TestDefaultKeys(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	d := dialer(t)
	mkdir(t, filepath.Join(d.Home, ".ssh"))
	write(t, filepath.Join(d.Home, ".ssh", "id_ed25519"), read(t, f.Key))
	to := target(f, f.Hosts[0])
	to.KeyFiles = nil
	if _, err := dial(t, d, to); err != nil {
		t.Error(err)
	}
}

// TestAgent: keys of the ssh-agent are used, and stand in for a locked file.
func TestAgent(t *testing.T) {
	t.Parallel()
	locked, public := writeKey(t, "never asked")
	f := newFleet(t, 1, fleet.Options{Authorized: []gossh.PublicKey{public}})
	raw, err := gossh.ParseRawPrivateKeyWithPassphrase([]byte(read(t, locked)), []byte("never asked"))
	if err != nil {
		t.Fatal(err)
	}
	keyring := agent.NewKeyring()
	if err := keyring.Add(agent.AddedKey{PrivateKey: raw}); err != nil {
		t.Fatal(err)
	}
	d := dialer(t)
	d.AgentSock = serveAgent(t, keyring)
	d.Ask = func(string) (string, error) { t.Error("asked for a passphrase"); return "", nil }
	to := target(f, f.Hosts[0])
	for _, files := range [][]string{nil, {locked}} {
		to.KeyFiles = files
		if _, err := dial(t, d, to); err != nil {
			t.Errorf("key files %v: %v", files, err)
		}
	}
	to.KeyFiles = nil
	to.Options["identitiesonly"] = "yes"
	_, err = dial(t, d, to)
	wantError(t, err, "Permission denied")
}

// TestCertificate: a user certificate logs in where only its authority is
// known, beside the key or named by CertificateFile.
func TestCertificate(t *testing.T) {
	t.Parallel()
	hostPath, hostKey := writeKey(t, "")
	caPath, authority := writeKey(t, "")
	path, public := writeKey(t, "")
	cert := &gossh.Certificate{Key: public, CertType: gossh.UserCert, ValidPrincipals: []string{"joe"}, ValidBefore: gossh.CertTimeInfinity}
	if err := cert.SignCert(zeroes{}, signer(t, caPath)); err != nil {
		t.Fatal(err)
	}
	checker := &gossh.CertChecker{IsUserAuthority: func(k gossh.PublicKey) bool { return keyLine(k) == keyLine(authority) }}
	config := &gossh.ServerConfig{PublicKeyCallback: checker.Authenticate}
	config.AddHostKey(signer(t, hostPath))
	to := &connection.Target{Name: "h", Address: "127.0.0.1", Port: serveLogins(t, config), User: "joe", KeyFiles: []string{path},
		HostKeyChecking: true, Options: map[string]string{}}
	withKnownHosts(t, to, "127.0.0.1 "+keyLine(hostKey)+"\n")
	_, err := dial(t, dialer(t), to)
	wantError(t, err, "Permission denied")

	elsewhere := filepath.Join(t.TempDir(), "cert.pub")
	write(t, elsewhere, keyLine(cert)+"\n")
	to.Options["certificatefile"] = elsewhere
	if _, err := dial(t, dialer(t), to); err != nil {
		t.Errorf("named: %v", err)
	}
	delete(to.Options, "certificatefile")
	write(t, path+"-cert.pub", keyLine(cert)+"\n")
	if _, err := dial(t, dialer(t), to); err != nil {
		t.Errorf("beside the key: %v", err)
	}
}

func serveAgent(t *testing.T, keyring agent.Agent) (sock string) {
	t.Helper()
	sock = filepath.Join(t.TempDir(), "agent")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = agent.ServeAgent(keyring, conn) // until the client goes
			}()
		}
	}()
	return sock
}
