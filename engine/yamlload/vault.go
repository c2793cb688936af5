package yamlload

import (
	"errors"
	"strings"
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
			return "", withVaultHint(source.Errorf(pos, "cannot decrypt this !vault value: %w", err))
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

// withVaultHint says what helps against an error about encrypted text.
func withVaultHint(err *source.Error) *source.Error {
	switch {
	case err.Hint != "":
		return err
	case errors.Is(err, ErrNoVault):
		return err.WithHint("give the password with --vault-password-file FILE, --vault-id LABEL@FILE or --ask-vault-password")
	case strings.Contains(err.Msg, "malformed vault text"):
		return err.WithHint("the text was cut or changed after it was encrypted: take it from a backup or your version control")
	}
	return err
}
