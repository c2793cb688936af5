package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"play/modules/shellquote"
)

var updateMistakes = flag.Bool("update", false, "write what play says of testdata/mistakes again")

// leastMistakes is how many mistakes have a message that somebody has read.
const leastMistakes = 60

// TestMistakes runs play, on a terminal, on files with one mistake each, and
// compares all it says with the case's "said". The comment of a case tells the
// mistake, and perhaps "args: …" and "env: …".
func TestMistakes(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/mistakes/*.txtar")
	if err != nil || len(paths) < leastMistakes {
		t.Fatalf("%d mistakes, want at least %d (%v)", len(paths), leastMistakes, err)
	}
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(p)
			if err != nil {
				t.Fatal(err)
			}
			m := &mistake{recordedCase{path: p, archive: archive, dir: t.TempDir()}}
			said := m.said(t)
			if *updateMistakes {
				m.keep(t, said)
				return
			}
			if diff := cmp.Diff(m.file("said"), said); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

type mistake struct{ recordedCase }

// said is what play tells on a terminal, and its exit status.
func (m *mistake) said(t *testing.T) string {
	files := append([]txtar.File{{Name: "hosts", Data: []byte("h1 ansible_connection=local\n")}}, m.archive.Files...)
	for _, f := range files {
		if f.Name == "said" {
			continue
		}
		path := filepath.Join(m.dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeTest(t, path, string(f.Data))
	}
	cmd := exec.Command("play", m.arguments(t)...)
	cmd.Dir = m.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "LC_ALL=C.UTF-8", "TERM=dumb", "ANSIBLE_NOCOLOR=1",
		"XDG_DATA_HOME=" + t.TempDir()}
	cmd.Env = append(cmd.Env, words(t, m.header("env"))...)
	text := onTerminal(t, cmd)
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), m.dir, "DIR")
	return passingTime.ReplaceAllString(text, "…") + fmt.Sprintf("exit %d\n", cmd.ProcessState.ExitCode())
}

// passingTime is what differs from run to run.
var passingTime = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+|\b\d:\d\d:\d\d\.\d+`)

func (m *mistake) arguments(t *testing.T) []string {
	args := words(t, m.header("args"))
	if !strings.Contains(m.header("args"), "-i ") {
		args = append([]string{"-i", "hosts"}, args...)
	}
	return append(args, "site.yml")
}

func words(t *testing.T, text string) []string {
	t.Helper()
	list, err := shellquote.Split(text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// onTerminal runs a command on a terminal and returns all that it shows.
func onTerminal(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	master, slave := openTerminal(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	var shown strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		shown.Write(buf[:n])
		if err != nil {
			break // play has closed its side
		}
	}
	_ = cmd.Wait() // the exit status is looked at by others
	return shown.String()
}

func (m *mistake) keep(t *testing.T, said string) {
	t.Helper()
	var files []txtar.File
	for _, f := range m.archive.Files {
		if f.Name != "said" {
			files = append(files, f)
		}
	}
	m.archive.Files = append(files, txtar.File{Name: "said", Data: []byte(said)})
	if err := os.WriteFile(m.path, txtar.Format(m.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
