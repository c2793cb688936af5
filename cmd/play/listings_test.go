package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"play/modules/shellquote"
)

// TestListings compares --list-tasks, --list-hosts, --list-tags and
// --syntax-check with ansible-playbook's answers, which
// testdata/listings/record.py wrote down: byte for byte, but for the order of a
// play's hosts and of its own tags, which there changes from run to run.
func TestListings(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/listings/*.txtar")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d listings: %v", len(paths), err)
	}
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".txtar"), func(t *testing.T) {
			t.Parallel()
			compareListings(t, p)
		})
	}
}

var argsLine = regexp.MustCompile(`(?m)^args: (.*)$`)

func compareListings(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	want := map[string]string{}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, after, _ := strings.Cut(string(archive.Comment), "exit status ")
	statuses := strings.Fields(after)
	for i, m := range argsLine.FindAllStringSubmatch(string(archive.Comment), -1) {
		args, err := shellquote.Split(m[1])
		if err != nil {
			t.Fatal(err)
		}
		out, status := listing(t, dir, args)
		if diff := cmp.Diff(inOrder(want[fmt.Sprint(i+1)]), inOrder(out)); diff != "" || fmt.Sprint(status) != statuses[i] {
			t.Errorf("play %s: exit status %d, want %s (-recorded +play):\n%s", m[1], status, statuses[i], diff)
		}
	}
}

func listing(t *testing.T, dir string, args []string) (stdout string, status int) {
	cmd := exec.Command("play", append([]string{"-i", "hosts", "site.yml"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "ANSIBLE_NOCOLOR=1"}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(out), dir, "DIR"), cmd.ProcessState.ExitCode()
}

var playTags = regexp.MustCompile(`(?m)^(  play #.*TAGS: \[)(.*)\]$`)

// inOrder sorts a play's tags, and the lines of hosts.
func inOrder(text string) string {
	text = playTags.ReplaceAllStringFunc(text, func(line string) string {
		m := playTags.FindStringSubmatch(line)
		tags := strings.Split(m[2], ",")
		slices.Sort(tags)
		return m[1] + strings.Join(tags, ",") + "]"
	})
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		n := 0
		if _, err := fmt.Sscanf(line, "    hosts (%d):", &n); err == nil && i+n < len(lines) {
			slices.Sort(lines[i+1 : i+1+n])
		}
	}
	return strings.Join(lines, "\n")
}
