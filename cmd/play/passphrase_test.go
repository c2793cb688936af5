package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"play/connection/fleet"
)

// TestPassphraseOnATerminal: play asks for the passphrase of an encrypted key once
// for all hosts, without showing what is typed, and does not hang without a
// terminal.
func TestPassphraseOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const phrase = "open sesame"
	locked := filepath.Join(dir, "locked")
	f, err := fleet.New(fleet.Options{Dir: dir, Hosts: 3, Authorized: []ssh.PublicKey{writeLockedKey(t, locked, phrase)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	writeTest(t, filepath.Join(dir, "ping.yml"), "- {hosts: all, gather_facts: false, tasks: [{ping: {}}]}\n")
	args := []string{"-i", f.Inventory, "-e", "ansible_ssh_private_key_file=" + locked, filepath.Join(dir, "ping.yml")}
	if out, code := playOutput(t, dir, args...); code != exitUnreachable || !strings.Contains(out, "there is no terminal to ask at") {
		t.Errorf("without a terminal: exit code %d:\n%s", code, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "PLAY_TEST_MAIN=1", "ANSIBLE_NOCOLOR=1", "ANSIBLE_CONFIG=/dev/null", "HOME="+dir)
	text, code := talk(t, cmd, []answer{{"Enter passphrase for key '" + locked + "': ", phrase + "\n"}})
	if code != exitOK || strings.Count(text, "ok=1 ") != 3 {
		t.Errorf("exit code %d:\n%s", code, text)
	}
	if n := strings.Count(text, "Enter passphrase"); n != 1 || strings.Contains(text, phrase) {
		t.Errorf("%d questions, or the answer was shown:\n%s", n, text)
	}
}

// writeLockedKey makes a key that only the passphrase opens.
func writeLockedKey(t *testing.T, path, phrase string) ssh.PublicKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(phrase))
	if err != nil {
		t.Fatal(err)
	}
	writeTest(t, path, string(pem.EncodeToMemory(block)))
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
