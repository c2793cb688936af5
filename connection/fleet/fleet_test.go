package fleet_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"play/connection/contract"
	"play/connection/fleet"
	"play/modules/procfs"
)

func TestMain(m *testing.M) { os.Exit(contract.Main(m)) }

func newFleet(t *testing.T, o fleet.Options) *fleet.Fleet {
	t.Helper()
	dir, err := os.MkdirTemp("", "play-fleet-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	o.Dir = dir
	f, err := fleet.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// login connects to a host with nothing but the SSH library.
func login(t *testing.T, f *fleet.Fleet, h *fleet.Host) *ssh.Client {
	t.Helper()
	key, err := os.ReadFile(f.Key)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := ssh.Dial("tcp", h.Addr(), &ssh.ClientConfig{
		User: f.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.FixedHostKey(h.HostKey()),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func output(t *testing.T, c *ssh.Client, command string) string {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Output(command)
	if err != nil {
		t.Errorf("%s: %v", command, err)
	}
	return string(out)
}

// TestHosts: each host has an address, a key and a home of its own.
func TestHosts(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleet.Options{Hosts: 3})
	inventory, err := os.ReadFile(f.Inventory)
	if err != nil {
		t.Fatal(err)
	}
	homes := map[string]bool{}
	for i, h := range f.Hosts {
		line := fmt.Sprintf("web%d ansible_host=%s ansible_port=%d\n", i+1, h.Address, h.Port)
		if !strings.Contains(string(inventory), line) {
			t.Errorf("the inventory has no line %q", line)
		}
		got := output(t, login(t, f, h), `echo "$HOME"; pwd; echo "$USER"`)
		if want := h.Home + "\n" + h.Home + "\n" + f.User + "\n"; got != want {
			t.Errorf("%s: got %q, want %q", h.Name, got, want)
		}
		homes[h.Home] = true
	}
	if len(homes) != 3 {
		t.Errorf("%d homes, want 3", len(homes))
	}
}

func TestLogins(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleet.Options{Hosts: 1, Password: "s3cret"})
	for password, want := range map[string]bool{"s3cret": true, "guess": false} {
		c, err := ssh.Dial("tcp", f.Hosts[0].Addr(), &ssh.ClientConfig{
			User: "anybody", Auth: []ssh.AuthMethod{ssh.Password(password)}, HostKeyCallback: ssh.FixedHostKey(f.Hosts[0].HostKey()),
		})
		if (err == nil) != want {
			t.Errorf("%q: %v", password, err)
		}
		if c != nil { // a login counts once the server has seen it through, as an answered command shows
			output(t, c, "true")
			c.Close()
		}
	}
	if n := f.Hosts[0].Logins(); n != 1 {
		t.Errorf("%d logins, want 1", n)
	}
}

// TestProcessesEnd: what runs on a host ends with its connection, but not what
// has a session of its own.
func TestProcessesEnd(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleet.Options{Hosts: 1})
	c := login(t, f, f.Hosts[0])
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// The stubborn one ignores the end of its input and a hang-up.
	script := `setsid sleep 60 >/dev/null 2>&1 & detached=$!; trap "" HUP; sleep 60 >/dev/null 2>&1 & echo $$ $! $detached; wait`
	if err := s.Start(script); err != nil {
		t.Fatal(err)
	}
	var shell, child, detached int
	if _, err := fmt.Fscan(out, &shell, &child, &detached); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(detached, syscall.SIGKILL) }() // a failure shows as a left-over process
	f.Hosts[0].Drop()
	for _, pid := range []int{shell, child} {
		if !ends(pid) {
			t.Errorf("process %d is left over", pid)
		}
	}
	if syscall.Kill(detached, 0) != nil {
		t.Error("a process in a session of its own was ended, too")
	}
}

func ends(pid int) bool {
	for range 1200 {
		if procfs.Start(pid) == "" && (procfs.BootID() != "" || syscall.Kill(pid, 0) != nil) {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

func TestSignal(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleet.Options{Hosts: 1})
	s, err := login(t, f, f.Hosts[0]).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("echo up; exec sleep 60"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	if err := s.Signal(ssh.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err = s.Wait()
	if ended, ok := err.(*ssh.ExitError); !ok || ended.Signal() != "TERM" {
		t.Errorf("got %v", err)
	}
}

// TestSudo: the stand-in gives the other user a home of its own.
func TestSudo(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleet.Options{Hosts: 1, Sudo: true})
	got := output(t, login(t, f, f.Hosts[0]), `sudo -H -S -n -u other /bin/sh -c 'echo "$USER $HOME"; test -w "$HOME"'`)
	if want := "other " + filepath.Join(filepath.Dir(f.Hosts[0].Home), "other") + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func number(t *testing.T, text string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return n
}
