package become_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"play/connection"
	"play/connection/become"
	"play/connection/contract"
	"play/connection/fleet"
	"play/connection/local"
	"play/connection/ssh"
)

func TestMain(m *testing.M) {
	contract.Agent()
	os.Exit(contract.Main(m))
}

// hostWithSudo is a fleet host whose sudo asks for a password ("": it does not).
func hostWithSudo(t *testing.T, password string) (*fleet.Fleet, connection.Transport) {
	t.Helper()
	dir, err := os.MkdirTemp("", "play-become-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f, err := fleet.New(fleet.Options{Dir: dir, Hosts: 1, Sudo: true, SudoPassword: password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	h := f.Hosts[0]
	d := &ssh.Dialer{Home: dir, User: f.User}
	tr, err := d.Dial(t.Context(), &connection.Target{
		Name: h.Name, Address: h.Address, Port: h.Port, User: f.User, KeyFiles: []string{f.Key}, HostKeyChecking: true,
		Options: map[string]string{"userknownhostsfile": f.KnownHosts},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return f, tr
}

// asked counts the passwords that the fleet's sudo has read.
func asked(f *fleet.Fleet) int {
	log, _ := os.ReadFile(f.SudoLog()) // absent: none
	return strings.Count(string(log), "\n")
}

// run starts a script as another user and returns all that it printed.
func run(t *testing.T, tr connection.Transport, script string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := tr.Start(ctx, script)
	if err != nil {
		return "", err
	}
	defer s.Close()
	out, err := io.ReadAll(s)
	if err != nil {
		t.Error(err)
	}
	return string(out), nil
}

// TestContract: as another user everything works as it does as the login user.
func TestContract(t *testing.T) {
	t.Parallel()
	for name, password := range map[string]string{"without password": "", "with password": "pa ss'w\"ord$x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tr := hostWithSudo(t, password)
			contract.Transport(t, contract.Peer{Dial: func(context.Context) (connection.Transport, error) {
				return become.Over(tr, connection.Become{Password: password}, "web1"), nil
			}})
		})
	}
}

func TestOtherUser(t *testing.T) {
	t.Parallel()
	_, tr := hostWithSudo(t, "")
	out, err := run(t, become.Over(tr, connection.Become{User: "o'ther"}, "web1"), "echo $USER; cat </dev/null")
	if out != "o'ther\n" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, password string
		asked          int
		msg            string
		rejected       bool
	}{
		{"right", "s3cret", 1, "", false},
		{"wrong", "guess", 1, "Incorrect sudo password", true},
		{"missing", "", 0, "Missing sudo password", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, tr := hostWithSudo(t, "s3cret")
			began := time.Now()
			_, err := run(t, become.Over(tr, connection.Become{Password: c.password, Flags: "-H -S -n"}, "web1"), "echo in")
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			if n := asked(f); n != c.asked {
				t.Errorf("sudo read %d passwords, want %d", n, c.asked)
			}
			if c.msg == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var failed *connection.BecomeError
			if !errors.As(err, &failed) || failed.Msg != c.msg || failed.Rejected != c.rejected {
				t.Errorf("got %#v, want %q", err, c.msg)
			}
		})
	}
}

// stub is a program that stands in for one of the become methods.
func stub(t *testing.T, name, script string) *local.Transport {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return &local.Transport{Env: []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "LOG=" + filepath.Join(dir, "log")}}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, script string
		how          connection.Become
		want         string
	}{
		{"not in sudoers", `echo "joe is not in the sudoers file." >&2; exit 1`, connection.Become{}, `cannot become "root" on "h": joe is not in the sudoers file.`},
		{"after the password", `printf '%s' "$4" >&2; read -r p; echo "joe n'est pas dans sudoers" >&2; exit 1`,
			connection.Become{Password: "x"}, `joe n'est pas dans sudoers`},
		{"silent end", "exit 7", connection.Become{}, "sudo ended with status 7"},
		{"terminal escapes", `printf '\033]0;evil\007no\n' >&2; exit 1`, connection.Become{}, `cannot become "root" on "h": ]0;evilno`},
		{"unknown method", "", connection.Become{Method: "pfexec"}, `the method "pfexec" is not known`},
		{"unknown program", "", connection.Become{Exe: "/no/such/sudo"}, "not found"},
		{"no end of prompts", `while :; do printf '%s' "$4" >&2; read -r p || exit 1; done`, connection.Become{Password: "x"}, "Incorrect sudo password"},
		{"noise without end", `while :; do echo noise; done`, connection.Become{}, "printed more than"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t, become.Over(stub(t, "sudo", c.script), c.how, "h"), "echo in")
			var failed *connection.BecomeError
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %#v, want %q", err, c.want)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\x1b\x07") {
				t.Errorf("terminal escapes came through: %q", err)
			}
		})
	}
}

