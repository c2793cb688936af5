package jinja

import (
	"bytes"
	"errors"
	"fmt"

	"play/modules/value"
)

// Vaults are the functions on vault texts that filters and lookups use; a nil
// one makes them fail.
type Vaults struct {
	// Decrypt opens a vault text with the secrets of this run.
	Decrypt func(text []byte) ([]byte, error)
	// Open opens one with a password.
	Open func(text, password []byte) ([]byte, error)
	// Seal makes one with a password under a label; an empty salt means a new one.
	Seal func(plain, password, salt []byte, id string) ([]byte, error)
}

// vaultFilters open and close vault texts with a password of their own.
func vaultFilters() []Builtin {
	return []Builtin{
		{Name: "unvault", Params: "secret, vaultid='filter_default'", Doc: "the text of a vault", Fn: filterUnvault},
		{Name: "vault", Params: "secret, salt=None, vaultid='filter_default', wrap_object=False", Doc: "a vault of the text", Fn: filterVault},
	}
}

const vaultHeader = "$ANSIBLE_VAULT;"

// decrypted returns a file's content, opened if it is a vault.
func decrypted(c *Call, data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte(vaultHeader)) {
		return data, nil
	}
	if c.Env.vaults.Decrypt == nil {
		return nil, errors.New("cannot open the vault: no vault secrets were given")
	}
	return c.Env.vaults.Decrypt(data)
}

func filterVault(c *Call) (any, error) {
	secret, ok := c.Args[0].(string)
	if !ok {
		return nil, fmt.Errorf("Secret passed is required to be a string, instead we got: <class '%s'>", value.TypeName(c.Args[0]))
	}
	plain, ok := c.Value.(string)
	if !ok {
		return nil, fmt.Errorf("Can only vault strings, instead we got: <class '%s'>", value.TypeName(c.Value))
	}
	if c.Env.vaults.Seal == nil {
		return nil, errors.New("cannot make a vault: the environment was made without Options.Vaults")
	}
	salt := ""
	if c.Args[1] != nil {
		salt = value.Str(c.Args[1])
	}
	text, err := c.Env.vaults.Seal([]byte(plain), []byte(secret), []byte(salt), value.Str(c.Args[2]))
	if err != nil {
		return nil, fmt.Errorf("Unable to encrypt: %w", err)
	}
	return string(text), nil
}

func filterUnvault(c *Call) (any, error) {
	secret, ok := c.Args[0].(string)
	if !ok {
		return nil, fmt.Errorf("Secret passed is required to be as string, instead we got: <class '%s'>", value.TypeName(c.Args[0]))
	}
	text, ok := c.Value.(string)
	if !ok {
		return nil, fmt.Errorf("Vault should be in the form of a string, instead we got: <class '%s'>", value.TypeName(c.Value))
	}
	if !bytes.HasPrefix([]byte(text), []byte(vaultHeader)) {
		return text, nil
	}
	if c.Env.vaults.Open == nil {
		return nil, errors.New("cannot open a vault: the environment was made without Options.Vaults")
	}
	plain, err := c.Env.vaults.Open([]byte(text), []byte(secret))
	if err != nil {
		return nil, fmt.Errorf("Unable to decrypt: %w", err)
	}
	return string(plain), nil
}
