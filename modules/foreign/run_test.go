package foreign_test

import (
	"archive/zip"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"play/modules/foreign"
	"play/modules/value"
)

// program writes a module's file and describes a run of it.
func program(t *testing.T, kind, text string, interpreter ...string) *foreign.Program {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "kept")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &foreign.Program{Name: "mod", Kind: kind, File: file, Interpreter: interpreter, TmpDir: dir, Env: os.Environ(),
		Args: value.DictOf("who", "a 'b' $c {{ d }}", "n", 3, "_ansible_check_mode", true)}
}

// result runs a module and returns its result as JSON.
func result(t *testing.T, p *foreign.Program) string {
	t.Helper()
	out, err := foreign.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	text, err := value.EncodeJSON(out, value.WireJSON())
	if err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(p.TmpDir, "module-*"))
	if len(left) > 0 && !p.Keep {
		t.Errorf("left behind: %v", left)
	}
	return text
}

func wants(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in %s", part, got)
		}
	}
}

func TestOldStyle(t *testing.T) {
	t.Parallel()
	p := program(t, "old", "#!/bin/sh\n. \"$1\"\nprintf '{\"changed\": true, \"who\": \"%s\", \"n\": %s, \"args\": %d}' \"$who\" \"$n\" $#\n", "/bin/sh")
	wants(t, result(t, p), `"who":"a 'b' $c {{ d }}"`, `"n":3`, `"args":1`, `"changed":true`)
}

func TestWantJSONByPerl(t *testing.T) {
	t.Parallel()
	p := program(t, "want_json", `#!/usr/bin/perl
# WANT_JSON
use strict; use JSON::PP;
local $/; open(my $f, '<', $ARGV[0]) or die; my $in = decode_json(<$f>);
print encode_json({who => $in->{who}, check => $in->{_ansible_check_mode}, mode => sprintf('%o', (stat $ARGV[0])[2] & 0777)});
`, "perl")
	wants(t, result(t, p), `"who":"a 'b' $c {{ d }}"`, `"check":true`, `"mode":"600"`, `"changed":false`)
}

func TestJSONArgs(t *testing.T) {
	t.Parallel()
	p := program(t, "jsonargs", "#!/bin/sh\ncat <<'END'\n{\"in\": <<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>, \"fs\": \"<<SELINUX_SPECIAL_FILESYSTEMS>>\", \"log\": \"syslog.LOG_USER\"}\nEND\n", "/bin/sh")
	p.Args.Set("_ansible_selinux_special_fs", value.NewList("nfs", "9p"))
	p.Args.Set("_ansible_syslog_facility", "LOG_DAEMON")
	got := result(t, p)
	wants(t, got, `"who":"a 'b' $c {{ d }}"`, `"fs":"nfs,9p"`, `"log":"syslog.LOG_DAEMON"`)
	if strings.Contains(got, "_ansible_") {
		t.Errorf("internal words in %s", got)
	}
}

func TestBinary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() { b, _ := os.ReadFile(os.Args[1]); fmt.Printf(`{\"in\": %s}`, b) }\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "m"), filepath.Join(dir, "main.go"))
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	text, err := os.ReadFile(filepath.Join(dir, "m"))
	if err != nil {
		t.Fatal(err)
	}
	wants(t, result(t, program(t, "binary", string(text))), `"who":"a 'b' $c {{ d }}"`)
	for machine, want := range map[byte]string{21: "ppc64le", 22: "s390x", 200: "ELF machine 200"} {
		alien := []byte(string(text[:64]))
		alien[18], alien[19] = machine, 0
		if _, err := foreign.Run(t.Context(), program(t, "binary", string(alien))); err == nil || !strings.Contains(err.Error(), "it is a program for "+want) {
			t.Errorf("machine %d: %v", machine, err)
		}
	}
	if _, err := foreign.Run(t.Context(), program(t, "binary", "MZ\x00\x01")); err == nil || !strings.Contains(err.Error(), "no ELF program") {
		t.Errorf("no ELF: %v", err)
	}
}

