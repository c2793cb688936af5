// Package vault reads and writes texts encrypted in the form of Ansible Vault,
// versions 1.1 and 1.2 with AES256. Flowing in: vault texts, passwords from
// files, scripts and the person. Flowing out: plaintext in memory, or a vault
// text. It writes no file, and neither a password nor plaintext is part of any
// error.
package vault

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"play/engine/yamlload"
)

var (
	// ErrNoSecrets is returned when there is no password at all.
	ErrNoSecrets = errors.New("no vault secrets were given")
	// ErrNoMatch is returned when no password fits.
	ErrNoMatch = errors.New("no vault secrets were found that could decrypt")
	// ErrFormat is wrapped by errors about text that is no valid vault text.
	ErrFormat = errors.New("malformed vault text")
)

const (
	header     = "$ANSIBLE_VAULT"
	algorithm  = "AES256"
	iterations = 10_000
	keyLen     = 32
	saltLen    = 32
	lineLen    = 80
	maxText    = 256 << 20 // bytes of a vault text
)

// Secret is a password with the label under which it was given.
type Secret struct {
	ID       string // "default" unless labelled
	Password []byte
}

// Secrets are the passwords of a run, in the order in which they are tried. It
// is safe for concurrent use as long as its fields do not change.
type Secrets struct {
	List []Secret
	// MatchID tries only the passwords with a text's own label
	// (vault_id_match); otherwise these are only tried first.
	MatchID bool
}

var _ yamlload.Decrypter = (*Secrets)(nil)

// IsEncrypted reports whether data begins as a vault text does.
func IsEncrypted(data []byte) bool { return bytes.HasPrefix(data, []byte(header+";")) }

// Decrypt returns the plaintext of a vault text. The error is ErrNoSecrets,
// ErrNoMatch, or wraps ErrFormat.
func (s *Secrets) Decrypt(text []byte) ([]byte, error) {
	plain, _, err := s.DecryptID(text)
	return plain, err
}

// DecryptID is Decrypt that also returns the secret that fitted.
func (s *Secrets) DecryptID(text []byte) ([]byte, Secret, error) {
	e, err := parse(text)
	if err != nil {
		return nil, Secret{}, err
	}
	if s == nil || len(s.List) == 0 {
		return nil, Secret{}, ErrNoSecrets
	}
	for _, secret := range s.order(e.id) {
		plain, err := e.open(secret.Password)
		if err == nil {
			return plain, secret, nil
		}
		if !errors.Is(err, ErrNoMatch) {
			return nil, Secret{}, err
		}
	}
	return nil, Secret{}, ErrNoMatch
}

// order lists the secrets to try for a text with a label, best first.
func (s *Secrets) order(id string) []Secret {
	if id == "" {
		return s.List
	}
	var first, others []Secret
	for _, secret := range s.List {
		if secret.ID == id {
			first = append(first, secret)
		} else {
			others = append(others, secret)
		}
	}
	if s.MatchID {
		return first
	}
	return append(first, others...)
}

// envelope is a vault text taken apart.
type envelope struct {
	id                    string // of version 1.2, else ""
	salt, sum, ciphertext []byte
}

