package start_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"play/connection"
	"play/connection/become"
	"play/connection/contract"
	"play/connection/fleet"
	"play/connection/local"
	"play/connection/ssh"
	"play/connection/start"
)

func TestMain(m *testing.M) { os.Exit(contract.Main(m)) }

// agent is an executable that says where it runs and repeats its input.
const agent = "#!/bin/sh\necho \"$0 $*\"\nexec cat\n"

// scripts are agents for every platform.
type scripts struct {
	text    string
	hash    string // "": the true one
	onlyFor string // a platform; "": all
}

func (s scripts) sum() string         { h := sha256.Sum256([]byte(s.text)); return hex.EncodeToString(h[:]) }
func (s scripts) ID() string          { return s.sum()[:12] }
func (s scripts) Args() []string      { return []string{"serve", "it"} }
func (s scripts) Platforms() []string { return []string{s.onlyFor} }

func (s scripts) Binary(goos, goarch string) (start.Binary, bool) {
	if s.onlyFor != "" && s.onlyFor != goos+"/"+goarch {
		return start.Binary{}, false
	}
	hash := s.hash
	if hash == "" {
		hash = s.sum()
	}
	return start.Binary{Hash: hash, Size: int64(len(s.text)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(s.text)), nil
	}}, true
}

// counting is a transport that notes the scripts it started.
type counting struct {
	connection.Transport
	mu      sync.Mutex
	scripts []string
}

func (c *counting) Start(ctx context.Context, script string) (connection.Stream, error) {
	c.mu.Lock()
	c.scripts = append(c.scripts, script)
	c.mu.Unlock()
	return c.Transport.Start(ctx, script)
}

func (c *counting) count() int { return len(c.scripts) }

// onHome is the local machine with a home folder of the test's.
func onHome(t *testing.T, env ...string) (*counting, string) {
	t.Helper()
	home := tempDir(t)
	env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, env...)
	return &counting{Transport: &local.Transport{Env: env}}, home
}

// tempDir is a folder with a plain name, readable by its owner alone.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "play-start-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command("chmod", "-R", "u+w", dir).Run() // for the removal below
		os.RemoveAll(dir)
	})
	return dir
}

// begin starts the agent and returns the path it says it runs from.
func begin(t *testing.T, tr connection.Transport, a start.Agents, o start.Options) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	o.Host = "web1"
	s, err := start.Agent(ctx, tr, a, o)
	if err != nil {
		return "", err
	}
	defer s.Close()
	line := make([]byte, 0, 200)
	for b := make([]byte, 1); b[0] != '\n'; line = append(line, b[0]) {
		if _, err := io.ReadFull(s, b); err != nil {
			t.Fatalf("the agent said %q: %v", line, err)
		}
	}
	path, ok := strings.CutSuffix(string(line), " serve it\n")
	if !ok {
		t.Errorf("the agent said %q", line)
	}
	return path, nil
}

// TestFirstContact: the first start takes three execs (look, upload, begin), the
// next ones take one.
func TestFirstContact(t *testing.T) {
	t.Parallel()
	tr, home := onHome(t)
	for _, want := range []int{3, 4, 5} {
		path, err := begin(t, tr, scripts{text: agent}, start.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(path, home+"/.cache/play/agent-") {
			t.Errorf("it runs from %q", path)
		}
		if tr.count() != want {
			t.Errorf("%d execs so far, want %d", tr.count(), want)
		}
	}
	dir := filepath.Join(home, ".cache", "play")
	names, _ := filepath.Glob(dir + "/*")
	hidden, _ := filepath.Glob(dir + "/.[a-z]*")
	if len(names) != 1 || len(hidden) != 0 {
		t.Errorf("the folder holds %q and %q", names, hidden)
	}
	for _, path := range []string{dir, names[0]} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v, %v; want 0700", path, info.Mode(), err)
		}
	}
}

