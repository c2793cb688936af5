package crypthash_test

import (
	"strings"
	"testing"

	"play/engine/crypthash"
)

// The hashes are those of passlib 1.7.4.
func TestHash(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, password, salt string
		rounds                 int
		ident, want            string
	}{
		{"sha512", "secret", "abcdefgh", 5000, "", "$6$abcdefgh$ltjgWl6579NluT/Vi1nwEvcil.G5Nbc4NiXZaNGStk8PSwGfQv72N2CKPPrVACtLtip/cZ/1GM/O6IND4WQhG."},
		{"sha256", "secret", "abcdefgh", 1000, "", "$5$rounds=1000$abcdefgh$XIppta5rT8zJUu4vAOKQXrwq9uY4Ijlz6VjyOmkx5i4"},
		{"md5", "secret", "abcdefgh", 0, "", "$1$abcdefgh$cHJi5PXp/ki/ktXzqlk6I1"},
		{"bcrypt", "secret", "abcdefghijklmnopqrstuu", 5, "", "$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a"},
		{"blowfish", "secret", "abcdefghijklmnopqrstuu", 4, "2a", "$2a$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"},
	} {
		m, ok := crypthash.Find(c.method)
		if !ok {
			t.Fatalf("no method %s", c.method)
		}
		got, err := m.Hash(c.password, c.salt, c.rounds, c.ident)
		if err != nil || got != c.want {
			t.Errorf("%s: got %s %v, want %s", c.method, got, err, c.want)
		}
	}
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, password, salt string
		rounds                 int
		ident, want            string
	}{
		{"sha512", "x", "bad salt", 0, "", "invalid characters"},
		{"sha512", "x", "01234567890123456", 0, "", "salt too large"},
		{"bcrypt", "x", "short", 0, "", "salt too small"},
		{"bcrypt", "x", "abcdefghijklmnopqrstuu", 31, "", "takes 4 to 20"},
		{"bcrypt", "x", "abcdefghijklmnopqrstuu", 4, "9z", "ident"},
		{"sha256", "x", "a", 10, "", "takes 1000"},
		{"md5", "a\x00b", "a", 0, "", "NUL"},
	} {
		m, _ := crypthash.Find(c.method)
		if _, err := m.Hash(c.password, c.salt, c.rounds, c.ident); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.method, err, c.want)
		}
	}
}

func TestNewSalt(t *testing.T) {
	t.Parallel()
	m, _ := crypthash.Find("bcrypt")
	salt := m.NewSalt(func(n int) int { return n - 1 })
	if len(salt) != 22 || salt[21] != 'u' {
		t.Errorf("got %q", salt)
	}
}
