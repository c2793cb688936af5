//go:build !plain

package modules

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"

	"play/modules/argspec"
	"play/modules/value"
)

// privateKeyArgs are the arguments of openssl_privatekey.
type privateKeyArgs struct {
	Path           string  `arg:"path,required,type=path" doc:"the key's file"`
	State          string  `arg:"state,default=present,choices=present|absent" doc:"whether the key shall exist"`
	Type           string  `arg:"type,default=RSA,choices=DSA|ECC|Ed25519|Ed448|RSA|X25519|X448" doc:"its kind; DSA, Ed448 and X448 are not supported"`
	Size           int     `arg:"size,default=4096" doc:"bits of an RSA key"`
	Curve          string  `arg:"curve,choices=secp224r1|secp256k1|secp256r1|secp384r1|secp521r1|secp192r1|brainpoolP256r1|brainpoolP384r1|brainpoolP512r1|sect163k1|sect163r2|sect233k1|sect233r1|sect283k1|sect283r1|sect409k1|sect409r1|sect571k1|sect571r1" doc:"the curve of an ECC key; secp224r1, secp256r1, secp384r1 and secp521r1 are supported"`
	Passphrase     *string `arg:"passphrase,nolog" doc:"what the key is encrypted with"`
	Cipher         string  `arg:"cipher" doc:"auto"`
	Format         string  `arg:"format,default=auto_ignore,choices=pkcs1|pkcs8|raw|auto|auto_ignore" doc:"the file's format"`
	FormatMismatch string  `arg:"format_mismatch,default=regenerate,choices=regenerate|convert" doc:"what to do about another format"`
	Backend        string  `arg:"select_crypto_backend,default=auto,choices=auto|cryptography" doc:"accepted and without effect"`
	Regenerate     string  `arg:"regenerate,default=full_idempotence,choices=never|fail|partial_idempotence|full_idempotence|always" doc:"when a key is made anew"`
	Force          bool    `arg:"force,default=no" doc:"make a new key"`
	Backup         bool    `arg:"backup,default=no" doc:"keep the old key"`
	ReturnContent  bool    `arg:"return_content,default=no" doc:"return the key"`
	fileArgs
}

// Rules relates the arguments.
func (privateKeyArgs) Rules() argspec.Rules {
	return argspec.Rules{
		RequiredTogether: [][]string{{"cipher", "passphrase"}},
		RequiredIf:       []argspec.RequiredIf{{Name: "type", Value: "ECC", Needs: []string{"curve"}}},
	}
}

func opensslPrivateKey() Module {
	return Define("openssl_privatekey", "Make private keys", runPrivateKey).In("community.crypto")
}

// privateKeyRun is one run of openssl_privatekey.
type privateKeyRun struct {
	*cryptoFile
	args  *privateKeyArgs
	have  []byte     // nil: there is none
	key   *cryptoKey // the key that is there
	fresh *cryptoKey // the key that was written
	now   []byte
}

func runPrivateKey(c *Call, args *privateKeyArgs) (*Result, error) {
	if args.Mode == nil {
		args.Mode = "0600"
	}
	if args.Force {
		args.Regenerate = "always"
	}
	k := &privateKeyRun{cryptoFile: &cryptoFile{Call: c, path: args.Path, files: &args.fileArgs, backup: args.Backup}, args: args}
	if err := k.checkFolder(); err != nil {
		return nil, err
	}
	var err error
	if k.have, err = k.read(); err != nil {
		return nil, err
	}
	if args.State == "absent" {
		return k.absent()
	}
	return k.present()
}

func (k *privateKeyRun) absent() (*Result, error) {
	k.have = nil
	changed, err := k.remove()
	if err != nil {
		return nil, err
	}
	return k.result(changed), nil
}

func (k *privateKeyRun) present() (*Result, error) {
	anew, err := k.stale()
	if err != nil {
		return nil, err
	}
	convert := !anew && k.have != nil && k.args.FormatMismatch == "convert" && !k.rightFormat()
	if (anew || convert) && !k.Check {
		k.fresh = k.key
		if anew {
			if k.fresh, err = k.generate(); err != nil {
				return nil, err
			}
		}
		if k.now, err = k.encode(); err != nil {
			return nil, err
		}
		if err := k.write(k.now, 0o600); err != nil {
			return nil, err
		}
	}
	dressed, err := k.attributes()
	if err != nil {
		return nil, err
	}
	return k.result(anew || convert || dressed), nil
}

