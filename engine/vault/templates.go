package vault

import (
	"play/engine/jinja"
	"play/engine/yamlload"
)

// ForTemplates are the functions on vault texts that templates use; secrets may
// be nil.
func ForTemplates(secrets yamlload.Decrypter) jinja.Vaults {
	v := jinja.Vaults{Open: open, Seal: seal}
	if secrets != nil {
		v.Decrypt = secrets.Decrypt
	}
	return v
}

func open(text, password []byte) ([]byte, error) {
	one := Secrets{List: []Secret{{ID: "default", Password: password}}}
	return one.Decrypt(text)
}

// seal encrypts with a given salt, or with a new one.
func seal(plain, password, salt []byte, id string) ([]byte, error) {
	secret := Secret{ID: id, Password: password}
	if len(salt) == 0 {
		return Encrypt(plain, secret)
	}
	return encryptSalted(plain, secret, salt)
}
