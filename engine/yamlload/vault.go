package yamlload

import (
	"errors"
	"sync"

	"play/engine/jinja"
	"play/engine/source"
)

// ErrNoVault is wrapped by errors about encrypted text when no vault password
// was given.
var ErrNoVault = errors.New("no vault password was given")

// Encrypted is an inline !vault value. It stays encrypted in memory until it is
// first used; its plaintext is data, never a template.
type Encrypted struct {
	Text string // the vault text
	Pos  source.Pos
	open func() (string, error)
}

var _ jinja.Deferred = (*Encrypted)(nil)

func newEncrypted(text string, pos source.Pos, vault Decrypter) *Encrypted {
	e := &Encrypted{Text: text, Pos: pos}
	e.open = sync.OnceValues(func() (string, error) {
		plain, err := decrypt(vault, []byte(text))
		if err != nil {
			return "", source.Errorf(pos, "cannot decrypt this !vault value: %w", err)
		}
		return string(plain), nil
	})
	return e
}

// Value returns the plaintext, a string. It decrypts once.
func (e *Encrypted) Value(*jinja.Context) (any, error) {
	s, err := e.open()
	if err != nil {
		return nil, err
	}
	return s, nil
}

func decrypt(vault Decrypter, text []byte) ([]byte, error) {
	if vault == nil {
		return nil, ErrNoVault
	}
	return vault.Decrypt(text)
}
