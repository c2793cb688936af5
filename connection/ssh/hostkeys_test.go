package ssh_test

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"play/connection"
	"play/connection/fleet"
	"play/connection/ssh"
)

// withKnownHosts replaces the target's known hosts by a file with content.
func withKnownHosts(t *testing.T, to *connection.Target, content string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "known_hosts")
	write(t, path, content)
	to.Options["userknownhostsfile"] = path
	return path
}

func keyLine(key gossh.PublicKey) string {
	return strings.TrimSpace(string(gossh.MarshalAuthorizedKey(key)))
}

func TestT14HostKeys(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	h := f.Hosts[0]
	_, other := writeKey(t, "")
	name := knownhosts.Normalize(h.Addr())
	wildcard := fmt.Sprintf("[127.0.*]:%d", h.Port)
	cases := []struct {
		name, known string
		want        []string // words of the error; none: accepted
	}{
		{"known", name + " " + keyLine(h.HostKey()), nil},
		{"hashed", knownhosts.HashHostname(name) + " " + keyLine(h.HostKey()), nil},
		{"wildcard", wildcard + " " + keyLine(h.HostKey()), nil},
		{"several lines", "# comment\n\n" + name + " " + keyLine(other) + "\n" + name + " " + keyLine(h.HostKey()), nil},
		{"unknown", "", []string{"Host key verification failed", "is not a known host", gossh.FingerprintSHA256(h.HostKey()), "--accept-new-host-keys"}},
		{"other port", h.Address + " " + keyLine(h.HostKey()), nil},
		{"other host", "[127.9.9.9]:" + fmt.Sprint(h.Port) + " " + keyLine(h.HostKey()), []string{"is not a known host"}},
		{"changed", "\n" + name + " " + keyLine(other), []string{"REMOTE HOST IDENTIFICATION HAS CHANGED", "known_hosts:2", gossh.FingerprintSHA256(other), "ssh-keygen -f"}},
		{"revoked", "@revoked * " + keyLine(h.HostKey()) + "\n" + name + " " + keyLine(h.HostKey()), []string{"marked as revoked", "known_hosts:1"}},
		{"authority without certificate", "@cert-authority * " + keyLine(other), []string{"Host key verification failed"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			to := target(f, h)
			to.Retries = 3
			withKnownHosts(t, to, c.known+"\n")
			said := &lines{}
			d := dialer(t)
			d.Trace = said.add
			_, err := dial(t, d, to)
			if c.want == nil && err != nil {
				t.Fatal(err)
			}
			if c.want != nil {
				wantError(t, err, c.want...)
				var key *ssh.HostKeyError
				if !errors.As(err, &key) {
					t.Errorf("got %#v, want a HostKeyError", err)
				}
			}
			if said.count("ssh_retry") != 0 {
				t.Error("a host key was tried again")
			}
		})
	}
}

// TestT14ChangedKeyIsNeverAccepted: not by accepting new keys, and without the
// check only as OpenSSH does it.
func TestT14ChangedKeyIsNeverAccepted(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{Password: "secret"})
	h := f.Hosts[0]
	if err := h.SetFaults(fleet.Faults{WrongHostKey: true}); err != nil {
		t.Fatal(err)
	}
	to := target(f, h)
	to.AcceptNew = true
	_, err := dial(t, dialer(t), to)
	wantError(t, err, "HAS CHANGED")

	// Unchecked on request, it is reached, but gets no password.
	to = target(f, h)
	to.HostKeyChecking, to.Password = false, "secret"
	if _, err := dial(t, dialer(t), to); err != nil {
		t.Error(err)
	}
	to.Options["pubkeyauthentication"] = "no"
	_, err = dial(t, dialer(t), to)
	wantError(t, err, "Permission denied")
}