// TestHang: a sudo that neither asks nor starts costs the caller's patience.
func TestHang(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := become.Over(stub(t, "sudo", "exec sleep 3"), connection.Become{}, "h").Start(ctx, "echo in")
	var failed *connection.BecomeError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "gave no answer in time") {
		t.Errorf("got %#v", err)
	}
}

// TestArguments: what the programs are called with, for each method.
func TestArguments(t *testing.T) {
	t.Parallel()
	const record = `for a in "$@"; do echo "[$a]" >>"$LOG"; done; while [ "$1" != /bin/sh ] && [ $# -gt 1 ]; do last=$1; shift; done; [ "$1" = /bin/sh ] || exec /bin/sh -c "$1"; exec "$@"`
	cases := []struct {
		how  connection.Become
		want string
	}{
		{connection.Become{Method: "sudo"}, "[-S] [-H] [-p] [*] [-u] [root] [/bin/sh] [-c] [*]"},
		{connection.Become{Method: "sudo", User: "www", Flags: "-H -S -n -E"}, "[-S] [-H] [-E] [-p] [*] [-u] [www] [/bin/sh] [-c] [*]"},
		{connection.Become{Method: "su", User: "www"}, "[www] [-c] [*]"},
		{connection.Become{Method: "su", User: "www", Flags: "-l"}, "[-l] [www] [-c] [*]"},
		{connection.Become{Method: "doas", User: "www"}, "[-n] [-u] [www] [/bin/sh] [-c] [*]"},
	}
	for _, c := range cases {
		tr := stub(t, c.how.Method, record)
		out, err := run(t, become.Over(tr, c.how, "h"), "echo it\\'s in")
		if out != "it's in\n" || err != nil {
			t.Errorf("%v: got %q, %v", c.how, out, err)
		}
		log, err := os.ReadFile(strings.TrimPrefix(tr.Env[1], "LOG="))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSpace(string(log)), "\n")
		for i, w := range strings.Fields(c.want) {
			if i >= len(got) || w != "[*]" && got[i] != w {
				t.Errorf("%v: called with %q, want %s", c.how, got, c.want)
				break
			}
		}
	}
}

// TestT12Password: a password arrives byte for byte.
func TestT12Password(t *testing.T) {
	t.Parallel()
	var password []byte
	for c := 1; c < 256; c++ {
		if c != '\n' { // which ends it
			password = append(password, byte(c))
		}
	}
	tr := stub(t, "sudo", `printf %s "$4" >&2; head -n 1 >"$LOG"; shift 6; exec "$@"`)
	if out, err := run(t, become.Over(tr, connection.Become{Password: string(password)}, "h"), "echo in"); out != "in\n" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
	if got, err := os.ReadFile(strings.TrimPrefix(tr.Env[1], "LOG=")); string(got) != string(password)+"\n" || err != nil {
		t.Errorf("sudo read %q, %v", got, err)
	}
}

// TestT16SudoRS: sudo-rs wraps the prompt it is given into one of its own, and has
// messages of its own.
func TestT16SudoRS(t *testing.T) {
	t.Parallel()
	const sudo = `[ "$3" = -p ] || exit 9
tries=0
while [ $tries -lt 3 ]; do
  tries=$((tries+1)); echo asked >>"$LOG"
  printf '[sudo: %s] Password: ' "$4" >&2; IFS= read -r p || exit 1
  [ "$p" = s3cret ] && { shift 6; exec "$@"; }
  echo "sudo-rs: Authentication failed, try again." >&2
done
echo "sudo-rs: Maximum 3 incorrect authentication attempts" >&2; exit 1`
	for password, want := range map[string]string{"s3cret": "", "guess": "Incorrect sudo password", "": "Missing sudo password"} {
		tr := stub(t, "sudo", sudo)
		out, err := run(t, become.Over(tr, connection.Become{Password: password}, "h"), "echo in")
		if want == "" && (err != nil || out != "in\n") || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: got %q, %v, want %q", password, out, err, want)
		}
	}
}

// sudoers is a transport on which sudo has a configuration of the test's.
type sudoers struct {
	*local.Transport
	file string
}

// Start runs the script in a mount namespace of its own.
func (s sudoers) Start(ctx context.Context, script string) (connection.Stream, error) {
	return s.StartArgv(ctx, []string{"unshare", "-m", "/bin/sh", "-c", `mount --bind "$1" /etc/sudoers && exec /bin/sh -c "$0"`, script, s.file})
}

