package contract_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"play/connection"
	"play/connection/contract"
)

// sshd is the path of OpenSSH's server.
const sshd = "/usr/sbin/sshd"

// sshdConfig runs without root, without PAM, and with keys of its own.
const sshdConfig = `HostKey %[1]s/host
AuthorizedKeysFile %[1]s/client.pub
UsePAM no
StrictModes no
PidFile none
PasswordAuthentication no
PermitRootLogin yes
SetEnv HOME=%[1]s/home
%[2]s
`

// sshdTarget is a target served by a real sshd over a socket pair: no port, no
// daemon, no root. extra are further lines of its configuration.
func sshdTarget(t *testing.T, extra ...string) *connection.Target {
	t.Helper()
	contract.NeedFile(t, sshd, "OpenSSH's server is not installed")
	if os.Getuid() == 0 {
		// As root sshd insists on its folder for unprivileged children.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := shortTempDir(t)
	if !slices.ContainsFunc(extra, func(l string) bool { return strings.HasPrefix(l, "Subsystem") }) {
		extra = append(extra, "Subsystem sftp internal-sftp")
	}
	host := newKey(t, filepath.Join(dir, "host"))
	newKey(t, filepath.Join(dir, "client"))
	write(t, filepath.Join(dir, "known_hosts"), "sshd "+string(gossh.MarshalAuthorizedKey(host)))
	write(t, filepath.Join(dir, "config"), fmt.Sprintf(sshdConfig, dir, strings.Join(extra, "\n")))
	if err := os.Mkdir(filepath.Join(dir, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return &connection.Target{
		Name: "sshd", Transport: "ssh", User: me.Username, HostKeyChecking: true,
		KeyFiles: []string{filepath.Join(dir, "client")},
		Options: map[string]string{
			"proxycommand":       sshd + " -i -e -f " + filepath.Join(dir, "config") + " 2>" + filepath.Join(dir, "log"),
			"userknownhostsfile": filepath.Join(dir, "known_hosts"), "identitiesonly": "yes",
		},
	}
}

// newKey writes a key pair and returns its public half.
func newKey(t *testing.T, path string) gossh.PublicKey {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := gossh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(pem.EncodeToMemory(block)))
	public, err := gossh.NewPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	write(t, path+".pub", string(gossh.MarshalAuthorizedKey(public)))
	return public
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shortTempDir is a folder whose name holds nothing special.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "play-contract-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
