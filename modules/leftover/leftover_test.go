package leftover_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"play/modules/leftover"
	"play/modules/procfs"
)

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "agent" {
		if err := agent(os.Args[2]); err != nil {
			fmt.Println("failed:", err)
		}
		select {} // until it is killed
	}
	os.Exit(m.Run())
}

// agent starts two commands, one of which it is done with, and files likewise,
// and tells the numbers of their processes: of the one that was noted, of a child
// of it, and of the one that is done with.
func agent(dir string) error {
	leftover.Watch(filepath.Join(dir, "scratch"), os.Environ())
	noted, child, err := group()
	if err != nil {
		return err
	}
	leftover.Group(noted)
	done, _, err := group()
	if err != nil {
		return err
	}
	leftover.Group(done)()
	for _, name := range []string{"half $(touch evil) 'written' ", "n*"} {
		leftover.File(filepath.Join(dir, name))
	}
	leftover.File(filepath.Join(dir, "whole"))()
	fmt.Println(noted, child, done)
	return nil
}

// group starts a command with a child, in a process group of its own; both are
// deaf to SIGTERM.
func group() (leader, child int, err error) {
	cmd := exec.Command("/bin/sh", "-c", `trap "" TERM; sleep 300 & echo $!; wait`)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	_, err = fmt.Fscan(out, &child)
	return cmd.Process.Pid, child, err
}

// TestKilled: what the killed process had noted goes, and nothing else.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := []string{"whole", "nn", "scratch2"}
	gone := []string{"half $(touch evil) 'written' ", "n*", "scratch/x"}
	for _, name := range append(keep, gone...) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "agent", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n') // what is missing shows below
	var noted, child, done int
	if _, err := fmt.Sscan(line, &noted, &child, &done); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-done, syscall.SIGKILL) }) // it was to be left alone
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	await(t, "the folder is gone", func() bool { _, err := os.Stat(filepath.Join(dir, "scratch")); return os.IsNotExist(err) })
	for _, pid := range []int{noted, child} {
		await(t, fmt.Sprint("process ", pid, " is gone"), func() bool { return ended(pid) })
	}
	if ended(done) {
		t.Error("a process that was done with was ended")
	}
	var names []string
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), "nn scratch2 whole"; got != want {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// ended tells whether a process has ended; one that nobody takes leave of has.
func ended(pid int) bool {
	return procfs.BootID() != "" && procfs.Start(pid) == "" || syscall.Kill(pid, 0) != nil
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 3000 {
		if holds() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("it does not come that %s", what)
}
