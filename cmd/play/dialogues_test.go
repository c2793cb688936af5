package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/sys/unix"
)

// TestDialogues talks with play on a terminal as testdata/dialogues says, and
// compares what the terminal showed with what record.py there wrote down.
// UPDATE_PLAY=1 rewrites the screens that deviate.
func TestDialogues(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/dialogues/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded dialogues: %v", err)
	}
	bin := toolFolder(t)
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(p)
			if err != nil {
				t.Fatal(err)
			}
			(&dialogue{recordedCase{path: p, archive: archive, dir: t.TempDir()}}).check(t, bin)
		})
	}
}

// dialogue is a recorded talk with one program.
type dialogue struct{ recordedCase }

// answer is typed when its text comes up.
type answer struct{ after, typed string }

// cipherLine is a line of encrypted text as a YAML file has it.
var cipherLine = regexp.MustCompile(`(?m)^ {10}[0-9a-f]+$`)

var sayLine = regexp.MustCompile(`(?m)^say: (.*)$`)

func (d *dialogue) answers(t *testing.T) (list []answer) {
	for _, m := range sayLine.FindAllStringSubmatch(string(d.archive.Comment), -1) {
		var pair [2]string
		if err := json.Unmarshal([]byte(m[1]), &pair); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(pair[1], "\x04") { // the end of the input needs no Enter
			pair[1] += "\n"
		}
		list = append(list, answer{pair[0], pair[1]})
	}
	return list
}

func (d *dialogue) check(t *testing.T, bin string) {
	files := d.archive.Files
	d.archive.Files = slices.DeleteFunc(slices.Clone(files), func(f txtar.File) bool { return strings.HasPrefix(f.Name, "screen") })
	d.layOut(t)
	d.archive.Files = files
	cmd := exec.Command("sh", "-c", d.header("run"))
	cmd.Dir = d.dir
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + d.dir, "LC_ALL=C.UTF-8", "TZ=UTC", "TERM=xterm", "CI=1",
		"ANSIBLE_NOCOLOR=1", "ANSIBLE_FORKS=1", "ANSIBLE_GATHERING=explicit", "PLAY_TEST_MAIN=1", "PLAY_NO_HISTORY=1"}
	shown, status := talk(t, cmd, d.answers(t))
	if status != d.wantStatus() {
		t.Errorf("exit status %d, want %d", status, d.wantStatus())
	}
	shown = cipherLine.ReplaceAllString(d.stable(shown), "          HEX")
	if !strings.HasSuffix(shown, "\n") {
		shown += "\n"
	}
	name := "screen"
	if d.header("deviation") != "" {
		name = "screen.play"
		(&toolCase{d.recordedCase}).renew(t, name, shown)
	}
	if diff := cmp.Diff(d.file(name), shown); diff != "" {
		t.Errorf("%s (-recorded +play):\n%s", name, diff)
	}
}

// talk runs a command on a terminal of its own, types each answer when its text
// has come up, and returns what was shown.
func talk(t *testing.T, cmd *exec.Cmd, answers []answer) (shown string, status int) {
	t.Helper()
	master, slave := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	if err := master.SetReadDeadline(time.Now().Add(3 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	text, seen, buf := "", 0, make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		text = strings.ReplaceAll(text+string(buf[:n]), "\r\n", "\n")
		if len(answers) > 0 && strings.Contains(text[seen:], answers[0].after) {
			seen = len(text)
			_, _ = master.WriteString(answers[0].typed) // the program's end shows up as an error of the next read
			answers = answers[1:]
		}
		if os.IsTimeout(err) {
			_ = cmd.Process.Kill() // the dialogue has failed anyway
			t.Errorf("the program does not end; it shows:\n%s", text)
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // its status is returned
	if len(answers) > 0 {
		t.Errorf("never asked %q; it shows:\n%s", answers[0].after, text)
	}
	return text, cmd.ProcessState.ExitCode()
}
