package sshconfig_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"play/connection/sshconfig"
)

var update = flag.Bool("update", false, "record the answers of the installed ssh -G anew")

// answers is the file with what OpenSSH says for each case.
const answers = "testdata/ssh-G.json"

// compared are the options that the cases set.
var compared = [...]string{"hostname", "user", "port", "identityfile", "proxycommand", "proxyjump", "hostkeyalias",
	"serveraliveinterval", "connecttimeout", "userknownhostsfile", "preferredauthentications"}

// cases are configurations; inc is the content of a file beside them that they
// can include as INC, and given are options of the command line.
var cases = [...]struct {
	name, config, inc, host string
	given                   []string
}{
	{name: "empty", host: "web"},
	{name: "first value counts", config: "Host web\n Port 1\nHost *\n Port 2\n User joe\n", host: "web"},
	{name: "before any host", config: "Port 5\nHost web\nPort 6\n", host: "web"},
	{name: "case of keywords", config: "hOsT web\n pOrT 7\n", host: "web"},
	{name: "case of hosts", config: "Host WEB\n Port 7\n", host: "web"},
	{name: "equals sign", config: "Host=web\nPort = 8\nUser=joe\n", host: "web"},
	{name: "quotes", config: "Host \"web\"\n IdentityFile \"~/my key\"\n HostKeyAlias 'a b'\n", host: "web"},
	{name: "comments", config: "# Host web\nHost web # mine\n Port 9 # nine\n\t# User no\n", host: "web"},
	{name: "globs", config: "Host w?b *.example\n Port 10\n", host: "wub"},
	{name: "glob with dots", config: "Host *.example\n Port 10\n", host: "a.b.example"},
	{name: "negated", config: "Host * !web\n Port 11\nHost *\n Port 12\n", host: "web"},
	{name: "negated alone", config: "Host !other\n Port 11\nHost *\n Port 12\n", host: "web"},
	{name: "identity files gather", config: "Host web\n IdentityFile ~/a\n IdentityFile ~/b\nHost *\n IdentityFile ~/c\n IdentityFile ~/a\n", host: "web"},
	{name: "hostname token", config: "Host web\n HostName %h.example%%x\n", host: "web"},
	{name: "command line", config: "Host web\n Port 1\n User a\n", host: "web", given: []string{"Port=99", "User=boss"}},
	{name: "command line identity", config: "Host web\n IdentityFile ~/a\n", host: "web", given: []string{"IdentityFile=~/z"}},
	{name: "proxy command", config: "Host web\n ProxyCommand nc -X \"con nect\" %h %p # x\n", host: "web"},
	{name: "proxy command equals", config: "Host web\n ProxyCommand=nc %h %p\n", host: "web"},
	{name: "proxy jump", config: "Host web\n ProxyJump joe@gate:2222,inner\n", host: "web"},
	{name: "known hosts files", config: "UserKnownHostsFile ~/a \"~/b c\"\nHost web\n UserKnownHostsFile ~/d\n", host: "web"},
	{name: "tabs and formfeed", config: "\tHost\tweb\n\t\tPort\t13  \n", host: "web"},
	{name: "carriage returns", config: "Host web\r\n  Port 14\r\n", host: "web"},
	{name: "match all", config: "Match all\n Port 15\n", host: "web"},
	{name: "match host", config: "Match host web,db\n Port 16\n", host: "db"},
	{name: "match host negated pattern", config: "Match host *,!web\n Port 16\nMatch all\n Port 17\n", host: "web"},
	{name: "match negated", config: "Match !host web\n Port 18\nMatch all\n Port 19\n", host: "web"},
	{name: "match after hostname", config: "Host web\n HostName real.example\nMatch host real.example\n Port 20\n", host: "web"},
	{name: "match originalhost", config: "Host web\n HostName real.example\nMatch originalhost web\n Port 21\n", host: "web"},
	{name: "match user", config: "Match user joe\n Port 22\nMatch user boss\n Port 23\n", host: "web", given: []string{"User=boss"}},
	{name: "match user of config", config: "Host web\n User joe\nMatch user joe\n Port 24\n", host: "web"},
	{name: "match two", config: "Match host web user joe\n Port 25\nMatch all\n Port 26\n", host: "web", given: []string{"User=boss"}},
	{name: "match exec", config: "Match exec \"test %h = web\"\n Port 27\n", host: "web"},
	{name: "match exec fails", config: "Match exec \"test %n = db\"\n Port 28\nMatch !exec false\n Port 29\n", host: "web"},
	{name: "match final", config: "Match final\n Port 30\n ConnectTimeout 4\nHost web\n Port 31\n", host: "web"},
	{name: "match final host", config: "Match final host real\n Port 32\nHost web\n HostName real\n", host: "web"},
	{name: "include", config: "Include INC\nHost *\n Port 33\n", inc: "Host web\n Port 34\n", host: "web"},
	{name: "include in block", config: "Host db\n Include INC\nHost *\n Port 35\n", inc: "Host web\n Port 36\n", host: "web"},
	{name: "include keeps block", config: "Host web\n Include INC\n Port 37\n", inc: "Host db\n Port 38\n", host: "web"},
	{name: "include nothing", config: "Include /no/such/file*\nPort 39\n", host: "web"},
	{name: "include glob", config: "Include INC*\n", inc: "Port 40\n", host: "web"},
	{name: "numbers", config: "ServerAliveInterval 17\nConnectTimeout 18\n", host: "web"},
	{name: "authentications", config: "PreferredAuthentications password,publickey\n", host: "web"},
	{name: "backslash", config: "Host web\n HostKeyAlias a\\\"b\n", host: "web"},
	{name: "ipv6", config: "Host ::1\n Port 41\n", host: "::1"},
}

