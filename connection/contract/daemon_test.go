package contract_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"play/connection"
	"play/connection/contract"
	"play/connection/link"
	"play/connection/pool"
	"play/modules/wire"
)

// daemon runs a real sshd that listens on loopback, with the configuration of
// sshdTarget, until the test ends.
func daemon(t *testing.T, extra ...string) *connection.Target {
	t.Helper()
	target := sshdTarget(t, extra...)
	dir := filepath.Dir(target.KeyFiles[0])
	// An address of its own keeps other processes from taking the port meanwhile.
	address := fmt.Sprintf("127.%d.%d.%d", 10+rand.IntN(200), rand.IntN(250), 1+rand.IntN(250))
	port := freePort(t, address)
	cmd := exec.Command(sshd, "-D", "-e", "-f", filepath.Join(dir, "config"), "-o", fmt.Sprintf("ListenAddress=%s:%d", address, port))
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // the wait tells
		_ = cmd.Wait()
	})
	delete(target.Options, "proxycommand")
	target.Address, target.Port, target.Retries = address, port, 5
	key, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "known_hosts"), fmt.Sprintf("[%s]:%d %s", address, port, key))
	awaitPort(t, fmt.Sprintf("%s:%d", address, port))
	return target
}

func freePort(t *testing.T, address string) int {
	t.Helper()
	l, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func awaitPort(t *testing.T, address string) {
	t.Helper()
	for range 1200 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_, _ = io.ReadFull(conn, make([]byte, 4)) // its version: it is ready
			conn.Close()
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("sshd does not listen")
}

func TestSSHDaemon(t *testing.T) {
	t.Parallel()
	suite(t, peer(t, daemon(t, "MaxStartups 100")))
}

// poolFor reaches the hosts of a test by ssh, with the test binary as agent.
func poolFor(t *testing.T) *pool.Pool {
	t.Helper()
	p := pool.New(pool.Config{
		Dial: map[string]pool.Dial{"ssh": dialer(t).Dial}, Agents: contract.Binary(t), Open: link.Open,
	})
	t.Cleanup(p.Close)
	return p
}

// ping reaches the target's agent.
func ping(ctx context.Context, p *pool.Pool, target *connection.Target) error {
	l, err := p.Get(ctx, target)
	if err != nil {
		return err
	}
	_, err = l.Call(ctx, &wire.Call{Module: "ping", Args: []byte("{}")}, nil, nil)
	return err
}

// TestT16OddServers: configurations of a real sshd that people have.
func TestT16OddServers(t *testing.T) {
	t.Parallel()
	noise := filepath.Join(shortTempDir(t), "noise")
	write(t, noise, strings.Repeat("You are being watched.\n", 100))
	for name, lines := range map[string][]string{
		"one session":       {"MaxSessions 1"},
		"no terminals":      {"PermitTTY no"},
		"no sftp":           {"Subsystem other /bin/false"},
		"broken sftp":       {"Subsystem sftp /bin/false"},
		"noisy sftp":        {"Subsystem sftp /bin/echo this is no sftp server"},
		"banner":            {"Banner " + noise},
		"forced command":    {`ForceCommand echo forced; case "$SSH_ORIGINAL_COMMAND" in "") exit 1;; esac; eval "$SSH_ORIGINAL_COMMAND"`},
		"closed umask":      {`ForceCommand umask 0777; eval "$SSH_ORIGINAL_COMMAND"`},
		"stderr noise":      {`ForceCommand echo warning >&2; eval "$SSH_ORIGINAL_COMMAND"`},
		"frequent rekeying": {"RekeyLimit 256K"},
		"old algorithms":    {"KexAlgorithms diffie-hellman-group14-sha256", "Ciphers aes128-ctr", "MACs hmac-sha2-256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := sshdTarget(t, lines...)
			p := poolFor(t)
			for range 2 {
				if err := ping(t.Context(), p, target); err != nil {
					t.Fatal(err)
				}
				p.Reset(target)
			}
		})
	}
}

// TestT16ForcedOther: a server that runs something else instead ends in an error
// that says what it printed.
func TestT16ForcedOther(t *testing.T) {
	t.Parallel()
	err := ping(t.Context(), poolFor(t), sshdTarget(t, "ForceCommand echo This account is not available. >&2; exit 1"))
	if err == nil || !strings.Contains(err.Error(), "This account is not available.") {
		t.Errorf("got %v", err)
	}
}

// TestT16MaxStartups: a server that turns connections away at random is reached
// by trying again.
func TestT16MaxStartups(t *testing.T) {
	t.Parallel()
	target := daemon(t, "MaxStartups 2:50:4")
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			p := poolFor(t)
			one := *target
			one.Name = fmt.Sprintf("controller%d", i)
			if err := ping(t.Context(), p, &one); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// TestRealHostKeys: a real server under another key than the known one.
func TestRealHostKeys(t *testing.T) {
	t.Parallel()
	target := sshdTarget(t)
	dir := filepath.Dir(target.KeyFiles[0])
	other := newKey(t, filepath.Join(dir, "other"))
	write(t, filepath.Join(dir, "known_hosts"), "# comment\nsshd "+string(gossh.MarshalAuthorizedKey(other)))
	err := ping(t.Context(), poolFor(t), target)
	if err == nil || !strings.Contains(err.Error(), "HAS CHANGED") || !strings.Contains(err.Error(), "known_hosts:2") {
		t.Errorf("got %v", err)
	}
}
