package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"play/connection/contract"
)

// TestFullRemoteDisk copies a file over SSH that the host has no room for: one
// clear message, the old file untouched, nothing beside it.
func TestFullRemoteDisk(t *testing.T) {
	t.Parallel()
	contract.NeedFile(t, sshd, "OpenSSH's server is not installed")
	dir := t.TempDir()
	small := filepath.Join(dir, "small")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("needs the right to mount a small disk: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(small, 0) }) // the folder goes anyway
	target := filepath.Join(small, "file")
	writeTest(t, target, "old\n")
	if err := os.WriteFile(filepath.Join(dir, "large"), bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	writeTest(t, filepath.Join(dir, "site.yml"), "- hosts: web1\n  gather_facts: false\n  tasks:\n    - name: put it there\n      copy: {src: large, dest: "+target+"}\n")
	inventory := serveOpenSSH(t, dir, 1)
	out, code := playOutput(t, dir, "-i", inventory, "site.yml")
	if code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if !regexp.MustCompile(`(?m)^fatal: \[web1\]: FAILED! => .*No space left on device`).MatchString(out) {
		t.Errorf("no clear message:\n%s", out)
	}
	if data, _ := os.ReadFile(target); string(data) != "old\n" {
		t.Errorf("the old file is %q", data)
	}
	if entries, _ := os.ReadDir(small); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	if strings.Contains(out, "panic") {
		t.Error(out)
	}
}