func TestT14AcceptNew(t *testing.T) {
	t.Parallel()
	const n = 20
	f := newFleet(t, n, fleet.Options{})
	to := target(f, f.Hosts[0])
	path := withKnownHosts(t, to, "# no line break at the end")
	var wait sync.WaitGroup
	for _, h := range f.Hosts {
		// Two runs at the same time, each with its own memory.
		for range 2 {
			d := dialer(t)
			wait.Go(func() {
				to := target(f, h)
				to.AcceptNew = true
				to.Options["userknownhostsfile"] = path
				tr, err := d.Dial(t.Context(), to)
				if err != nil {
					t.Errorf("%s: %v", h.Name, err)
					return
				}
				tr.Close()
			})
		}
	}
	wait.Wait()
	content := read(t, path)
	if !strings.HasPrefix(content, "# no line break at the end\n[127.") {
		t.Errorf("the comment was trampled: %q", content)
	}
	for _, h := range f.Hosts {
		if got := strings.Count(content, keyLine(h.HostKey())); got != 1 {
			t.Errorf("%s has %d entries, want 1", h.Name, got)
		}
		to := target(f, h)
		to.Options["userknownhostsfile"] = path
		if _, err := dial(t, dialer(t), to); err != nil {
			t.Errorf("%s, later: %v", h.Name, err)
		}
	}
}

func TestT14AcceptNewHashed(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	to := target(f, f.Hosts[0])
	path := withKnownHosts(t, to, "")
	to.Options["stricthostkeychecking"], to.Options["hashknownhosts"] = "accept-new", "yes"
	if _, err := dial(t, dialer(t), to); err != nil {
		t.Fatal(err)
	}
	if content := read(t, path); !strings.HasPrefix(content, "|1|") || strings.Contains(content, "127.") {
		t.Errorf("got %q, want a hashed name", content)
	}
	delete(to.Options, "stricthostkeychecking")
	if _, err := dial(t, dialer(t), to); err != nil {
		t.Errorf("later: %v", err)
	}
}

