package crypthash

import (
	"encoding/base64"
	"fmt"

	//lint:ignore SA1019 bcrypt is made of it; it protects nothing new here
	"golang.org/x/crypto/blowfish"
)

// bcryptAlphabet is bcrypt's own order of the base64 characters.
const bcryptAlphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// bcrypt is Provos and Mazières' scheme. golang.org/x/crypto/bcrypt takes no
// salt, so the rounds are done here on its blowfish.
func bcrypt(password []byte, salt string, cost int, ident string) string {
	encoding := base64.NewEncoding(bcryptAlphabet).WithPadding(base64.NoPadding)
	raw, err := encoding.DecodeString(salt)
	if err != nil {
		return "" // cannot be: the salt's characters and length were checked
	}
	key := append(append([]byte(nil), password[:min(len(password), 72)]...), 0)
	cipher, err := blowfish.NewSaltedCipher(key[:min(len(key), 72)], raw)
	if err != nil {
		return "" // cannot be: the key has 1 to 72 bytes
	}
	for range 1 << cost {
		blowfish.ExpandKey(key[:min(len(key), 72)], cipher)
		blowfish.ExpandKey(raw, cipher)
	}
	text := []byte("OrpheanBeholderScryDoubt")
	for i := 0; i < len(text); i += 8 {
		for range 64 {
			cipher.Encrypt(text[i:i+8], text[i:i+8])
		}
	}
	return fmt.Sprintf("$%s$%02d$%s%s", ident, cost, encoding.EncodeToString(raw), encoding.EncodeToString(text[:23]))
}