// prepare writes a case's files.
func prepare(t *testing.T, i int) (config string) {
	t.Helper()
	dir := t.TempDir()
	inc := filepath.Join(dir, "included")
	config = filepath.Join(dir, "config")
	write(t, inc, cases[i].inc)
	write(t, config, strings.ReplaceAll(cases[i].config, "INC", inc))
	return config
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// record asks ssh -G for a case, leaving out what it says without a configuration.
func record(t *testing.T, i int) map[string][]string {
	t.Helper()
	plain := ask(t, "-F", "/dev/null", cases[i].host)
	args := []string{"-F", prepare(t, i)}
	for _, g := range cases[i].given {
		args = append(args, "-o", g)
	}
	said := ask(t, append(args, cases[i].host)...)
	for name, values := range plain {
		if cmp.Equal(said[name], values) {
			delete(said, name)
		}
	}
	return said
}

func ask(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	out, err := exec.Command("ssh", append([]string{"-G"}, args...)...).Output()
	if err != nil {
		t.Fatalf("ssh -G %q: %v", args, err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	for _, l := range strings.Split(string(out), "\n") {
		for _, name := range compared {
			if v, ok := strings.CutPrefix(l, name+" "); ok {
				said[name] = append(said[name], strings.ReplaceAll(v, home+"/", "~/"))
			}
		}
	}
	return said
}

// TestT15SameAsSSH compares with the recorded answers of ssh -G (OpenSSH
// 9.2p1; "go test -update" records them anew).
func TestT15SameAsSSH(t *testing.T) {
	t.Parallel()
	want := map[string]map[string][]string{}
	if *update {
		for i, c := range cases {
			want[c.name] = record(t, i)
		}
		text, err := json.MarshalIndent(want, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		write(t, answers, string(text)+"\n")
	}
	text, err := os.ReadFile(answers)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, ok := want[c.name]
			if !ok {
				t.Fatal("no answer is recorded")
			}
			if d := cmp.Diff(w, resolve(t, i)); d != "" {
				t.Errorf("ssh -G differs (-ssh +ours):\n%s", d)
			}
		})
	}
}

// resolve gives our answer in ssh -G's shape.
func resolve(t *testing.T, i int) map[string][]string {
	t.Helper()
	path := prepare(t, i)
	f, err := sshconfig.Read(path, filepath.Dir(path), "/home/joe")
	if err != nil {
		t.Fatal(err)
	}
	given := sshconfig.Values{}
	for _, g := range cases[i].given {
		name, v, _ := strings.Cut(g, "=")
		given[strings.ToLower(name)] = []string{v}
	}
	values, err := sshconfig.Resolve([]*sshconfig.File{f}, sshconfig.Query{
		Host: cases[i].host, LocalUser: "nobody-in-particular", Given: given,
		Exec: func(command string, _ sshconfig.Values) bool {
			line := strings.NewReplacer("%h", cases[i].host, "%n", cases[i].host).Replace(command)
			return exec.Command("/bin/sh", "-c", line).Run() == nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	for _, name := range compared {
		v, ok := values[name]
		switch {
		case !ok:
		case name == "identityfile":
			said[name] = v
		case name == "userknownhostsfile":
			said[name] = []string{strings.Join(v, " ")}
		default:
			said[name] = v[:1]
		}
	}
	if h, ok := said["hostname"]; ok {
		said["hostname"] = []string{strings.NewReplacer("%h", cases[i].host, "%%", "%").Replace(h[0])}
	}
	return said
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"\nHost \"web\n":            ":2: a quote is not closed",
		"Port\n":                    ":1: the value of \"Port\" is missing",
		"Match sessiontype shell\n": ":1: the criterion \"sessiontype\" of \"Match\" is not supported",
		"Host *\nMatch host\n":      ":2: the value of the criterion \"host\" is missing",
		"Host *\n Match =\n":        ":2: the criteria of \"Match\" are missing",
	} {
		path := filepath.Join(t.TempDir(), "config")
		write(t, path, config)
		f, err := sshconfig.Read(path, "", "")
		if err == nil {
			_, err = sshconfig.Resolve([]*sshconfig.File{f}, sshconfig.Query{Host: "web"})
		}
		var mistake *sshconfig.Error
		if !errors.As(err, &mistake) || !strings.HasPrefix(err.Error(), path+want) {
			t.Errorf("%q: got %v, want %s", config, err, want)
		}
	}
}

func TestIncludeLoop(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	write(t, path, "Include "+path+"\n")
	if _, err := sshconfig.Read(path, "", ""); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
		t.Errorf("got %v", err)
	}
}

func TestAbsent(t *testing.T) {
	t.Parallel()
	f, err := sshconfig.Read(filepath.Join(t.TempDir(), "absent"), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := sshconfig.Resolve([]*sshconfig.File{f}, sshconfig.Query{Host: "web"}); err != nil || len(v) != 0 {
		t.Errorf("got %v, %v", v, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range cases {
		f.Add(c.config)
	}
	f.Fuzz(func(t *testing.T, config string) {
		if strings.Contains(strings.ToLower(config), "include") {
			return // files of the machine are not to be read
		}
		path := filepath.Join(t.TempDir(), "config")
		write(t, path, config)
		file, err := sshconfig.Read(path, "", "")
		if err != nil {
			return
		}
		_, _ = sshconfig.Resolve([]*sshconfig.File{file}, sshconfig.Query{Host: "web"}) // it must not panic
	})
}