func parse(text []byte) (*envelope, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrFormat, maxText)
	}
	first, body, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	e := &envelope{}
	if err := e.header(strings.TrimSpace(string(first))); err != nil {
		return nil, err
	}
	outer, err := unhex(bytes.Join(bytes.Fields(body), nil))
	if err != nil {
		return nil, err
	}
	parts := bytes.Split(outer, []byte("\n"))
	if len(parts) != 3 {
		return nil, fmt.Errorf("%w: %d parts instead of salt, checksum and ciphertext", ErrFormat, len(parts))
	}
	for i, to := range []*[]byte{&e.salt, &e.sum, &e.ciphertext} {
		if *to, err = unhex(bytes.TrimSpace(parts[i])); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func unhex(text []byte) ([]byte, error) {
	out := make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(out, text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return out, nil
}

// header reads "$ANSIBLE_VAULT;1.2;AES256;label".
func (e *envelope) header(line string) error {
	fields := strings.Split(line, ";")
	if len(fields) < 3 || fields[0] != header {
		return fmt.Errorf("%w: it does not begin with %s", ErrFormat, header)
	}
	if !slices.Contains([]string{"1.1", "1.2"}, fields[1]) {
		return fmt.Errorf("%w: version %q is not known", ErrFormat, fields[1])
	}
	if fields[2] != algorithm {
		return fmt.Errorf("%w: cipher %q is not known", ErrFormat, fields[2])
	}
	if len(fields) > 3 && fields[1] == "1.2" {
		e.id = fields[3]
	}
	return nil
}

// keys derives the keys of a password: for the cipher, for the checksum, and
// the cipher's first counter block.
func keys(password, salt []byte) (cipherKey, sumKey, counter []byte, err error) {
	k, err := pbkdf2.Key(sha256.New, string(password), salt, iterations, 2*keyLen+aes.BlockSize)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("cannot derive the key of a vault: %w", err)
	}
	return k[:keyLen], k[keyLen : 2*keyLen], k[2*keyLen:], nil
}

func (e *envelope) open(password []byte) ([]byte, error) {
	cipherKey, sumKey, counter, err := keys(password, e.salt)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(checksum(sumKey, e.ciphertext), e.sum) {
		return nil, ErrNoMatch
	}
	padded, err := crypt(cipherKey, counter, e.ciphertext)
	if err != nil {
		return nil, err
	}
	return unpad(padded)
}

func checksum(key, ciphertext []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(ciphertext)
	return m.Sum(nil)
}

// crypt en- or decrypts: in counter mode both are the same.
func crypt(key, counter, in []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("cannot use the key of a vault: %w", err)
	}
	out := make([]byte, len(in))
	cipher.NewCTR(block, counter).XORKeyStream(out, in)
	return out, nil
}

// unpad takes off PKCS #7 padding. The checksum has been verified, so an error
// is a defect of the program that wrote the text.
func unpad(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("%w: no padding", ErrFormat)
	}
	n := int(b[len(b)-1])
	if n == 0 || n > aes.BlockSize || n > len(b) {
		return nil, fmt.Errorf("%w: bad padding", ErrFormat)
	}
	return b[:len(b)-n], nil
}

// Encrypt makes a vault text that ends with a newline. A secret labelled other
// than "default" gives version 1.2 with the label, as ansible-vault does.
func Encrypt(plain []byte, secret Secret) ([]byte, error) {
	return encrypt(plain, secret, rand.Reader)
}

func encrypt(plain []byte, secret Secret, random io.Reader) ([]byte, error) {
	salt := make([]byte, saltLen)
	if _, err := io.ReadFull(random, salt); err != nil {
		return nil, fmt.Errorf("cannot make a salt: %w", err)
	}
	return encryptSalted(plain, secret, salt)
}

func encryptSalted(plain []byte, secret Secret, salt []byte) ([]byte, error) {
	if len(secret.Password) == 0 {
		return nil, errors.New("cannot encrypt with an empty password")
	}
	if strings.ContainsAny(secret.ID, ";\n\r") {
		return nil, fmt.Errorf("cannot use %q as a vault id", secret.ID)
	}
	cipherKey, sumKey, counter, err := keys(secret.Password, salt)
	if err != nil {
		return nil, err
	}
	n := aes.BlockSize - len(plain)%aes.BlockSize
	padded := append(slices.Clone(plain), bytes.Repeat([]byte{byte(n)}, n)...)
	ciphertext, err := crypt(cipherKey, counter, padded)
	if err != nil {
		return nil, err
	}
	inner := strings.Join([]string{hex.EncodeToString(salt), hex.EncodeToString(checksum(sumKey, ciphertext)), hex.EncodeToString(ciphertext)}, "\n")
	return format(secret.ID, hex.EncodeToString([]byte(inner))), nil
}

func format(id, body string) []byte {
	first := header + ";1.1;" + algorithm
	if id != "" && id != "default" {
		first = header + ";1.2;" + algorithm + ";" + id
	}
	lines := []string{first}
	for len(body) > lineLen {
		lines = append(lines, body[:lineLen])
		body = body[lineLen:]
	}
	return []byte(strings.Join(append(lines, body), "\n") + "\n")
}
