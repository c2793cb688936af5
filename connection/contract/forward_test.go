package contract_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh/agent"

	"play/connection/contract"
)

// TestForwardAgent: the operator's ssh-agent is reached from the host, where
// that was asked for.
func TestForwardAgent(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("ssh-add")
	contract.Need(t, err == nil, "OpenSSH's client is not installed")
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keyring := agent.NewKeyring()
	if err := keyring.Add(agent.AddedKey{PrivateKey: private, Comment: "forwarded"}); err != nil {
		t.Fatal(err)
	}
	d := dialer(t)
	d.AgentSock = serveAgent(t, keyring)
	for option, want := range map[string]bool{"yes": true, "no": false} {
		target := sshdTarget(t)
		target.Options["forwardagent"] = option
		tr, err := d.Dial(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		s, err := tr.Start(t.Context(), "ssh-add -l")
		if err != nil {
			t.Fatal(err)
		}
		listed := make([]byte, 1000)
		n, _ := s.Read(listed) // without an agent there is nothing to read
		if got := strings.Contains(string(listed[:n]), "forwarded"); got != want {
			t.Errorf("ForwardAgent=%s: the host sees %q", option, listed[:n])
		}
		tr.Close()
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
