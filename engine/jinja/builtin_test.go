package jinja_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"play/engine/jinja"
	"play/modules/value"
)

// Every one of these would take more memory or time than a controller has.
func TestBuiltinsAreBounded(t *testing.T) {
	t.Parallel()
	env := builtinEnv()
	for _, expr := range []string{
		"range(10**12)", "range(0, 10**18, 3)", "'x' | center(10**12)", "'x' | indent(10**12)", "('a\nb' * 1000000) | indent(100000)",
		"range(200) | product(repeat=8)", "range(60) | permutations", "range(60) | combinations(30)", "range(3000) | product(range(3000))",
		"('a' * 1000000) | replace('a', 'b' * 1000000)", "[1] | batch(10**12, 0)", "[1] | slice(10**12, 0)", "'x' | comment(prefix='p', prefix_count=10**12)",
		"lipsum(10**9)", "'x' | comment(postfix='', postfix_count=10**12)", "lookup('random_string', length=1, min_lower=10**9)", "lookup('sequence', 'end=1000000000')", "'10.0.0.0/8' | ansible.utils.usable_range",
		"('x' * 100000) | wordwrap(1) | length", "lookup('password', '/dev/null', length=10**9)", "lookup('random_string', length=10**12)",
		"'%0999999999999d' | format(1)", "lookup('sequence', 'end=1 format=%0999999999d')", "{'a': 1} | to_json(indent=10**12)",
		"'pw' | password_hash('bcrypt', 'abcdefghijklmnopqrstuu', rounds=31)", "'pw' | password_hash('sha512', 'x', rounds=999999999)",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		start := time.Now()
		v, err := env.Expression(expr, &jinja.Context{Go: ctx, Vars: jinja.Vars{Dict: value.NewDict()}})
		cancel()
		if err == nil && !strings.Contains(expr, "wordwrap") {
			t.Errorf("%s: no error, but %.60s", expr, value.Repr(v))
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: took %s", expr, took)
		}
	}
}

func TestSelfContainingList(t *testing.T) {
	t.Parallel()
	loop := value.NewList("x")
	loop.Append(loop)
	ctx := &jinja.Context{Vars: jinja.Vars{Dict: value.DictOf("loop", loop)}}
	for _, filter := range []string{"to_json", "to_nice_json", "flatten", "pprint", "string", "hash", "sort", "unique", "tojson"} {
		if v, err := builtinEnv().Expression("loop | "+filter, ctx); err == nil && len(value.Str(v)) > 1<<20 {
			t.Errorf("%s: %d bytes", filter, len(value.Str(v)))
		}
	}
}

func passwordContext(dir string) *jinja.Context {
	return &jinja.Context{Vars: jinja.Vars{Dict: value.NewDict()}, Files: caseFiles{dir}}
}

func TestPasswordLookupKeepsItsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := builtinEnv()
	get := func(expr string) string {
		t.Helper()
		v, err := env.Expression(expr, passwordContext(dir))
		if err != nil {
			t.Fatal(err)
		}
		return v.(string)
	}
	first := get("lookup('password', 'credentials/db length=15')")
	if len(first) != 15 || get("lookup('password', 'credentials/db length=15')") != first {
		t.Errorf("got %q, then another", first)
	}
	info, err := os.Stat(filepath.Join(dir, "credentials/db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	hash := get("lookup('password', 'credentials/db encrypt=sha512_crypt')")
	if !strings.HasPrefix(hash, "$6$rounds=656000$") || get("lookup('password', 'credentials/db encrypt=sha512_crypt')") != hash {
		t.Errorf("hash %q, then another", hash)
	}
	data, err := os.ReadFile(filepath.Join(dir, "credentials/db"))
	if err != nil || !strings.HasPrefix(string(data), first+" salt=") {
		t.Errorf("file %q %v", data, err)
	}
}

func TestURLLookup(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.URL.Path == "/gone" {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		fmt.Fprintf(w, "%s %s:%s\n%s\n", r.Header.Get("X-Test"), user, password, r.Header.Get("User-Agent"))
	}))
	t.Cleanup(server.Close)
	ctx := &jinja.Context{Vars: jinja.Vars{Dict: value.DictOf("url", server.URL)}}
	v, err := builtinEnv().Expression("query('url', url, headers={'X-Test': 'h'}, username='u', password='p', use_proxy=false)", ctx)
	if err != nil || value.Repr(v) != "['h u:p', 'ansible-httpget']" {
		t.Errorf("got %s %v", value.Repr(v), err)
	}
	v, err = builtinEnv().Expression("lookup('url', url, split_lines=false)", ctx)
	if err != nil || v != " :\nansible-httpget\n" {
		t.Errorf("got %q %v", v, err)
	}
	_, err = builtinEnv().Expression("lookup('url', url ~ '/gone')", ctx)
	if err == nil || !strings.Contains(err.Error(), "HTTP Error 404: Not Found") {
		t.Errorf("got %v", err)
	}
}

