package process_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"play/modules/process"
)

func sh(line string) process.Command {
	return process.Command{Argv: []string{"/bin/sh", "-c", line}, Env: os.Environ()}
}

func TestBytesArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	all := make([]byte, 0, 255)
	for c := 1; c < 256; c++ {
		all = append(all, byte(c))
	}
	c := process.Command{Argv: []string{"printenv", "X"}, Env: []string{"PATH=" + os.Getenv("PATH"), "X=" + string(all)}}
	out, err := process.Run(t.Context(), c)
	if err != nil || string(out.Stdout) != string(all)+"\n" {
		t.Errorf("environment: %q %v", out.Stdout, err)
	}
	c.Argv = []string{"printf", "%s", string(all)}
	if out, err = process.Run(t.Context(), c); err != nil || string(out.Stdout) != string(all) {
		t.Errorf("argument: %q %v", out.Stdout, err)
	}
	c.Argv, c.Stdin = []string{"cat"}, strings.NewReader("\x00"+string(all))
	if out, err = process.Run(t.Context(), c); err != nil || string(out.Stdout) != "\x00"+string(all) {
		t.Errorf("stdin: %q %v", out.Stdout, err)
	}
}

func TestBackgroundChildDoesNotHang(t *testing.T) {
	t.Parallel()
	began := time.Now()
	out, err := process.Run(t.Context(), sh("sleep 5 & echo out"))
	if err != nil || string(out.Stdout) != "out\n" || out.RC != 0 {
		t.Errorf("%+v %v", out, err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
	if out.End.Sub(out.Start) > 2*time.Second {
		t.Errorf("from %s to %s", out.Start, out.End)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "late")
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
	began := time.Now()
	_, err := process.Run(ctx, sh("trap '' TERM; (sleep 3; touch "+marker+") & sleep 3; sleep 3"))
	if err != why {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	time.Sleep(1500 * time.Millisecond)
	if _, err := os.Stat(marker); err == nil {
		t.Error("a child survived")
	}
}

func TestEndlessOutputIsBounded(t *testing.T) {
	t.Parallel()
	const extra = 5 << 20
	c := sh("head -c " + strconv.Itoa(process.MaxOutput+extra) + " /dev/zero; echo end >&2")
	out, err := process.Run(t.Context(), c)
	if err != nil || len(out.Stdout) != process.MaxOutput || out.Dropped != extra || string(out.Stderr) != "end\n" {
		t.Errorf("%d bytes, %d dropped, %q, %v", len(out.Stdout), out.Dropped, out.Stderr, err)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{"exit 0": 0, "exit 255": 255, "kill -9 $$": -9, "kill -TERM $$": -15} {
		if out, err := process.Run(t.Context(), sh(line)); err != nil || out.RC != want {
			t.Errorf("%s: %+v %v", line, out, err)
		}
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "data": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho $0\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=/nonexistent:" + dir, "PATH=/bin::" + dir}
	for _, c := range []struct{ name, want, err string }{
		{"tool", filepath.Join(dir, "tool"), ""},
		{"data", "", "[Errno 13] Permission denied: b'data'"},
		{"none'", "", `[Errno 2] No such file or directory: b"none'"`},
		{"sub/x", "sub/x", ""},
	} {
		got, err := process.Look(c.name, "", env)
		if got != c.want || err != nil && err.Error() != c.err || err == nil && c.err != "" {
			t.Errorf("%s: %q %v", c.name, got, err)
		}
	}
	out, err := process.Run(t.Context(), process.Command{Argv: []string{"tool"}, Dir: dir, Env: []string{"PATH=."}})
	if err != nil || string(out.Stdout) != "./tool\n" {
		t.Errorf("relative PATH: %+v %v", out, err)
	}
}

func TestErrnoText(t *testing.T) {
	t.Parallel()
	got := process.ErrnoText(syscall.EACCES, "a\n'\"\\\x01ü")
	if want := `[Errno 13] Permission denied: b'a\n\'"\\\x01\xc3\xbc'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
