package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"play/connection/contract"
	"play/engine/crypthash"
)

// doasHost is a view of this machine in which the installed doas has rules, and
// users with passwords, of the test's own.
type doasHost struct {
	dir string // holds the view's /etc, the users' homes, and a play that they may run
}

// Users of a doasHost, by number.
var doasUsers = map[string]int{"root": 0, "alice": 61001, "bob": 61002}

// newDoasHost makes the view; doas asks for the login user's password, which is
// the name with an exclamation mark, except where bob is to become another user.
func newDoasHost(t *testing.T) *doasHost {
	t.Helper()
	doas, err := exec.LookPath("doas")
	if err != nil {
		t.Skip("doas is not installed")
	}
	contract.NeedMounts(t)
	dir, err := os.MkdirTemp("", "play-doas-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeSoon(t, dir) })
	h := &doasHost{dir}
	h.do(t, "chmod", "755", dir)
	h.do(t, "cp", "-a", "/etc", h.path("etc"))
	if info, err := os.Stat(doas); err != nil || info.Mode()&os.ModeSetuid == 0 {
		t.Skipf("%s cannot become another user: %v", doas, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h.do(t, "install", "-m", "755", self, h.path("play"))
	rules := "permit root as bob\npermit alice as bob\npermit alice as root\npermit nopass bob as alice\n"
	if err := os.WriteFile(h.path("etc/doas.conf"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, id := range doasUsers {
		h.addUser(t, name, id)
	}
	return h
}

func (h *doasHost) path(name string) string { return filepath.Join(h.dir, name) }

func (h *doasHost) do(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, out)
	}
}

// addUser gives a user a home and a password.
func (h *doasHost) addUser(t *testing.T, name string, id int) {
	t.Helper()
	sha, _ := crypthash.Find("sha512")
	hash, err := sha.Hash(name+"!", "salt"+name, 5000, "")
	if err != nil {
		t.Fatal(err)
	}
	home := h.path(name)
	for file, line := range map[string]string{
		"passwd": fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh", name, id, id, home), "group": fmt.Sprintf("%s:x:%d:", name, id),
		"shadow": fmt.Sprintf("%s:%s:19000:0:99999:7:::", name, hash),
	} {
		path := h.path("etc/" + file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kept := []string{line}
		for _, other := range strings.Split(string(text), "\n") {
			if !strings.HasPrefix(other, name+":") {
				kept = append(kept, other)
			}
		}
		if err := os.WriteFile(path, []byte(strings.Join(kept, "\n")), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	h.do(t, "chmod", "644", h.path("etc/passwd"), h.path("etc/group"))
	h.do(t, "install", "-d", "-m", "755", "-o", fmt.Sprint(id), "-g", fmt.Sprint(id), home)
	if err := os.WriteFile(filepath.Join(home, "who.yml"), []byte(whoBook), 0o644); err != nil {
		t.Fatal(err)
	}
}

// whoBook tells twice who a user became to be: the second time in a process of
// its own.
const whoBook = `
- hosts: all
  gather_facts: false
  become: true
  become_method: doas
  tasks:
    - {command: id -un, register: agent}
    - {raw: id -un, register: plain}
    - debug: {msg: "became {{ agent.stdout }} and {{ plain.stdout | trim }}"}
`

// play runs play as the login user, who becomes another one with a password ("":
// none is given).
func (h *doasHost) play(login, other, password string) (string, error) {
	id := fmt.Sprint(doasUsers[login])
	home := h.path(login)
	args := []string{"-m", "/bin/sh", "-c", `mount --bind "$1/etc" /etc && cd "$2" && shift 2 && exec "$@"`, "sh", h.dir, home,
		"setpriv", "--reuid", id, "--regid", id, "--clear-groups",
		h.path("play"), "-i", "here,", "-c", "local", "--become-user", other, "who.yml"}
	if password != "" {
		args = append(args, "-e", "ansible_become_password="+password)
	}
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), "PLAY_TEST_MAIN=1", "ANSIBLE_NOCOLOR=1", "ANSIBLE_CONFIG=/dev/null", "HOME="+home, "TMPDIR="+home, "USER="+login)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestRealDoas: the installed doas, with its rules, reads a password from the
// terminal that the login user's agent makes, for each process anew, and a wrong
// one is given once.
func TestRealDoas(t *testing.T) {
	t.Parallel()
	h := newDoasHost(t)
	for _, c := range []struct{ login, other, password, want string }{
		{"bob", "alice", "", "became alice and alice"},
		{"alice", "bob", "alice!", "became bob and bob"},
		{"alice", "root", "alice!", "became root and root"},
		{"root", "bob", "root!", "became bob and bob"},
		{"alice", "bob", "", "doas: Authentication required"},
		{"alice", "bob", "guess", "Incorrect doas password"},
		{"bob", "root", "bob!", "doas: Operation not permitted"},
	} {
		t.Run(c.login+" "+c.other+" "+c.password, func(t *testing.T) {
			t.Parallel()
			out, err := h.play(c.login, c.other, c.password)
			if !strings.Contains(out, c.want) || strings.HasPrefix(c.want, "became") != (err == nil) {
				t.Errorf("%v, want %q:\n%s", err, c.want, out)
			}
		})
	}
}