// TestT16SudoLogsOutput: under the installed sudo with a pseudo-terminal and logs
// of all output an agent works as everywhere. (At the end of a process such a sudo
// may lose output; an agent ends after its last word was read.)
func TestT16SudoLogsOutput(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "play-sudoers-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) // sudo may still be writing its logs
	file := filepath.Join(dir, "sudoers")
	text := "Defaults use_pty, log_output\nDefaults iolog_dir=" + dir + "/log\nDefaults env_keep += HOME\nroot ALL=(ALL) NOPASSWD: ALL\n"
	if err := os.WriteFile(file, []byte(text), 0o440); err != nil {
		t.Fatal(err)
	}
	odd := sudoers{&local.Transport{Env: append(os.Environ(), "HOME="+dir)}, file}
	if s, err := odd.Start(t.Context(), "exec sudo -n -u nobody true"); err != nil {
		t.Fatal(err)
	} else if status, err := s.Wait(); err != nil || status != 0 {
		t.Skipf("sudo cannot be given another configuration here: status %d, %v, %s", status, err, s.Stderr())
	}
	other := become.Over(odd, connection.Become{User: "root", Flags: "-S"}, "h") // without -H
	contract.Links(t, contract.Peer{Dial: func(context.Context) (connection.Transport, error) { return other, nil }})
	if logs, _ := filepath.Glob(dir + "/log/*/*/*"); len(logs) == 0 {
		t.Error("sudo has logged nothing")
	}
}

// TestT16TranslatedPrompt: su's prompt is in the host's language; only its colon is sure.
func TestT16TranslatedPrompt(t *testing.T) {
	t.Parallel()
	const su = `printf 'Mot de passe : ' >&2; read -r p; [ "$p" = s3cret ] || { echo "su: Échec" >&2; exit 1; }; shift 2; exec /bin/sh -c "$1"`
	for password, want := range map[string]string{"s3cret": "", "guess": "Incorrect su password", "": "Missing su password"} {
		_, err := run(t, become.Over(stub(t, "su", su), connection.Become{Method: "su", Password: password}, "h"), "echo in")
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: got %v, want %q", password, err, want)
		}
	}
}

// TestT5NoSecretInProcesses: the password is in no argument and no environment.
func TestT5NoSecretInProcesses(t *testing.T) {
	t.Parallel()
	const secret = "CANARY-9f3b"
	f, tr := hostWithSudo(t, secret)
	s, err := become.Over(tr, connection.Become{Password: secret}, "web1").Start(t.Context(), "cat")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if asked(f) != 1 {
		t.Fatal("the password was not asked for")
	}
	seen := 0
	for _, name := range []string{"cmdline", "environ"} {
		paths, _ := filepath.Glob("/proc/[0-9]*/" + name)
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				continue // another user's, or gone
			}
			seen++
			if strings.Contains(string(content), secret) {
				t.Errorf("%s holds the password", path)
			}
		}
	}
	if _, err := os.Stat("/proc/self"); err == nil && seen == 0 {
		t.Error("no process was looked at")
	}
}

// TestT16RealSudo: the installed sudo, with whatever its configuration says
// (use_pty among it), where it lets us become somebody else without a password.
func TestT16RealSudo(t *testing.T) {
	t.Parallel()
	said, err := exec.Command("sudo", "-n", "-u", "nobody", "true").CombinedOutput()
	contract.Need(t, err == nil, "sudo is not installed or wants a password")
	if len(said) > 0 { // such as: unable to resolve host
		t.Skipf("sudo has words of its own for every command here: %s", said)
	}
	other := become.Over(&local.Transport{}, connection.Become{User: "nobody"}, "h")
	if out, err := run(t, other, "id -un"); out != "nobody\n" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
	contract.Transport(t, contract.Peer{Dial: func(context.Context) (connection.Transport, error) { return other, nil }})
	_, err = run(t, become.Over(&local.Transport{}, connection.Become{User: "no-such-user"}, "h"), "id")
	var failed *connection.BecomeError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "no-such-user") {
		t.Errorf("got %#v", err)
	}
}

// TestT16RealSu: the installed su, which lets root become anybody without a
// password.
func TestT16RealSu(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("su asks everybody but root for a password")
	}
	said, err := exec.Command("su", "-s", "/bin/sh", "nobody", "-c", "true").CombinedOutput()
	contract.Need(t, err == nil, "su is not installed or lets nobody in")
	if len(said) > 0 {
		t.Skipf("su has words of its own for every command here: %s", said)
	}
	other := become.Over(&local.Transport{}, connection.Become{Method: "su", User: "nobody", Flags: "-s /bin/sh"}, "h")
	if out, err := run(t, other, "id -un"); out != "nobody\n" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
	contract.Transport(t, contract.Peer{Dial: func(context.Context) (connection.Transport, error) { return other, nil }})
	_, err = run(t, become.Over(&local.Transport{}, connection.Become{Method: "su", User: "no-such-user"}, "h"), "id")
	var failed *connection.BecomeError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "no-such-user") {
		t.Errorf("got %#v", err)
	}
}
