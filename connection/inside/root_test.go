package inside_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"play/connection"
	"play/connection/contract"
	"play/connection/inside"
	"play/connection/link"
	"play/connection/local"
	"play/connection/start"
	"play/modules/wire"
)

// step is one module call in the throwaway root, with the reference's answer.
type step struct {
	Module, Name string
	Args         json.RawMessage
	Check, Diff  bool
	Needs        string // a file of the root; the step is left out where it is missing
	Probe        string // a shell script run afterwards
	Result       map[string]any
	After        []string          // what it printed
	Apart        map[string]string // keys of the result that are another's, and why
}

// rootPackages are what the root is made of, besides the essential packages.
var rootPackages = []string{"passwd", "apt", "debconf", "libc-bin", "locales", "mawk"}

// rootEnv is the environment in the root, as record.py has it.
var rootEnv = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8"}

// TestThrowawayRoot gives the modules that are root's alone to the real tools, in
// a root made of the machine's own packages: each step, one after the other, has
// the reference's result and leaves the root as the reference did.
func TestThrowawayRoot(t *testing.T) {
	t.Parallel()
	root := throwawayRoot(t)
	text, err := os.ReadFile("testdata/root/steps.json")
	if err != nil {
		t.Fatal(err)
	}
	var data struct{ Steps []step }
	if err := json.Unmarshal(text, &data); err != nil {
		t.Fatal(err)
	}
	agent := agentIn(t, root)
	for _, s := range data.Steps {
		t.Run(s.Module+"/"+s.Name, func(t *testing.T) { s.run(t, root, agent) })
	}
}

// throwawayRoot makes the root, or skips the test where that cannot be done.
func throwawayRoot(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the tools take their time; the run without -short has it")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can make a root file system and enter it")
	}
	if err := exec.Command("dpkg-query", append([]string{"-W"}, rootPackages...)...).Run(); err != nil {
		t.Skipf("the machine lacks one of the Debian packages %s", strings.Join(rootPackages, ", "))
	}
	root, err := os.MkdirTemp("", "play-root-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	packages := slices.Clone(rootPackages)
	for _, name := range []string{"cron", "openssh-client", "procps", "tzdata"} { // some steps need them
		if exec.Command("dpkg-query", "-L", name).Run() == nil {
			packages = append(packages, name)
		}
	}
	out, err := exec.Command("testdata/root/make.sh", append([]string{root}, packages...)...).CombinedOutput()
	if err != nil && (strings.Contains(string(out), "not permitted") || strings.Contains(string(out), "Permission denied")) {
		t.Skipf("this machine does not let root make devices, or enter another root: %s", out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(root, "dev", "null"), nil, 0o666); err != nil {
		t.Skipf("devices cannot be used in the folder for temporary files: %v", err)
	}
	setup, err := os.ReadFile("testdata/root/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	inRoot(t, root, string(setup))
	return root
}

// inRoot runs a shell script in the root and returns what it printed. How it
// ended does not matter to a probe; of the setup's errors the first step tells.
func inRoot(t *testing.T, root, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "chroot", root, "/bin/sh")
	cmd.Env, cmd.Stdin = rootEnv, strings.NewReader(script)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out)
}

// agentIn starts the test binary as the agent in the root, as any chroot target.
func agentIn(t *testing.T, root string) connection.Link {
	t.Helper()
	near := &local.Transport{Env: rootEnv}
	tr, err := inside.Kinds()["chroot"].Dial(near, &connection.Target{Name: "root", Transport: "chroot", Address: root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := start.Agent(ctx, tr, contract.Binary(t), start.Options{Host: "root", Stall: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	l, err := link.Open(ctx, s, "root")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func (s *step) run(t *testing.T, root string, agent connection.Link) {
	if s.Needs != "" {
		if _, err := os.Stat(root + s.Needs); err != nil {
			t.Skipf("the machine lacks %s", s.Needs)
		}
	}
	reply, err := agent.Call(t.Context(), &wire.Call{Module: s.Module, Args: s.Args, Check: s.Check, Diff: s.Diff}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(reply.Result, &got); err != nil {
		t.Fatal(err)
	}
	for key := range s.Apart {
		delete(got, key)
		delete(s.Result, key)
	}
	if got, want := comparable(got), comparable(s.Result); !reflect.DeepEqual(got, want) {
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		t.Errorf("result\n  got  %s\n  want %s", g, w)
	}
	if s.Probe == "" {
		return
	}
	after := strings.TrimSuffix(inRoot(t, root, s.Probe), "\n")
	if want := strings.Join(s.After, "\n"); after != want {
		t.Errorf("afterwards\n  got  %q\n  want %q", after, want)
	}
}

// volatile are parts of results that are the machine's own.
var volatile = regexp.MustCompile(`/[^" ]*/crontab[A-Za-z0-9_]+|Reading database \.\.\. \d+`)

// comparable leaves out what is not the same in each root: what programs print,
// and what the controller adds.
func comparable(result map[string]any) map[string]any {
	out := map[string]any{"changed": false}
	for k, v := range result {
		switch k {
		case "invocation", "stdout", "stdout_lines", "stderr", "stderr_lines", "cache_update_time":
			continue
		}
		out[k] = scrubbed(v)
	}
	return out
}

func scrubbed(v any) any {
	switch v := v.(type) {
	case string:
		return volatile.ReplaceAllString(v, "VOLATILE")
	case map[string]any:
		for k, item := range v {
			v[k] = scrubbed(item)
		}
	}
	return v
}
