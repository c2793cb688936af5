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
)

// toolNames are the names under which play is Ansible's program of that name.
var toolNames = []string{"ansible", "ansible-playbook", "ansible-inventory", "ansible-vault", "ansible-doc", "ansible-config"}

// TestTools runs the commands of testdata/tools under the names of Ansible's
// programs and compares stdout byte for byte, and the exit status, with what
// record.py there wrote down. UPDATE_PLAY=1 rewrites the answers that deviate.
func TestTools(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/tools/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded cases: %v", err)
	}
	bin := toolFolder(t)
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(p)
			if err != nil {
				t.Fatal(err)
			}
			(&toolCase{recordedCase{path: p, archive: archive, dir: t.TempDir()}}).check(t, bin)
		})
	}
}

// toolFolder holds play under all of its names.
func toolFolder(t *testing.T) string {
	t.Helper()
	play, err := exec.LookPath("play")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range toolNames {
		if err := os.Symlink(play, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// toolCase is a recorded case of several commands.
type toolCase struct{ recordedCase }

var (
	runLine    = regexp.MustCompile(`(?m)^run: (.*)$`)
	answerName = regexp.MustCompile(`^\d+(\.play)?$`)
	deviates   = regexp.MustCompile(`(?m)^deviation (\d+): .`)
)

func (c *toolCase) check(t *testing.T, bin string) {
	all := c.archive.Files
	c.archive.Files = slices.DeleteFunc(slices.Clone(all), func(f txtar.File) bool { return answerName.MatchString(f.Name) })
	c.layOut(t)
	c.archive.Files = all
	comment := string(c.archive.Comment)
	var other []string
	for _, m := range deviates.FindAllStringSubmatch(comment, -1) {
		other = append(other, m[1])
	}
	_, after, _ := strings.Cut(comment, "exit status ")
	statuses := strings.Fields(after)
	for i, m := range runLine.FindAllStringSubmatch(comment, -1) {
		out, errOut, status := c.command(t, bin, m[1])
		name := fmt.Sprint(i + 1)
		if slices.Contains(other, name) {
			name += ".play"
			c.renew(t, name, out)
		} else if fmt.Sprint(status) != statuses[i] {
			t.Errorf("%s: exit status %d, want %s", m[1], status, statuses[i])
		}
		if diff := cmp.Diff(c.file(name), out); diff != "" {
			t.Errorf("%s (-recorded +play):\n%s\nstderr:\n%s", m[1], diff, errOut)
		}
	}
}

func (c *toolCase) command(t *testing.T, bin, line string) (stdout, stderr string, status int) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + c.dir, "LC_ALL=C.UTF-8", "TZ=UTC", "ANSIBLE_NOCOLOR=1", "ANSIBLE_FORKS=1",
		"COLUMNS=80", "ANSIBLE_LOCALHOST_WARNING=0", "ANSIBLE_INVENTORY_UNPARSED_WARNING=0", "PLAY_TEST_MAIN=1", "PLAY_NO_HISTORY=1"}
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	// What tests set so that they leave nothing behind is no setting of the case.
	shown := strings.ReplaceAll(out.String(), "PLAY_NO_HISTORY(env: PLAY_NO_HISTORY) = True\n", "")
	return c.stable(shown), errOut.String(), cmd.ProcessState.ExitCode()
}

// renew writes play's own answer down when asked to.
func (c *toolCase) renew(t *testing.T, name, text string) {
	if os.Getenv("UPDATE_PLAY") == "" {
		return
	}
	kept := slices.DeleteFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == name })
	c.archive.Files = append(kept, txtar.File{Name: name, Data: []byte(text)})
	if err := os.WriteFile(c.path, txtar.Format(c.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
