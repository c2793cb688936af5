package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"play/connection"
	"play/connection/contract"
	"play/connection/fleet"
)

// terminalPrograms are stand-ins that ask for a password as the real programs do: doas on its terminal
// alone, without echo, once; sudo with requiretty on its standard input, after it
// has seen that there is a terminal; an old su on its terminal, in French.
func terminalPrograms(password string) map[string]string {
	head := "#!/bin/sh\nright=" + connection.Quote(password) + "\n"
	return map[string]string{
		"doas": head + `
echo "$*" | cut -c1-20 >>"${0%/*}/doas.log"
while [ "$1" != /bin/sh ]; do shift; done
{ printf 'doas (joe@web1) password: ' >/dev/tty; } 2>/dev/null || { echo "doas: a tty is required" >&2; exit 1; }
stty -echo </dev/tty
read -r p </dev/tty
stty echo </dev/tty
[ "$p" = "$right" ] || { echo "doas: Authentication failed" >&2; exit 1; }
exec "$@"
`,
		"sudo-tty": head + `
(: </dev/tty) 2>/dev/null || { echo "sudo: sorry, you must have a tty to run sudo" >&2; exit 1; }
exec "${0%/*}/sudo" "$@"
`,
		"su": head + `
(: </dev/tty) 2>/dev/null || { echo "su: doit être lancé depuis un terminal" >&2; exit 1; }
printf 'Mot de passe : ' >/dev/tty
read -r p </dev/tty
[ "$p" = "$right" ] || { echo "su : Échec d'authentification" >&2; exit 1; }
exec /bin/sh -c "$3"
`,
	}
}

// writePrograms puts the stand-ins among the fleet's programs.
func writePrograms(t *testing.T, f *fleet.Fleet, password string) {
	t.Helper()
	for name, text := range terminalPrograms(password) {
		if err := os.WriteFile(filepath.Join(f.Dir, "bin", name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// TestT16Terminals: programs that insist on a terminal get one; content passes as
// it is all the same, and a wrong password ends the attempt at once.
func TestT16Terminals(t *testing.T) {
	t.Parallel()
	contract.Need(t, runtime.GOOS == "linux", "the agent makes terminals on Linux only")
	dir, err := os.MkdirTemp("", "play-terminal-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const password = `it's "a" $1 s3cret`
	f, err := fleet.New(fleet.Options{Dir: dir, Hosts: 1, Sudo: true, SudoPassword: password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	writePrograms(t, f, password)
	content := make([]byte, 0, 1<<16)
	for i := range 1 << 16 {
		content = append(content, byte(i), byte(i>>8))
	}
	if err := os.WriteFile(filepath.Join(dir, "content"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	writeTest(t, filepath.Join(dir, "site.yml"), `
- hosts: all
  gather_facts: false
  become: true
  become_user: other
  tasks:
    - copy: {src: content, dest: "~/copied-{{ ansible_become_method }}"}
    - shell: "cat >/dev/null; echo out; echo err >&2"
      args: {stdin: "some input"}
      register: r
    - assert: {that: "r.stdout == 'out' and r.stderr == 'err'"}
`)
	for _, method := range []string{"doas", "sudo", "su"} {
		exe := map[string]string{"sudo": filepath.Join(dir, "bin", "sudo-tty")}[method]
		args := []string{"-i", f.Inventory, "-e", "ansible_become_method=" + method, "-e", `{"ansible_become_exe": "` + exe + `"}`, "site.yml"}
		writeTest(t, filepath.Join(dir, "right"), password+"\n")
		writeTest(t, filepath.Join(dir, "wrong"), "guess\n")
		runPlay(t, dir, append([]string{"--become-password-file", "right"}, args...)...)
		copied, _ := filepath.Glob(filepath.Join(dir, "hosts", "web1", "*", "copied-"+method)) // none: the comparison tells
		if len(copied) != 1 {
			t.Errorf("%s: %q", method, copied)
		} else if data, err := os.ReadFile(copied[0]); err != nil || string(data) != string(content) {
			t.Errorf("%s: the content came changed: %d bytes, %v", method, len(data), err)
		}
		out, code := playOutput(t, dir, append([]string{"--become-password-file", "wrong"}, args...)...)
		if code != exitFailed || !strings.Contains(out, "Incorrect "+method+" password") && !strings.Contains(out, "Authentication failed") {
			t.Errorf("%s with a wrong password: exit code %d\n%s", method, code, out)
		}
	}
	if log, _ := os.ReadFile(filepath.Join(dir, "bin", "doas.log")); strings.Count(string(log), "\n") != 2 {
		t.Errorf("doas was called: %s", log)
	}
}
