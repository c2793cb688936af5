package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"play/connection/contract"
)

const sshd = "/usr/sbin/sshd"

// sshdConfig is a real OpenSSH server for the person who runs the tests: its
// sessions have a home folder of their own.
const sshdConfig = `ListenAddress %[2]s:%[3]d
HostKey %[1]s/host
AuthorizedKeysFile %[1]s/client.pub
UsePAM no
StrictModes no
PidFile none
PasswordAuthentication no
PermitRootLogin yes
Subsystem sftp internal-sftp
SetEnv HOME=%[1]s/%[4]s
`

// TestExampleOnOpenSSH rolls examples/site.yml out over five real OpenSSH
// servers on loopback addresses, twice.
func TestExampleOnOpenSSH(t *testing.T) {
	t.Parallel()
	contract.NeedFile(t, sshd, "OpenSSH's server is not installed")
	dir := t.TempDir()
	inventory := serveOpenSSH(t, dir, 5)
	first := runPlay(t, dir, "-i", inventory, absolute(t, "../../examples/site.yml"))
	if !regexp.MustCompile(`web3 +: .*rescued=1`).MatchString(first) {
		t.Errorf("web3 was not rescued:\n%s", first)
	}
	second := runPlay(t, dir, "-i", inventory, absolute(t, "../../examples/site.yml"))
	if n := strings.Count(second, "changed=0 "); n != 5 {
		t.Errorf("the second run changed something:\n%s", second)
	}
}

// serveOpenSSH starts n servers and returns the path of their inventory.
func serveOpenSSH(t *testing.T, dir string, n int) string {
	t.Helper()
	if os.Getuid() == 0 {
		// As root sshd insists on its folder for unprivileged children.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"host", "client"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	key, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	// An address of its own keeps other processes from taking a port meanwhile.
	subnet := fmt.Sprintf("127.%d.%d", 10+rand.IntN(200), rand.IntN(250))
	hosts, known := "[web]\n", ""
	for i := 1; i <= n; i++ {
		addr := fmt.Sprintf("%s.%d", subnet, i)
		port := startOpenSSH(t, dir, addr, fmt.Sprintf("web%d", i))
		hosts += fmt.Sprintf("web%d ansible_host=%s ansible_port=%d\n", i, addr, port)
		known += fmt.Sprintf("[%s]:%d %s", addr, port, key)
	}
	hosts += fmt.Sprintf("[web:vars]\nansible_user=%s\nansible_ssh_private_key_file=%s/client\n"+
		"ansible_ssh_common_args='-o UserKnownHostsFile=%s/known_hosts -o IdentitiesOnly=yes'\n", me.Username, dir, dir)
	writeTest(t, filepath.Join(dir, "known_hosts"), known)
	writeTest(t, filepath.Join(dir, "inventory.ini"), hosts)
	return filepath.Join(dir, "inventory.ini")
}

func startOpenSSH(t *testing.T, dir, addr, home string) int {
	t.Helper()
	l, err := net.Listen("tcp", addr+":0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	if err := os.Mkdir(filepath.Join(dir, home), 0o700); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, home+".conf")
	writeTest(t, config, fmt.Sprintf(sshdConfig, dir, addr, port, home))
	cmd := exec.Command(sshd, "-D", "-e", "-f", config)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("sshd of %s:\n%s", home, log.String())
		}
	})
	for range 1200 {
		if conn, err := net.Dial("tcp", net.JoinHostPort(addr, strconv.Itoa(port))); err == nil {
			conn.Close()
			return port
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("sshd does not listen on %s", addr)
	return 0
}

// runPlay runs the test binary as play, which must succeed, and returns its
// stdout.
func runPlay(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, code := playOutput(t, dir, args...)
	if code != exitOK {
		t.Fatalf("play %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// playOutput runs the test binary as play.
func playOutput(t *testing.T, dir string, args ...string) (out string, code int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PLAY_TEST_MAIN=1", "ANSIBLE_NOCOLOR=1", "ANSIBLE_CONFIG=/dev/null", "HOME="+dir)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, os.Stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return text.String(), cmd.ProcessState.ExitCode()
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

func writeTest(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
