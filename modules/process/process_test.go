package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"play/modules/process"
	"play/modules/procfs"
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
	out, err := process.Run(t.Context(), sh("sleep 60 & echo $!"))
	if err != nil || out.RC != 0 {
		t.Fatalf("%+v %v", out, err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(out.Stdout)))
	if err != nil || syscall.Kill(child, syscall.SIGKILL) != nil {
		t.Errorf("the child has ended, or its number did not come: %q", out.Stdout)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
	if out.End.Sub(out.Start) > 30*time.Second {
		t.Errorf("from %s to %s", out.Start, out.End)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	started := filepath.Join(t.TempDir(), "started")
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var child int
	go func() {
		for n := 0; n != 1; time.Sleep(10 * time.Millisecond) {
			data, _ := os.ReadFile(started)
			n, _ = fmt.Sscan(string(data), &child)
		}
		cancel(why)
	}()
	began := time.Now()
	_, err := process.Run(ctx, sh("trap '' TERM; sleep 60 & echo $! >"+started+".new; mv "+started+".new "+started+"; sleep 60; sleep 60"))
	if err != why {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 40*time.Second {
		t.Errorf("took %s", took)
	}
	for range 3000 {
		if procfs.Start(child) == "" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a child survived")
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
