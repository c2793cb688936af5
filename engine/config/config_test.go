package config

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/engine/source"
	"play/modules/value"
)

// configCase is one recorded reading of an ansible.cfg.
type configCase struct {
	Cfg     string
	Env     map[string]string
	Options map[string][2]json.RawMessage // value and origin
	Fails   bool
}

func TestAsAnsible(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Scan() // version and command
	count := 0
	for ; lines.Scan(); count++ {
		var c configCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		checkCase(t, c)
	}
	if count < 20 {
		t.Errorf("%d cases", count)
	}
}

// workDir makes a folder that others cannot write to, with an ansible.cfg.
func workDir(t *testing.T, cfg string) (top, dir string) {
	t.Helper()
	top = t.TempDir()
	dir = filepath.Join(top, "w")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ansible.cfg"), []byte(cfg), 0o644); err != nil {
		t.Fatal(err)
	}
	return top, dir
}

func checkCase(t *testing.T, c configCase) {
	top, dir := workDir(t, c.Cfg)
	environ := []string{"HOME=/home/me"}
	for k, v := range c.Env {
		environ = append(environ, k+"="+v)
	}
	got, err := Load(Source{Environ: environ, Dir: dir, System: filepath.Join(top, "none")})
	if (err != nil) != c.Fails {
		t.Errorf("%q: error %v, want failure %v", c.Cfg, err, c.Fails)
		return
	}
	if c.Fails {
		var located *source.Error
		if !errors.As(err, &located) || located.Pos.Line == 0 {
			t.Errorf("%q: error without a line: %v", c.Cfg, err)
		}
		return
	}
	real := strings.NewReplacer("DIR", dir, "TOP", top, "HOME", "/home/me")
	for name, want := range c.Options {
		v, ok := got.Get(name)
		if !ok {
			t.Errorf("%q: no option %s", c.Cfg, name)
			continue
		}
		wantValue, err := value.DecodeJSON([]byte(real.Replace(string(want[0]))))
		if err != nil {
			t.Fatal(err)
		}
		var origin string
		if err := json.Unmarshal([]byte(real.Replace(string(want[1]))), &origin); err != nil {
			t.Fatal(err)
		}
		if !value.Equal(v.Value, wantValue) || v.Origin() != origin {
			t.Errorf("%q: %s(%s) = %s, want %s from %s", c.Cfg, name, v.Origin(), value.Repr(v.Value), value.Repr(wantValue), origin)
		}
	}
	for _, name := range got.Names() {
		v, _ := got.Get(name)
		if _, want := c.Options[name]; v.Origin() != "default" && !want && !strings.Contains(name, ".") {
			t.Errorf("%q: %s is set from %s", c.Cfg, name, v.Origin())
		}
	}
}

func TestT8WorldWritableFolder(t *testing.T) {
	t.Parallel()
	top, dir := workDir(t, "[defaults]\nforks=3\n")
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Source{Dir: dir, Home: top, System: filepath.Join(top, "none")})
	if err != nil {
		t.Fatal(err)
	}
	if c.File != "" || c.Settings.Forks != 50 {
		t.Errorf("file %q, forks %d: the file in a world-writable folder was used", c.File, c.Settings.Forks)
	}
	if len(c.Warnings) != 1 || !strings.HasPrefix(c.Warnings[0], "Ansible is being run in a world writable directory ("+dir+"), ignoring it as an ansible.cfg source.") {
		t.Errorf("warnings %q", c.Warnings)
	}
	named, err := Load(Source{Dir: dir, Home: top, Environ: []string{"ANSIBLE_CONFIG=" + filepath.Join(dir, "ansible.cfg")}})
	if err != nil || named.Settings.Forks != 3 {
		t.Errorf("a file that was named is not used: %v", err)
	}
}

func TestSearchOrder(t *testing.T) {
	t.Parallel()
	top, dir := workDir(t, "[defaults]\nforks=1\n")
	home, system := filepath.Join(top, ".ansible.cfg"), filepath.Join(top, "system.cfg")
	named := filepath.Join(top, "n", "ansible.cfg")
	if err := os.Mkdir(filepath.Dir(named), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, path := range []string{home, system, named} {
		if err := os.WriteFile(path, []byte("[defaults]\nforks="+string(rune('2'+i))+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src := Source{Environ: []string{"ANSIBLE_CONFIG=" + filepath.Dir(named)}, Dir: dir, Home: top, System: system}
	for _, want := range []string{named, filepath.Join(dir, "ansible.cfg"), home, system, ""} {
		c, err := Load(src)
		if err != nil {
			t.Fatal(err)
		}
		if c.File != want {
			t.Errorf("file %q, want %q", c.File, want)
		}
		if c.File != "" {
			if err := os.Remove(c.File); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestUnknownOptions(t *testing.T) {
	t.Parallel()
	top, dir := workDir(t, "[defaults]\nfork=3\nzzz=1\n[default]\nx=1\ny=2\n[callback_mine]\nz=1\n[galaxy_server.x]\nurl=u\n[play]\ncompat=2.19\n")
	c, err := Load(Source{Environ: []string{"ANSIBLE_FORK=1", "ANSIBLE_OF_MINE=1", "ANSIBLE_NOCOLOR=1"}, Dir: dir, Home: top, System: "/nonexistent"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "ansible.cfg")
	want := []string{
		path + `:2:1: unknown option "fork" in [defaults], ignoring it; did you mean forks?`,
		path + `:3:1: unknown option "zzz" in [defaults], ignoring it`,
		path + `:5:1: unknown section [default] in the configuration, ignoring it`,
		"unknown option ANSIBLE_FORK in the environment, ignoring it; did you mean ANSIBLE_FORKS?",
		"unknown option ANSIBLE_OF_MINE in the environment, ignoring it",
	}
	if strings.Join(c.Warnings, "\n") != strings.Join(want, "\n") {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(c.Warnings, "\n"), strings.Join(want, "\n"))
	}
	if c.Settings.Compat != "2.19" || !c.Settings.NoColor {
		t.Errorf("settings %+v", c.Settings)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := Load(Source{Dir: t.TempDir(), Home: "/home/me", System: "/nonexistent"})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Settings
	if s.Forks != 50 || s.Timeout != 10 || !s.HostKeyChecking || s.Transport != "ssh" || s.BecomeMethod != "sudo" || s.BecomeUser != "root" ||
		s.RemoteTmp != "~/.ansible/tmp" || !s.DisplaySkipped || s.Gathering != "implicit" || s.PollInterval != 15 {
		t.Errorf("settings %+v", s)
	}
	if got := strings.Join(s.RolesPath, ":"); got != "/home/me/.ansible/roles:/usr/share/ansible/roles:/etc/ansible/roles" {
		t.Errorf("roles path %s", got)
	}
	if got := strings.Join(s.Inventory, ":"); got != "/etc/ansible/hosts" {
		t.Errorf("inventory %s", got)
	}
	if changed := c.Dump(Choice{Kind: "all"}, true); changed != "CONFIG_FILE() = None\n" {
		t.Errorf("changed without a file: %s", changed)
	}
	if v, ok := c.Lookup("DEFAULT_FORKS"); !ok || v != 50 {
		t.Errorf("lookup %v", v)
	}
}

func FuzzINI(f *testing.F) {
	for _, s := range []string{"[defaults]\nforks=1\n", "[a\n", "x=1\n", "[a]\nb=\n c\n  d ; e\n", "[a]\n=x\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "ansible.cfg")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var located *source.Error
		if _, err := readINI(path); err != nil && !errors.As(err, &located) {
			t.Errorf("error without a place: %v", err)
		}
	})
}
