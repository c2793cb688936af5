package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// vaultTools are play and ansible-vault in one folder of files and passwords.
type vaultTools struct {
	t   *testing.T
	dir string
}

// TestVaultInterchange: what play encrypts, rekeys and makes of strings,
// ansible-vault reads, and the reverse.
func TestVaultInterchange(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ansible-vault"); err != nil {
		t.Skip("ansible-vault is not installed")
	}
	for _, way := range [][2]string{{"play vault", "ansible-vault"}, {"ansible-vault", "play vault"}} {
		t.Run(strings.Fields(way[0])[0]+" writes", func(t *testing.T) {
			t.Parallel()
			v := &vaultTools{t, t.TempDir()}
			v.check(way[0], way[1])
		})
	}
}

func (v *vaultTools) check(writes, reads string) {
	const text = "a: CANARY\nb: größe \U0001f511\n"
	v.write("pw", "one\n")
	v.write("new", "two\n")
	v.write("plain.yml", text)
	v.write("labelled.yml", text)

	v.run(writes + " encrypt --vault-password-file pw plain.yml")
	v.same("encrypted", v.run(reads+" view --vault-password-file pw plain.yml"), text)
	v.run(writes + " rekey --vault-password-file pw --new-vault-password-file new plain.yml")
	v.same("rekeyed", v.run(reads+" view --vault-password-file new plain.yml"), text)
	v.run(reads + " decrypt --vault-password-file new plain.yml")
	v.same("decrypted", v.read("plain.yml"), text)

	v.run(writes + " encrypt --vault-id dev@pw labelled.yml")
	if head, _, _ := strings.Cut(v.read("labelled.yml"), "\n"); head != "$ANSIBLE_VAULT;1.2;AES256;dev" {
		v.t.Errorf("with an id the file begins with %q", head)
	}
	v.run(reads + " rekey --vault-id dev@pw --new-vault-id prod@new labelled.yml")
	v.same("with an id", v.run(writes+" view --vault-id prod@new labelled.yml"), text)

	said := v.run(writes + " encrypt_string --vault-password-file pw --name key CANARY-string")
	_, body, _ := strings.Cut(said, "!vault |\n")
	lines := strings.Fields(body)
	v.write("string", strings.Join(lines, "\n")+"\n")
	v.same("a string", v.run(reads+" view --vault-password-file pw string"), "CANARY-string")
}

// same compares texts but for the newline that showing a text may add.
func (v *vaultTools) same(what, got, want string) {
	v.t.Helper()
	if strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want, "\n") {
		v.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (v *vaultTools) run(command string) string {
	v.t.Helper()
	words := strings.Fields(command)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = v.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + v.dir, "LC_ALL=C.UTF-8", "PAGER=cat"}
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		v.t.Fatalf("%s: %v\n%s%s", command, err, out, errOut.String())
	}
	return string(out)
}

func (v *vaultTools) write(name, text string) {
	v.t.Helper()
	writeTest(v.t, filepath.Join(v.dir, name), text)
}

func (v *vaultTools) read(name string) string {
	v.t.Helper()
	text, err := os.ReadFile(filepath.Join(v.dir, name))
	if err != nil {
		v.t.Fatal(err)
	}
	return string(text)
}
