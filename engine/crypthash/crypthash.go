// Package crypthash makes the password hashes of crypt(3): SHA-512, SHA-256,
// MD5 and bcrypt. Flowing in: a password, a salt and a number of rounds;
// flowing out: the text that stands in /etc/shadow. The password_hash filter and
// the password lookup call it. It never stores or logs a password.
package crypthash

import (
	"errors"
	"fmt"
	"strings"
)

// Method is a kind of hash with its limits.
type Method struct {
	Name          string // as passlib calls it: "sha512_crypt"
	SaltSize      int    // of a salt made here
	MinSalt       int
	MaxSalt       int
	DefaultRounds int
	MinRounds     int
	MaxRounds     int
	Idents        []string // the prefixes that can be chosen; the first is the default
	hash          func(password []byte, salt string, rounds int, ident string) string
}

// alphabet is what salts are made of.
const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Find returns the method with a name such as "sha512", "sha512_crypt" or
// "blowfish".
func Find(name string) (*Method, bool) {
	switch name {
	case "sha512", "sha512_crypt":
		return &Method{"sha512_crypt", 16, 0, 16, 656000, 1000, 10_000_000, nil, shaCrypt512}, true
	case "sha256", "sha256_crypt":
		return &Method{"sha256_crypt", 16, 0, 16, 535000, 1000, 10_000_000, nil, shaCrypt256}, true
	case "md5", "md5_crypt":
		return &Method{"md5_crypt", 8, 0, 8, 0, 0, 0, nil, md5Crypt("$1$")}, true
	case "apr_md5_crypt":
		return &Method{"apr_md5_crypt", 8, 0, 8, 0, 0, 0, nil, md5Crypt("$apr1$")}, true
	case "bcrypt", "blowfish":
		return &Method{"bcrypt", 22, 22, 22, 12, 4, 20, []string{"2b", "2a", "2y"}, bcrypt}, true
	}
	return nil, false
}

// NewSalt makes a salt; pick returns a random number from 0 to n-1.
func (m *Method) NewSalt(pick func(n int) int) string {
	salt := make([]byte, m.SaltSize)
	for i := range salt {
		salt[i] = alphabet[pick(len(alphabet))]
	}
	if m.Name == "bcrypt" {
		salt[21] = ".Oeu"[pick(4)] // only two bits of the last character count
	}
	return string(salt)
}

// Hash hashes a password. Rounds 0 means the method's default, ident "" its
// default prefix.
func (m *Method) Hash(password, salt string, rounds int, ident string) (string, error) {
	if err := m.check(password, salt); err != nil {
		return "", err
	}
	if rounds == 0 {
		rounds = m.DefaultRounds
	}
	if m.MaxRounds > 0 && (rounds < m.MinRounds || rounds > m.MaxRounds) {
		return "", fmt.Errorf("cannot hash with %d rounds: %s takes %d to %d", rounds, m.Name, m.MinRounds, m.MaxRounds)
	}
	ident = strings.Trim(ident, "$")
	if ident == "" && len(m.Idents) > 0 {
		ident = m.Idents[0]
	}
	if !m.hasIdent(ident) {
		return "", fmt.Errorf("cannot use the ident %q with %s", ident, m.Name)
	}
	return m.hash([]byte(password), salt, rounds, ident), nil
}

func (m *Method) check(password, salt string) error {
	switch {
	case strings.Trim(salt, alphabet) != "":
		return fmt.Errorf("invalid characters in %s salt", m.Name)
	case len(salt) > m.MaxSalt:
		return fmt.Errorf("salt too large (%s requires <= %d chars)", m.Name, m.MaxSalt)
	case len(salt) < m.MinSalt:
		return fmt.Errorf("salt too small (%s requires >= %d chars)", m.Name, m.MinSalt)
	case strings.Contains(password, "\x00"):
		return errors.New("cannot hash a password with a NUL character")
	case len(password) > 4096:
		return errors.New("cannot hash a password of more than 4096 bytes")
	}
	return nil
}

func (m *Method) hasIdent(ident string) bool {
	if len(m.Idents) == 0 {
		return true
	}
	for _, known := range m.Idents {
		if ident == known {
			return true
		}
	}
	return false
}

// encode writes three bytes as n characters, lowest bits first.
func encode(out []byte, b2, b1, b0 byte, n int) []byte {
	bits := uint(b2)<<16 | uint(b1)<<8 | uint(b0)
	for range n {
		out = append(out, alphabet[bits&63])
		bits >>= 6
	}
	return out
}
