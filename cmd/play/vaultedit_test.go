package main

import (
	"archive/tar"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// editing is a folder with a vault, its password, and an editor that notes the
// modes of what it is given, leaves a backup copy beside it, and goes on as told.
type editing struct{ dir, vault string }

func newEditing(t *testing.T, then string) *editing {
	t.Helper()
	e := &editing{dir: t.TempDir()}
	e.vault = filepath.Join(e.dir, "vault.yml")
	for _, name := range []string{"tmp", "home"} {
		if err := os.Mkdir(filepath.Join(e.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeTest(t, filepath.Join(e.dir, "pw"), "one\n")
	writeTest(t, e.vault, "secret: CANARY-vault\n")
	script := "#!/bin/sh\nstat -c %a \"$1\" \"${1%/*}\" >modes\ncp \"$1\" \"$1~\"\necho more >>\"$1\"\ntouch ready\n" + then + "\n"
	if err := os.WriteFile(filepath.Join(e.dir, "editor"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := e.command("encrypt").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return e
}

// command is play vault with a subcommand, on the vault.
func (e *editing) command(sub string) *exec.Cmd {
	cmd := exec.Command("play", "vault", sub, "--vault-password-file", "pw", e.vault)
	cmd.Dir = e.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(e.dir, "home"), "TMPDIR=" + filepath.Join(e.dir, "tmp"), "EDITOR=./editor"}
	return cmd
}

// check looks for plaintext, and whether the vault is as it was.
func (e *editing) check(t *testing.T, before []byte, changed bool) {
	t.Helper()
	if modes, _ := os.ReadFile(filepath.Join(e.dir, "modes")); string(modes) != "600\n700\n" {
		t.Errorf("modes of the copy and its folder: %q", modes)
	}
	after, err := os.ReadFile(e.vault)
	if err != nil || !strings.HasPrefix(string(after), "$ANSIBLE_VAULT;") || (string(after) != string(before)) != changed {
		t.Errorf("the vault is now %q (%v), was %q", after, err, before)
	}
	_ = filepath.WalkDir(e.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if text, _ := os.ReadFile(path); strings.Contains(string(text), "CANARY-vault") {
				t.Errorf("%s holds the plaintext", path)
			}
		}
		return nil
	})
	if left, _ := os.ReadDir(filepath.Join(e.dir, "tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestVaultEditorEnds: however the editor ends, no plaintext stays.
func TestVaultEditorEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, then string
		fails      bool
	}{{"well", "", false}, {"failed", "exit 3", true}, {"killed", "kill -9 $$", true}, {"file removed", `rm "$1"`, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newEditing(t, c.then)
			before, _ := os.ReadFile(e.vault) // check looks at it
			out, err := e.command("edit").CombinedOutput()
			if (err != nil) != c.fails {
				t.Errorf("%v: %s", err, out)
			}
			e.check(t, before, !c.fails)
		})
	}
}

// TestVaultEditorInterrupted: a signal to play, or two, ends the editor; no
// plaintext stays.
func TestVaultEditorInterrupted(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for _, times := range []int{1, 2} {
			t.Run(sig.String()+strings.Repeat(" again", times-1), func(t *testing.T) {
				t.Parallel()
				e := newEditing(t, "exec sleep 600")
				before, _ := os.ReadFile(e.vault) // check looks at it
				cmd := e.command("edit")
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				e.await(t, "ready")
				for range times {
					_ = cmd.Process.Signal(sig) // it may be through with the first
				}
				_ = cmd.Wait() // the code is checked below
				if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
					t.Errorf("exit code %d, want %d", code, exitInterrupted)
				}
				e.check(t, before, false)
			})
		}
	}
}

// await waits until the editor has made a file.
func (e *editing) await(t *testing.T, name string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(e.dir, name)); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the editor did not start")
		}
	}
}

// archive makes an encrypted archive of one file with the vault's text.
func (e *editing) archive(t *testing.T) {
	t.Helper()
	const text = "secret: CANARY-vault\n"
	var tarred bytes.Buffer
	w := tar.NewWriter(&tarred)
	if err := w.WriteHeader(&tar.Header{Name: "inside", Mode: 0o600, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	writeTest(t, filepath.Join(e.dir, "vault.tar"), tarred.String())
	cmd := e.command("encrypt")
	cmd.Args[len(cmd.Args)-1] = "vault.tar"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestVaultedSourcesStayEncrypted: modules that take encrypted files from the
// control machine leave no plaintext there: there is no folder for temporary
// files at all, and none is made.
func TestVaultedSourcesStayEncrypted(t *testing.T) {
	t.Parallel()
	e := newEditing(t, "")
	writeTest(t, filepath.Join(e.dir, "site.yml"), `
- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - copy: {src: vault.yml, dest: target/copied}
    - copy: {src: parts, dest: target}
    - template: {src: vault.yml, dest: target/rendered}
    - assemble: {src: parts, dest: target/assembled, remote_src: false}
    - unarchive: {src: vault.tar, dest: target/unpacked}
    - script: vault.yml
      register: r
      failed_when: r.rc == 0
    - debug: msg={{ lookup('unvault', 'vault.yml') | length }}
`)
	for _, dir := range []string{"target", "parts", "target/unpacked"} {
		if err := os.Mkdir(filepath.Join(e.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	e.archive(t)
	data, err := os.ReadFile(e.vault)
	if err != nil {
		t.Fatal(err)
	}
	writeTest(t, filepath.Join(e.dir, "parts", "1"), string(data))
	cmd := exec.Command("play", "--vault-password-file", "pw", "site.yml")
	cmd.Dir = e.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(e.dir, "home"), "TMPDIR=" + filepath.Join(e.dir, "nosuch"), "PLAY_NO_HISTORY=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"copied", "rendered", "assembled", "parts/1", "unpacked/inside"} {
		path := filepath.Join(e.dir, "target", name)
		if text, err := os.ReadFile(path); err != nil || string(text) != "secret: CANARY-vault\n" {
			t.Errorf("%s: %q %v", name, text, err)
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
	writeTest(t, filepath.Join(e.dir, "modes"), "600\n700\n") // no editor ran
	e.check(t, data, false)
}