// TestFreshCopy: a copy that is not trusted is replaced.
func TestFreshCopy(t *testing.T) {
	t.Parallel()
	tr, _ := onHome(t)
	path, err := begin(t, tr, scripts{text: agent}, start.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(t, tr, scripts{text: agent}, start.Options{Fresh: true}); err != nil {
		t.Error(err)
	}
}

func TestRemoteTmp(t *testing.T) {
	t.Parallel()
	tr, home := onHome(t)
	for dir, want := range map[string]string{
		"~/own folder":   home + "/own folder/play-",
		"$HOME/other":    home + "/other/play-",
		home + "/direct": home + "/direct/play-",
	} {
		if path, err := begin(t, tr, scripts{text: agent + "#" + dir + "\n"}, start.Options{RemoteTmp: dir}); err != nil || !strings.HasPrefix(path, want) {
			t.Errorf("%s: it runs from %q, %v", dir, path, err)
		}
	}
	for _, bad := range []string{"/it's", "/a$(touch x)", "/a`b`", "/new\nline", `/back\slash`, "/bang!"} {
		if _, err := begin(t, tr, scripts{text: agent}, start.Options{RemoteTmp: bad}); err == nil || !strings.Contains(err.Error(), "treat specially") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestT6Folders: a folder that somebody else could have prepared, or that does
// not take the agent, is passed over for the next one.
func TestT6Folders(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		prepare func(t *testing.T, cache string)
	}{
		{"symbolic link", func(t *testing.T, cache string) {
			must(t, os.MkdirAll(filepath.Dir(cache), 0o700))
			must(t, os.Symlink(tempDir(t), cache))
		}},
		{"a file", func(t *testing.T, cache string) {
			must(t, os.MkdirAll(filepath.Dir(cache), 0o700))
			must(t, os.WriteFile(cache, nil, 0o600))
		}},
		{"another owner", func(t *testing.T, cache string) {
			must(t, os.MkdirAll(cache, 0o700))
			contract.Need(t, os.Chown(cache, nobody, nobody) == nil, "needs root to give a folder away")
		}},
		{"not writable", func(t *testing.T, cache string) {
			must(t, os.MkdirAll(filepath.Dir(cache), 0o700))
			must(t, os.Chmod(filepath.Dir(cache), 0o500))
		}},
		{"no execution", func(t *testing.T, cache string) {
			must(t, os.MkdirAll(cache, 0o700))
			mount(t, cache, "noexec")
		}},
		{"read-only", func(t *testing.T, cache string) {
			must(t, os.MkdirAll(cache, 0o700))
			mount(t, cache, "ro")
		}},
		{"full", func(t *testing.T, cache string) {
			must(t, os.MkdirAll(cache, 0o700))
			mount(t, cache, "size=8k")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.name == "not writable" && os.Getuid() == 0 {
				asNobody(t) // nothing is closed to root
				return
			}
			second := tempDir(t)
			tr, home := onHome(t, "XDG_RUNTIME_DIR="+second)
			c.prepare(t, filepath.Join(home, ".cache", "play"))
			big := agent + strings.Repeat("# filling\n", 2000)
			path, err := begin(t, tr, scripts{text: big}, start.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(path, second+"/play/") {
				t.Errorf("it runs from %q", path)
			}
		})
	}
}

// nobody is the user and group id of Debian's nobody and nogroup.
const nobody = 65534

// asNobody runs the calling test again as a user without privileges.
func asNobody(t *testing.T) {
	t.Helper()
	dir := tempDir(t)
	must(t, os.Chmod(dir, 0o755))
	self, err := os.Executable()
	must(t, err)
	binary, err := os.ReadFile(self)
	must(t, err)
	copied := filepath.Join(dir, "test")
	must(t, os.WriteFile(copied, binary, 0o755))
	own := filepath.Join(dir, "own")
	must(t, os.Mkdir(own, 0o700))
	must(t, os.Chown(own, nobody, nobody))
	parts := strings.Split(t.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	cmd := exec.Command(copied, "-test.v", "-test.run", strings.Join(parts, "/"))
	cmd.Dir = own
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + own, "TMPDIR=" + own}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mount puts a small file system at dir.
func mount(t *testing.T, dir, option string) {
	t.Helper()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "mode=700,"+option, "play-test", dir).CombinedOutput(); err != nil {
		t.Skipf("needs root to mount: %v: %s", err, out)
	}
	t.Cleanup(func() { must(t, exec.Command("umount", dir).Run()) })
}

// TestLooseFolder: a folder of one's own that is open to others is closed.
func TestLooseFolder(t *testing.T) {
	t.Parallel()
	tr, home := onHome(t)
	dir := filepath.Join(home, ".cache", "play")
	must(t, os.MkdirAll(dir, 0o777))
	must(t, os.Chmod(dir, 0o777))
	if _, err := begin(t, tr, scripts{text: agent}, start.Options{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestNoAgentForPlatform(t *testing.T) {
	t.Parallel()
	tr, _ := onHome(t)
	_, err := begin(t, tr, scripts{text: agent, onlyFor: "plan9/mips"}, start.Options{})
	var unreachable *connection.UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "this play has none for") || !strings.Contains(err.Error(), "plan9/mips") {
		t.Errorf("got %v", err)
	}
}

// TestDamagedUpload: what does not have the right hash is never started.
func TestDamagedUpload(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	tr, home := onHome(t, "XDG_RUNTIME_DIR="+dir)
	_, err := begin(t, tr, scripts{text: agent + "# " + dir + "\n", hash: strings.Repeat("0", 64)}, start.Options{})
	if err == nil || !strings.Contains(err.Error(), home+"/.cache/play is damaged") {
		t.Errorf("got %v", err)
	}
	for _, d := range []string{home + "/.cache/play", dir + "/play"} {
		if names, _ := os.ReadDir(d); len(names) != 0 {
			t.Errorf("%s holds %v", d, names)
		}
	}
}

// TestReadyAgent: an agent that is on the host already needs no upload.
func TestReadyAgent(t *testing.T) {
	t.Parallel()
	tr, home := onHome(t)
	path := filepath.Join(home, "it's ready")
	must(t, os.WriteFile(path, []byte(agent), 0o700))
	tr.Transport.(*local.Transport).Agent = path
	tr.Transport.(*local.Transport).AgentArgs = []string{"serve", "it"}
	ready := struct {
		connection.Transport
		start.Ready
	}{tr, tr.Transport.(start.Ready)}
	got, err := begin(t, ready, scripts{text: agent}, start.Options{})
	if err != nil || got != path || tr.count() != 1 {
		t.Errorf("it runs from %q after %d execs, %v", got, tr.count(), err)
	}
}

// TestT16ScriptsPassAnyShell: the scripts hold nothing that csh or fish treat
// specially even in single quotes.
func TestT16ScriptsPassAnyShell(t *testing.T) {
	t.Parallel()
	tr, _ := onHome(t)
	if _, err := begin(t, tr, scripts{text: agent}, start.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, script := range tr.scripts {
		if at := strings.IndexAny(connection.Quote(script), "\\!\n"); at >= 0 {
			t.Errorf("the script holds a special character at %d: %s", at, script)
		}
	}
}

// overFleet connects to a fleet host with faults.
func overFleet(t *testing.T, faults fleet.Faults) connection.Transport {
	t.Helper()
	return overShell(t, faults, "")
}

// overShell connects to a fleet host whose user has a login shell.
func overShell(t *testing.T, faults fleet.Faults, shell string) connection.Transport {
	t.Helper()
	f, err := fleet.New(fleet.Options{Dir: tempDir(t), Hosts: 1, Shell: shell, Sudo: true, SudoPassword: "it's $1"})
	must(t, err)
	t.Cleanup(f.Close)
	h := f.Hosts[0]
	must(t, h.SetFaults(faults))
	d := &ssh.Dialer{Home: t.TempDir(), User: f.User}
	tr, err := d.Dial(t.Context(), &connection.Target{
		Name: h.Name, Address: h.Address, Port: h.Port, User: f.User, KeyFiles: []string{f.Key}, HostKeyChecking: true,
		Options: map[string]string{"userknownhostsfile": f.KnownHosts},
	})
	must(t, err)
	t.Cleanup(func() { tr.Close() })
	return tr
}

// TestT16LoginShells: every login shell that is installed here will do, also
// for becoming another user.
func TestT16LoginShells(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "csh", "tcsh", "fish"} {
		shell, err := exec.LookPath(name)
		odd := name == "tcsh" || name == "fish"
		if err != nil && !odd {
			continue // sh at least is everywhere
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contract.Need(t, err == nil, "the shell "+name+" is not installed")
			tr := overShell(t, fleet.Faults{NoSFTP: true}, shell)
			other := become.Over(tr, connection.Become{User: "other", Password: "it's $1"}, "web1")
			for range 2 {
				for _, over := range []connection.Transport{tr, other} {
					if _, err := begin(t, over, scripts{text: agent}, start.Options{RemoteTmp: "~/my own"}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// TestT16ShellFiles: a login shell reads a file first, as bash under sshd does with
// ~/.bashrc. One that prints is no hindrance; one that exits keeps everybody out,
// and what it said is the reason.
func TestT16ShellFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"prints":           {"echo Welcome; printf 'no line break'; echo careful >&2", ""},
		"reads":            {"read -t 1 line </dev/null", ""},
		"exits":            {"echo Welcome; echo 'Go away.'; echo; exit 3", "it ended with status 3 and without an answer; the host said: Go away."},
		"exits on stderr":  {"echo 'Go away.' >&2; exit 0", "Go away."},
		"exits in silence": {"exit 0", "it ended with status 0 and without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bash, err := exec.LookPath("bash")
			contract.Need(t, err == nil, "bash is not installed")
			dir := tempDir(t)
			shell, file := filepath.Join(dir, "shell"), filepath.Join(dir, "bashrc")
			must(t, os.WriteFile(file, []byte(c.file+"\n"), 0o600))
			must(t, os.WriteFile(shell, []byte("#!/bin/sh\nBASH_ENV="+file+" exec "+bash+" \"$@\"\n"), 0o700))
			_, err = begin(t, overShell(t, fleet.Faults{}, shell), scripts{text: agent}, start.Options{})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestT16OddHosts(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]fleet.Faults{
		"healthy":       {},
		"no sftp":       {NoSFTP: true},
		"one session":   {MaxSessions: 1},
		"noisy profile": {Noise: "Welcome!\nLast login: today\n$ "},
		"much noise":    {Noise: strings.Repeat("noise without a line break ", 10000)},
		"slow":          {Slow: 5 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := overFleet(t, faults)
			for range 2 {
				if _, err := begin(t, tr, scripts{text: agent}, start.Options{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestT16FullDisk: where no folder takes the agent, the reason says why, and
// nothing is left.
func TestT16FullDisk(t *testing.T) {
	t.Parallel()
	tr := overFleet(t, fleet.Faults{DiskFull: true})
	_, err := begin(t, tr, scripts{text: agent}, start.Options{})
	if err == nil || !strings.Contains(err.Error(), "no folder on the host can take it") || strings.Count(err.Error(), "/play") < 3 {
		t.Errorf("got %v", err)
	}
}

func TestT13HostileAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults fleet.Faults
		stall  time.Duration
		want   string
	}{
		"endless noise": {fleet.Faults{Noise: strings.Repeat("x", 3<<20)}, time.Minute, "printed more than"},
		"no output":     {fleet.Faults{Hang: fleet.HangOutput}, 500 * time.Millisecond, "did not answer for"},
		"deaf":          {fleet.Faults{Deaf: true, NoSFTP: true}, 500 * time.Millisecond, "did not answer for"},
		"cut off":       {fleet.Faults{DropAfter: 3}, time.Minute, "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := overFleet(t, c.faults)
			began := time.Now()
			big := scripts{text: agent + strings.Repeat("# filling\n", 1<<19)} // more than an SSH window takes
			_, err := begin(t, tr, big, start.Options{Stall: c.stall})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if took := time.Since(began); took > 40*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestT16Homes: a home that is read-only, full, or allows no execution is no
// hindrance while another folder is better.
func TestT16Homes(t *testing.T) {
	t.Parallel()
	for _, option := range []string{"ro", "noexec", "size=8k"} {
		t.Run(option, func(t *testing.T) {
			t.Parallel()
			second := tempDir(t)
			tr, home := onHome(t, "XDG_RUNTIME_DIR="+second)
			mount(t, home, option)
			big := agent + strings.Repeat("# filling\n", 2000)
			for range 2 {
				path, err := begin(t, tr, scripts{text: big}, start.Options{RemoteTmp: "~/.ansible/tmp"})
				if err != nil || !strings.HasPrefix(path, second+"/play/") {
					t.Errorf("it runs from %q, %v", path, err)
				}
			}
			if left, _ := filepath.Glob(home + "/.[ac]*/*/*"); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// TestT16TwoControllers: two that arrive at once do not disturb each other.
func TestT16TwoControllers(t *testing.T) {
	t.Parallel()
	tr, _ := onHome(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if _, err := begin(t, tr, scripts{text: agent}, start.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}