// TestPythonZip carries a module and a module_util of its own in a zip.
func TestPythonZip(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 here")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "zip")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range map[string]string{
		"ansible/__init__.py": "", "ansible/module_utils/__init__.py": "", "ansible/modules/__init__.py": "",
		"ansible/module_utils/basic.py": "_ANSIBLE_ARGS = None\n",
		"ansible/modules/m.py": "import json, sys\nfrom ansible.module_utils import basic\n" +
			"a = json.loads(basic._ANSIBLE_ARGS)['ANSIBLE_MODULE_ARGS']\nprint('noise')\n" +
			"print(json.dumps(dict(who=a['who'], argv=sys.argv, name=__name__, rest=sys.stdin.read(), cwd='' in sys.path)))\nprint('more')\n",
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	p := program(t, "python", "", python)
	p.File, p.Package = file, "ansible.modules.m"
	wants(t, result(t, p), `"who":"a 'b' $c {{ d }}"`, `"name":"__main__"`, `"rest":""`, `"cwd":false`, "junk after the JSON data: more")
}

func TestHostile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"silent":       {"exit 3", `"msg":"MODULE FAILURE\nSee stdout/stderr for the exact error"`},
		"traceback":    {"echo Traceback: x >&2; exit 1", `"exception":"Traceback: x\n"`},
		"kills parent": {`kill -9 $PPID; sleep 0.2; echo '{"a": 1}'`, `"a":1`},
		"kills group":  {`kill -9 0`, `"rc":-9`},
		"binary noise": {`head -c 3000 /dev/urandom | tr -d '{}\n'; echo; echo '{"a": "{{ lookup(1) }}"}'; printf '\377\376\n'`, `"a":"{{ lookup(1) }}"`},
		"huge output":  {`head -c 60000000 /dev/zero`, "at most"},
		"no object":    {`echo '[1]'`, `"module_stdout":"[1]\n"`},
		"deep":         {`head -c 200000 /dev/zero | tr '\0' '['; echo; printf '{"a": '; head -c 200000 /dev/zero | tr '\0' '['; echo '}'`, "MODULE FAILURE"},
		"internal":     {`echo '{"_ansible_x": 1, "l": [{"_ansible_y": 2, "k": 3}]}'`, `{"l":[{"k":3}],"changed":false}`},
		"rc":           {`echo '{"rc": 7}'`, `"failed":true`},
		"stays behind": {`sleep 20 & echo '{"a": 5}'`, `"a":5`},
		"fails":        {`echo '{"failed": true, "msg": "no"}'; exit 1`, `"msg":"no"`},
		"no program":   {"", "need to set the interpreter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := program(t, "old", c.script+"\n", "/bin/sh")
			if name == "no program" {
				p.Interpreter = []string{"/nosuch/python"}
			}
			began := time.Now()
			wants(t, result(t, p), c.want)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestHangingEnds(t *testing.T) {
	t.Parallel()
	why := errors.New("too long")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	p := program(t, "old", "trap '' TERM; echo $$ >new; mv new pid; while :; do sleep 1; done\n", "/bin/sh")
	p.Dir = p.TmpDir
	file := filepath.Join(p.TmpDir, "pid")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(file); err == nil {
				cancel(why)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	if _, err := foreign.Run(ctx, p); err != why {
		t.Errorf("got %v", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(text))
	for range 1000 {
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %q still runs", pid)
}

func TestFetch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of "hello"
	if _, found, err := foreign.Fetch(dir, hash, nil); found || err != nil {
		t.Errorf("before: %v %v", found, err)
	}
	if _, found, err := foreign.Fetch(dir, hash, strings.NewReader("other")); found || err == nil {
		t.Error("content of another hash was taken")
	}
	for _, body := range []*strings.Reader{strings.NewReader("hello"), nil} {
		var path string
		var found bool
		var err error
		if body == nil {
			path, found, err = foreign.Fetch(dir, hash, nil)
		} else {
			path, found, err = foreign.Fetch(dir, hash, body)
		}
		if text, _ := os.ReadFile(path); !found || err != nil || string(text) != "hello" {
			t.Errorf("%v %v %q", found, err, text)
		}
	}
	if _, _, err := foreign.Fetch(dir, "../x", nil); err == nil {
		t.Error("a path was taken for a hash")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestKeep: the scratch files go when a module ends, unless they shall stay.
func TestKeep(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		p := program(t, "old", "echo \"{\\\"file\\\": \\\"$1\\\"}\"\n", "/bin/sh")
		p.Keep = keep
		r := result(t, p)
		_, rest, _ := strings.Cut(r, `"file":"`)
		file, _, _ := strings.Cut(rest, `"`)
		if _, err := os.Stat(file); file == "" || (err == nil) != keep {
			t.Errorf("keep %v: %q %v in %s", keep, file, err, r)
		}
	}
}