// TestT14Certificate: a host certificate of a trusted authority is accepted,
// that of another one is not.
func TestT14Certificate(t *testing.T) {
	t.Parallel()
	keyPath, public := writeKey(t, "")
	caPath, authority := writeKey(t, "")
	_, stranger := writeKey(t, "")
	key, ca := signer(t, keyPath), signer(t, caPath)
	cert := &gossh.Certificate{
		Key: public, CertType: gossh.HostCert, ValidPrincipals: []string{"127.0.0.1"}, ValidBefore: gossh.CertTimeInfinity,
	}
	if err := cert.SignCert(zeroes{}, ca); err != nil {
		t.Fatal(err)
	}
	certSigner, err := gossh.NewCertSigner(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	port := serveNothing(t, certSigner)
	for _, c := range []struct {
		authority gossh.PublicKey
		want      string
	}{{authority, "Permission denied"}, {stranger, "Host key verification failed"}} {
		to := &connection.Target{Name: "h", Address: "127.0.0.1", Port: port, HostKeyChecking: true, Options: map[string]string{}}
		withKnownHosts(t, to, "@cert-authority * "+keyLine(c.authority)+"\n")
		_, err := dial(t, dialer(t), to)
		wantError(t, err, c.want)
	}
}

func signer(t *testing.T, path string) gossh.Signer {
	t.Helper()
	s, err := gossh.ParsePrivateKey([]byte(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// zeroes is randomness that a certificate's nonce can do without.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { return len(p), nil }

// serveNothing is a server that lets nobody in.
func serveNothing(t *testing.T, key gossh.Signer) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	config := &gossh.ServerConfig{PublicKeyCallback: func(gossh.ConnMetadata, gossh.PublicKey) (*gossh.Permissions, error) {
		return nil, errors.New("nobody")
	}}
	config.AddHostKey(key)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _, _, _ = gossh.NewServerConn(conn, config) // nobody gets in
			conn.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// TestT14OneQuestionAtATime: hosts that are not known are asked about one after
// the other, a known one goes on meanwhile, and each answer counts for its host.
func TestT14OneQuestionAtATime(t *testing.T) {
	t.Parallel()
	const n = 6
	f := newFleet(t, n+1, fleet.Options{})
	known := f.Hosts[n]
	path := withKnownHosts(t, target(f, known), knownhosts.Normalize(known.Addr())+" "+keyLine(known.HostKey())+"\n")
	var open atomic.Int32
	first, reached := make(chan struct{}), make(chan struct{})
	var once sync.Once
	d := dialer(t)
	d.AskHostKey = func(prompt string) (string, error) {
		if open.Add(1) > 1 {
			t.Error("two questions at once")
		}
		defer open.Add(-1)
		once.Do(func() { close(first) })
		<-reached // nobody answers before the known host is through
		if strings.Contains(prompt, "'"+f.Hosts[0].Name+" ") {
			return "no", nil
		}
		return "yes", nil
	}
	to := func(h *fleet.Host) *connection.Target {
		one := target(f, h)
		if h != known {
			one.Timeout = 3 * time.Second // a person may take longer
		}
		one.Options["userknownhostsfile"] = path
		return one
	}
	errs := make([]error, n)
	var wait sync.WaitGroup
	for i, h := range f.Hosts[:n] {
		wait.Go(func() { _, errs[i] = dial(t, d, to(h)) })
	}
	<-first
	if _, err := dial(t, d, to(known)); err != nil {
		t.Errorf("the known host: %v", err)
	}
	time.Sleep(3200 * time.Millisecond) // longer than the connect time-out
	close(reached)
	wait.Wait()
	wantError(t, errs[0], "Host key verification failed", "was not trusted")
	for i, h := range f.Hosts[1:n] {
		if errs[i+1] != nil {
			t.Errorf("%s: %v", h.Name, errs[i+1])
		}
		if strings.Count(read(t, path), keyLine(h.HostKey())) != 1 {
			t.Errorf("the key of %s was not recorded once", h.Name)
		}
	}
}

// TestT14AnswersToTheQuestion: yes, the fingerprint, no, anything else; and
// StrictHostKeyChecking=yes asks nobody.
func TestT14AnswersToTheQuestion(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	h := f.Hosts[0]
	print := gossh.FingerprintSHA256(h.HostKey())
	cases := []struct {
		name    string
		answers []string
		strict  string
		want    string // of the error; "": connected
		asked   int
	}{
		{"yes", []string{"YES "}, "", "", 1},
		{"fingerprint", []string{print}, "ask", "", 1},
		{"wrong fingerprint, then no", []string{"SHA256:abc", "no"}, "", "was not trusted", 2},
		{"nonsense", []string{"y"}, "", "was not trusted", 5},
		{"strict", []string{"yes"}, "yes", "is not a known host", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			to := target(f, h)
			withKnownHosts(t, to, "")
			if c.strict != "" {
				to.Options["stricthostkeychecking"] = c.strict
			}
			d, asked := dialer(t), 0
			d.AskHostKey = func(string) (string, error) {
				answer := c.answers[min(asked, len(c.answers)-1)]
				asked++
				return answer, nil
			}
			_, err := dial(t, d, to)
			if c.want == "" && err != nil {
				t.Error(err)
			}
			if c.want != "" {
				wantError(t, err, c.want)
			}
			if asked != c.asked {
				t.Errorf("asked %d times, want %d", asked, c.asked)
			}
		})
	}
}

// TestT14ImpatientHost: a host that does not wait for the person's answer is
// called again, with its key recorded.
func TestT14ImpatientHost(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	to := target(f, f.Hosts[0])
	withKnownHosts(t, to, "")
	d := dialer(t)
	d.AskHostKey = func(string) (string, error) {
		f.Hosts[0].Drop()
		return "yes", nil
	}
	if _, err := dial(t, d, to); err != nil {
		t.Error(err)
	}
}
