package vault

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vaultCase is a text that ansible-vault encrypted.
type vaultCase struct{ Plain, Password, ID, Text string }

func cases(t *testing.T) []vaultCase {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Scan() // version and command
	var all []vaultCase
	for lines.Scan() {
		var c vaultCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if len(all) < 10 {
		t.Fatalf("%d cases", len(all))
	}
	return all
}

func secrets(pairs ...string) *Secrets {
	s := &Secrets{}
	for i := 0; i < len(pairs); i += 2 {
		s.List = append(s.List, Secret{ID: pairs[i], Password: []byte(pairs[i+1])})
	}
	return s
}

func TestDecryptAnsible(t *testing.T) {
	t.Parallel()
	for _, c := range cases(t) {
		got, secret, err := secrets("default", "wrong", c.ID, c.Password).DecryptID([]byte(c.Text))
		if err != nil || string(got) != c.Plain || secret.ID != c.ID {
			t.Errorf("%q: got %q with %q, error %v", c.Plain, got, secret.ID, err)
		}
		// As it stands in YAML: indented, without a last line end.
		indented := strings.ReplaceAll(strings.TrimSpace(c.Text), "\n", "\r\n   ")
		if got, err := secrets("x", c.Password).Decrypt([]byte(indented)); err != nil || string(got) != c.Plain {
			t.Errorf("indented %q: got %q, error %v", c.Plain, got, err)
		}
	}
}

// TestEncryptAsAnsible makes each recorded text again, byte for byte, from its
// own salt.
func TestEncryptAsAnsible(t *testing.T) {
	t.Parallel()
	for _, c := range cases(t) {
		e, err := parse([]byte(c.Text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := encrypt([]byte(c.Plain), Secret{ID: c.ID, Password: []byte(c.Password)}, bytes.NewReader(e.salt))
		if err != nil || string(got) != c.Text {
			t.Errorf("%q: got\n%s\nwant\n%s\nerror %v", c.Plain, got, c.Text, err)
		}
	}
}

func TestDecryptErrors(t *testing.T) {
	t.Parallel()
	good, err := Encrypt([]byte("CANARY"), Secret{ID: "dev", Password: []byte("secret")})
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(bytes.TrimSpace(good))
	if last := &changed[len(changed)-1]; *last == '1' {
		*last = '2'
	} else {
		*last = '1'
	}
	tests := []struct {
		name string
		text []byte
		s    *Secrets
		want error
	}{
		{"no secrets", good, &Secrets{}, ErrNoSecrets},
		{"nil secrets", good, nil, ErrNoSecrets},
		{"wrong password", good, secrets("dev", "wrong", "x", "wronger"), ErrNoMatch},
		{"other label only", good, &Secrets{List: secrets("x", "secret").List, MatchID: true}, ErrNoMatch},
		{"changed", changed, secrets("dev", "secret"), ErrNoMatch},
		{"not a vault", []byte("hello"), secrets("a", "b"), ErrFormat},
		{"old version", []byte("$ANSIBLE_VAULT;1.0;AES\n00"), secrets("a", "b"), ErrFormat},
		{"other cipher", []byte("$ANSIBLE_VAULT;1.1;ROT13\n00"), secrets("a", "b"), ErrFormat},
		{"no body", []byte("$ANSIBLE_VAULT;1.1;AES256\n"), secrets("a", "b"), ErrFormat},
		{"no hex", []byte("$ANSIBLE_VAULT;1.1;AES256\nxyz\n"), secrets("a", "b"), ErrFormat},
		{"cut off", good[:len(good)/2], secrets("dev", "secret"), nil},
	}
	for _, tt := range tests {
		plain, err := tt.s.Decrypt(tt.text)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: got %q, error %v, want %v", tt.name, plain, err, tt.want)
		} else if strings.Contains(err.Error(), "secret\"") || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: the error tells a secret: %v", tt.name, err)
		}
	}
}

func TestEncryptRefuses(t *testing.T) {
	t.Parallel()
	if _, err := Encrypt([]byte("x"), Secret{ID: "a"}); err == nil {
		t.Error("an empty password was used")
	}
	if _, err := Encrypt([]byte("x"), Secret{ID: "a;b", Password: []byte("p")}); err == nil {
		t.Error("a label with a semicolon was used")
	}
}

func write(t *testing.T, dir, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "pw", "  from file \n", 0o600)
	write(t, dir, "empty", "\n", 0o600)
	write(t, dir, "vaulted", "$ANSIBLE_VAULT;1.1;AES256\n00\n", 0o600)
	write(t, dir, "script", "#!/bin/sh\necho \" from script $#\"\n", 0o700)
	write(t, dir, "my-client.sh", "#!/bin/sh\necho \"$1 $2\"\n", 0o700)
	write(t, dir, "fails", "#!/bin/sh\nexit 1\n", 0o700)
	prompt := func(_ context.Context, text string) (string, error) { return "[" + text + "]\n", nil }
	tests := []struct {
		ids  []string
		ask  bool
		want string // id=password, or the error's beginning
	}{
		{[]string{"pw"}, false, "default=from file"},
		{[]string{"~/pw"}, false, "default=from file"},
		{[]string{"dev@pw", "prod@script"}, false, "dev=from file,prod= from script 0"},
		{[]string{"x@my-client.sh"}, false, "x=--vault-id x"},
		{[]string{"@pw"}, false, "default=from file"},
		{[]string{"dev@prompt"}, false, "dev=[Vault password (dev): ]"},
		{[]string{"prompt"}, true, "default=[Vault password (default): ]"},
		{[]string{"pw"}, true, "default=from file,default=[Vault password: ]"},
		{nil, false, ""},
		{[]string{"nope"}, false, "cannot find the vault password file"},
		{[]string{"empty"}, false, "cannot use the vault password file"},
		{[]string{"vaulted"}, false, "cannot use the vault password file"},
		{[]string{"fails"}, false, "cannot run the vault password script"},
		{[]string{"."}, false, "cannot read the vault password file"},
	}
	for _, tt := range tests {
		s, err := Load(t.Context(), Sources{IDs: tt.ids, Ask: tt.ask, Prompt: prompt, Dir: dir, Home: dir})
		if err != nil {
			if !strings.HasPrefix(tt.want, "cannot") || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%q: error %v, want %s", tt.ids, err, tt.want)
			}
			continue
		}
		var got []string
		for _, secret := range s.List {
			got = append(got, secret.ID+"="+string(secret.Password))
		}
		if strings.Join(got, ",") != tt.want {
			t.Errorf("%q: got %q, want %q", tt.ids, strings.Join(got, ","), tt.want)
		}
	}
	if _, err := Load(t.Context(), Sources{Ask: true}); err == nil {
		t.Error("a password was asked for without a terminal")
	}
}

func FuzzDecrypt(f *testing.F) {
	good, err := Encrypt([]byte("x"), Secret{ID: "dev", Password: []byte("secret")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("$ANSIBLE_VAULT;1.2;AES256;a\n0a0a\n"))
	f.Add([]byte("$ANSIBLE_VAULT;1.1;AES256\n"))
	s := secrets("default", "wrong")
	f.Fuzz(func(t *testing.T, text []byte) {
		if plain, err := s.Decrypt(text); err == nil {
			t.Errorf("%q was decrypted to %q", text, plain)
		}
	})
}