// stale tells whether a new key must be made.
func (k *privateKeyRun) stale() (bool, error) {
	if k.args.Regenerate == "always" || k.have == nil {
		return true, nil
	}
	idempotent := k.args.Regenerate == "partial_idempotence" || k.args.Regenerate == "full_idempotence"
	var err error
	if k.key, err = loadKey(k.have, k.args.Passphrase, k.args.Type); err != nil || keyFormat(k.have) == "raw" && k.args.Passphrase != nil {
		if k.args.Regenerate == "full_idempotence" {
			return true, nil
		}
		return false, Failf("Unable to read the key. The key is protected with a another passphrase / no passphrase or broken." +
			" Will not proceed. To force regeneration, call the module with `generate`" +
			" set to `full_idempotence` or `always`, or with `force=true`.")
	}
	if k.args.Regenerate == "never" {
		return false, nil
	}
	if !k.rightKind() {
		if idempotent {
			return true, nil
		}
		return false, Failf("Key has wrong type and/or size." +
			" Will not proceed. To force regeneration, call the module with `generate`" +
			" set to `partial_idempotence`, `full_idempotence` or `always`, or with `force=true`.")
	}
	if k.args.FormatMismatch == "regenerate" && !k.rightFormat() {
		if idempotent {
			return true, nil
		}
		return false, Failf("Key has wrong format." +
			" Will not proceed. To force regeneration, call the module with `generate`" +
			" set to `partial_idempotence`, `full_idempotence` or `always`, or with `force=true`." +
			" To convert the key, set `format_mismatch` to `convert`.")
	}
	return false, nil
}

func (k *privateKeyRun) rightKind() bool {
	kind, size, curve := keyKind(k.key.public())
	return kind == k.args.Type && (kind != "RSA" || size == k.args.Size) && (kind != "ECC" || curve == k.args.Curve)
}

// wantedFormat resolves auto.
func (k *privateKeyRun) wantedFormat() string {
	if k.args.Format != "auto" && k.args.Format != "auto_ignore" {
		return k.args.Format
	}
	if k.args.Type == "RSA" || k.args.Type == "ECC" || k.args.Type == "DSA" {
		return "pkcs1"
	}
	return "pkcs8"
}

func (k *privateKeyRun) rightFormat() bool {
	return k.args.Format == "auto_ignore" || keyFormat(k.have) == k.wantedFormat()
}

func (k *privateKeyRun) generate() (*cryptoKey, error) {
	var private crypto.PrivateKey
	var err error
	switch k.args.Type {
	case "RSA":
		private, err = rsa.GenerateKey(rand.Reader, k.args.Size)
	case "ECC":
		curve := map[string]elliptic.Curve{"secp224r1": elliptic.P224(), "secp256r1": elliptic.P256(), "secp384r1": elliptic.P384(), "secp521r1": elliptic.P521()}[k.args.Curve]
		if curve == nil {
			return nil, Failf("cannot make a key on the curve %q: secp224r1, secp256r1, secp384r1 and secp521r1 are supported", k.args.Curve)
		}
		private, err = ecdsa.GenerateKey(curve, rand.Reader)
	case "Ed25519":
		_, private, err = ed25519.GenerateKey(rand.Reader)
	case "X25519":
		private, err = ecdh.X25519().GenerateKey(rand.Reader)
	default:
		return nil, Failf("cannot make a key of type %q: RSA, ECC, Ed25519 and X25519 are supported", k.args.Type)
	}
	if err != nil {
		return nil, Failf("cannot make a key of type %q: %v", k.args.Type, err)
	}
	return &cryptoKey{private}, nil
}

func (k *privateKeyRun) encode() ([]byte, error) {
	passphrase := ""
	if k.args.Cipher != "" && k.args.Passphrase != nil && *k.args.Passphrase != "" {
		if k.args.Cipher != "auto" {
			return nil, Failf("Cryptography backend can only use \"auto\" for cipher option.")
		}
		passphrase = *k.args.Passphrase
	}
	format := k.wantedFormat()
	data, err := k.fresh.encode(format, passphrase)
	if err == nil && format == "raw" && passphrase != "" {
		err = errors.New("raw keys are not encrypted")
	}
	if err != nil {
		return nil, Failf("Cryptography backend cannot serialize the private key in the required format \"%s\"", k.args.Format)
	}
	return data, nil
}

// info is a key in the diff.
func (k *privateKeyRun) info(data []byte) *value.Dict {
	if data == nil {
		return value.NewDict()
	}
	out, err := keyInfo(data, k.args.Passphrase, true)
	if err != nil {
		return value.DictOf("can_parse_key", false, "key_is_consistent", nil)
	}
	return out
}

func (k *privateKeyRun) result(changed bool) *Result {
	out := NewResult(changed).With("type", k.args.Type).With("size", k.args.Size).With("fingerprint", nil)
	if k.args.Type == "ECC" {
		out.Set("curve", k.args.Curve)
	}
	key, data := k.key, k.have
	if k.fresh != nil {
		key, data = k.fresh, k.now
	} else if k.have != nil && key == nil {
		key, _ = loadKey(k.have, k.args.Passphrase, k.args.Type)
	}
	if key != nil && data != nil {
		_, der := publicPEM(key.public())
		out.Set("fingerprint", fingerprints(der, false))
	}
	if k.args.ReturnContent {
		out.Set("privatekey", shownKey(data))
	}
	out.Set("diff", value.DictOf("before", k.info(k.have), "after", k.info(data)))
	return k.finish(out)
}

// shownKey is a key's file as text.
func shownKey(data []byte) any {
	switch {
	case len(data) == 0:
		return nil
	case keyFormat(data) == "raw":
		return base64.StdEncoding.EncodeToString(data)
	}
	return string(data)
}
