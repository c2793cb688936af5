package ssh_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"play/connection"
	"play/connection/contract"
	"play/connection/fleet"
	"play/connection/ssh"
)

func TestMain(m *testing.M) { os.Exit(contract.Main(m)) }

// newFleet starts n hosts.
func newFleet(t *testing.T, n int, o fleet.Options) *fleet.Fleet {
	t.Helper()
	dir, err := os.MkdirTemp("", "play-ssh-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	o.Dir, o.Hosts = dir, n
	f, err := fleet.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// target says how to reach a host of a fleet.
func target(f *fleet.Fleet, h *fleet.Host) *connection.Target {
	return &connection.Target{
		Name: h.Name, Transport: "ssh", Address: h.Address, Port: h.Port, User: f.User, KeyFiles: []string{f.Key},
		HostKeyChecking: true, Timeout: time.Minute, Options: map[string]string{"userknownhostsfile": f.KnownHosts},
	}
}

// dialer returns one whose operator has an empty home.
func dialer(t *testing.T) *ssh.Dialer {
	d := &ssh.Dialer{Home: t.TempDir(), User: "operator"}
	t.Cleanup(func() { d.Close() })
	return d
}

// dial connects within the test's limit and closes at its end.
func dial(t *testing.T, d *ssh.Dialer, target *connection.Target) (connection.Transport, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	tr, err := d.Dial(ctx, target)
	if err == nil {
		t.Cleanup(func() { tr.Close() })
	}
	return tr, err
}

// wantError fails unless err says all of the words.
func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error %q does not say %q", err, w)
		}
	}
}

// writeKey writes a new key pair, encrypted where a passphrase is given.
func writeKey(t *testing.T, passphrase string) (path string, public gossh.PublicKey) {
	t.Helper()
	pub, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := gossh.MarshalPrivateKey(private, "")
	if passphrase != "" {
		block, err = gossh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "key")
	write(t, path, string(pem.EncodeToMemory(block)))
	if public, err = gossh.NewPublicKey(pub); err != nil {
		t.Fatal(err)
	}
	return path, public
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// lines collects trace lines.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(_ int, _, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) count(word string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.all {
		if strings.Contains(line, word) {
			n++
		}
	}
	return n
}
