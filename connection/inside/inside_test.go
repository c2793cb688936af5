package inside_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/connection"
	"play/connection/contract"
	"play/connection/inside"
	"play/connection/local"
)

func TestMain(m *testing.M) {
	contract.Agent()
	os.Exit(contract.Main(m))
}

// stub stands in for the programs: it notes its arguments, a line by one write
// since several start at once, and runs what follows the shell's name here.
const stub = `#!/bin/sh
line=
for word in "$0" "$@"; do
  [ "$word" = /bin/sh ] && break
  line="$line<${word##*/}>"
done
echo "$line" >> %s
while [ "$1" != /bin/sh ]; do shift; done
exec "$@"
`

// peer reaches inside by stubs; the file has a line of arguments for each start.
func peer(t *testing.T, target *connection.Target) (contract.Peer, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "play-inside-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	log := filepath.Join(dir, "log")
	exe := filepath.Join(dir, target.Options["executable"])
	target.Options["executable"] = exe
	if err := os.WriteFile(exe, []byte(fmt.Sprintf(stub, log)), 0o700); err != nil {
		t.Fatal(err)
	}
	near := &local.Transport{Env: append(os.Environ(), "HOME="+dir)}
	return contract.Peer{Dial: func(context.Context) (connection.Transport, error) {
		return inside.Kinds()[target.Transport].Dial(near, target)
	}}, log
}

// TestContract: each kind passes what is asked of every connection, and its
// program gets the right words.
func TestContract(t *testing.T) {
	t.Parallel()
	cases := []struct {
		transport, host, user string
		options               map[string]string
		want                  string
	}{
		{"docker", "app", "", map[string]string{"executable": "docker"}, "<docker><exec><-i><app>"},
		{"community.docker.docker", "app", "www", map[string]string{"executable": "docker", "extra_args": "-H 'tcp://a b'"},
			"<docker><-H><a b><exec><-i><-u><www><app>"},
		{"podman", "app", "0", map[string]string{"executable": "podman"}, "<podman><exec><-i><-u><0><app>"},
		{"kubectl", "web", "", map[string]string{"executable": "kubectl", "pod": "web-1", "namespace": "prod", "container": "nginx"},
			"<kubectl><-n><prod><exec><-i><web-1><-c><nginx><-->"},
		{"chroot", "/srv/root", "", map[string]string{"executable": "chroot"}, "<chroot><root>"},
		{"nspawn", "/srv/root", "me", map[string]string{"executable": "nspawn"}, "<nspawn><--quiet><--pipe><--user=me><root><-->"},
		{"nspawn", "box", "", map[string]string{"executable": "nspawn"}, "<nspawn><--quiet><--pipe><--machine=box><-->"},
	}
	for _, c := range cases {
		t.Run(c.transport+" "+c.host, func(t *testing.T) {
			t.Parallel()
			target := &connection.Target{Name: "web1", Transport: c.transport, Address: c.host, User: c.user, Options: c.options}
			p, log := peer(t, target)
			t.Cleanup(func() {
				text, err := os.ReadFile(log)
				if line, _, _ := strings.Cut(string(text), "\n"); err != nil || line != c.want {
					t.Errorf("the program got %s (%v), want %s", line, err, c.want)
				}
			})
			if c.host == "app" && c.user == "" { // the whole suite once: the rest is the same code
				t.Run("transport", func(t *testing.T) { t.Parallel(); contract.Transport(t, p) })
				t.Run("agent", func(t *testing.T) { t.Parallel(); contract.Links(t, p) })
			} else {
				contract.Hello(t, p)
			}
		})
	}
}

// TestNames: what is no name, or would be taken for an option, is refused.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, target := range []*connection.Target{
		{Transport: "docker", Address: "--privileged"},
		{Transport: "kubectl", Address: "-n"},
		{Transport: "nspawn", Address: "-D/"},
		{Transport: "chroot", Address: "srv"},
		{Transport: "su", User: ""},
		{Transport: "su", User: "carol", Options: map[string]string{"via": "alice,-c"}},
		{Transport: "podman", Address: "app", Options: map[string]string{"extra_args": "'"}},
	} {
		target.Name = "web1"
		if _, err := inside.Kinds()[target.Transport].Dial(&local.Transport{}, target); err == nil {
			t.Errorf("%s %q was taken", target.Transport, target.Address)
		}
	}
}

// TestNoProgram: a program that is not installed is an error of that host.
func TestNoProgram(t *testing.T) {
	t.Parallel()
	tr, err := inside.Kinds()["docker"].Dial(&local.Transport{}, &connection.Target{Name: "web1", Address: "app",
		Options: map[string]string{"executable": "/nonexistent/docker"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Start(t.Context(), "true"); err == nil || !strings.Contains(err.Error(), `cannot start "/nonexistent/docker"`) {
		t.Errorf("got %v", err)
	}
}
