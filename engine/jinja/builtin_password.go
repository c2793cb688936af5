package jinja

import (
	"fmt"

	"play/engine/crypthash"
	"play/modules/value"
)

// passwordFilters hash passwords.
func passwordFilters() []Builtin {
	return []Builtin{{
		Name:   "password_hash",
		Params: "hashtype='sha512', salt=None, salt_size=None, rounds=None, ident=None",
		Doc:    "a password's hash as /etc/shadow holds it",
		Fn:     filterPasswordHash,
	}}
}

func filterPasswordHash(c *Call) (any, error) {
	password, ok := c.Value.(string)
	if !ok {
		return nil, fmt.Errorf("secret must be unicode or bytes, not %s", value.TypeName(c.Value))
	}
	size, err := optInt(c.Args[2], 0)
	if err != nil {
		return nil, err
	}
	rounds, err := optInt(c.Args[3], 0)
	if err != nil {
		return nil, err
	}
	salt, ident := "", ""
	if c.Args[1] != nil {
		salt = value.Str(c.Args[1])
	}
	if c.Args[4] != nil {
		ident = value.Str(c.Args[4])
	}
	return HashPassword(password, value.Str(c.Args[0]), salt, size, rounds, ident)
}

// HashPassword hashes as /etc/shadow holds it, by a method such as
// "sha512_crypt", with a salt, or if that is "" with a new one of a size (0: the
// usual). Rounds 0 and ident "" are the method's own.
func HashPassword(password, method, salt string, size, rounds int, ident string) (any, error) {
	m, ok := crypthash.Find(method)
	if !ok {
		return nil, fmt.Errorf("passlib does not support '%s' algorithm", method)
	}
	if salt == "" {
		if size > 0 {
			m.SaltSize = size
		}
		if size > m.MaxSalt {
			return nil, fmt.Errorf("salt too large (%s requires <= %d chars)", m.Name, m.MaxSalt)
		}
		salt = m.NewSalt(systemBelow)
	}
	hash, err := m.Hash(password, salt, rounds, ident)
	if err != nil {
		return nil, fmt.Errorf("Could not hash the secret. %w", err)
	}
	return hash, nil
}