func TestRandomPet(t *testing.T) {
	t.Parallel()
	v, err := builtinEnv().Expression("lookup('community.general.random_pet', words=3, prefix='p', separator='_')", passwordContext("/"))
	if s, _ := v.(string); err != nil || strings.Count(s, "_") != 3 || !strings.HasPrefix(s, "p_") {
		t.Errorf("got %v %v", v, err)
	}
}

func TestPasswordstore(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$1 $2 $3\" = 'show -- web/db' ] || exit 1\nprintf 'top secret\\nuser: bob\\n'\n"
	if err := os.WriteFile(filepath.Join(dir, "pass"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for expr, want := range map[string]string{
		"lookup('passwordstore', 'web/db')":                                        "top secret",
		"lookup('passwordstore', 'web/db subkey=user')":                            "bob",
		"lookup('community.general.passwordstore', 'web/db', returnall=true)":      "top secret\nuser: bob",
		"lookup('passwordstore', 'nope', missing='empty') | default('none', true)": "none",
	} {
		v, err := builtinEnv().Expression(expr, passwordContext(dir))
		if err != nil || v != want {
			t.Errorf("%s: got %q %v, want %q", expr, v, err, want)
		}
	}
}

func TestPipeEndsWithTheEvaluation(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := builtinEnv().Expression("lookup('pipe', 'sleep 300 & wait')", &jinja.Context{Go: ctx, Vars: jinja.Vars{Dict: value.NewDict()}})
	if err == nil || time.Since(start) > time.Minute {
		t.Errorf("got %v after %s", err, time.Since(start))
	}
}

func TestVaultedFileWithoutSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "v"), []byte("$ANSIBLE_VAULT;1.1;AES256\n00\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, lookup := range []string{"file", "unvault"} {
		_, err := builtinEnv().Expression("lookup('"+lookup+"', 'v')", passwordContext(dir))
		if err == nil || !strings.Contains(err.Error(), "no vault secrets") {
			t.Errorf("%s: %v", lookup, err)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	env := builtinEnv()
	for _, c := range [][2]string{
		{"filter", "ansible.builtin.combine"}, {"filter", "community.general.json_query"}, {"filter", "ansible.utils.ipaddr"},
		{"test", "version"}, {"lookup", "ansible.builtin.env"}, {"global", "range"},
	} {
		if b, ok := env.Describe(c[0], c[1]); !ok || b.Doc == "" || !strings.HasSuffix(c[1], b.Name) {
			t.Errorf("%v: %+v %v", c, b, ok)
		}
	}
	for _, kind := range []string{"filter", "nokind"} {
		if _, ok := env.Describe(kind, "nope"); ok {
			t.Errorf("%s nope is described", kind)
		}
	}
}

// The page docs/jinja-builtins.md names every builtin.
func TestPageNamesEveryBuiltin(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/jinja-builtins.md")
	if err != nil {
		t.Fatal(err)
	}
	env := builtinEnv()
	for _, kind := range []string{"filter", "test", "lookup", "global"} {
		for _, name := range env.Names(kind) {
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("the page does not name the %s %s", kind, name)
			}
		}
	}
}
