//go:build !plain

package modules

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math/big"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// publicKeyArgs are the arguments of openssl_publickey.
type publicKeyArgs struct {
	State         string  `arg:"state,default=present,choices=present|absent" doc:"whether the key shall exist"`
	Force         bool    `arg:"force,default=no" doc:"write it anew"`
	Path          string  `arg:"path,required,type=path" doc:"the public key's file"`
	KeyPath       *string `arg:"privatekey_path,type=path" doc:"the private key's file"`
	KeyContent    *string `arg:"privatekey_content,nolog" doc:"the private key itself"`
	Format        string  `arg:"format,default=PEM,choices=OpenSSH|PEM" doc:"the file's format"`
	KeyPassphrase *string `arg:"privatekey_passphrase,nolog" doc:"what the private key is encrypted with"`
	Backup        bool    `arg:"backup,default=no" doc:"keep the old file"`
	Backend       string  `arg:"select_crypto_backend,default=auto,choices=auto|cryptography" doc:"accepted and without effect"`
	ReturnContent bool    `arg:"return_content,default=no" doc:"return the key"`
	fileArgs
}

// Rules relates the arguments.
func (publicKeyArgs) Rules() argspec.Rules {
	return argspec.Rules{
		MutuallyExclusive: [][]string{{"privatekey_path", "privatekey_content"}},
		RequiredIf:        []argspec.RequiredIf{{Name: "state", Value: "present", Needs: []string{"privatekey_path", "privatekey_content"}, Any: true}},
	}
}

func opensslPublicKey() Module {
	return Define("openssl_publickey", "Make public keys from private keys", runPublicKey).In("community.crypto")
}

func runPublicKey(c *Call, args *publicKeyArgs) (*Result, error) {
	f := &cryptoFile{Call: c, path: args.Path, files: &args.fileArgs, backup: args.Backup}
	if err := f.checkFolder(); err != nil {
		return nil, err
	}
	have, err := f.read()
	if err != nil {
		return nil, err
	}
	if args.State == "absent" {
		changed, err := f.remove()
		if err != nil {
			return nil, err
		}
		return f.finish(args.result(changed, nil, nil, nil)), nil
	}
	if args.KeyContent == nil && !exists(c.abs(*args.KeyPath)) {
		return nil, Failf("The private key %s does not exist", *args.KeyPath)
	}
	key, err := c.privateKeyFrom(textOf(args.KeyPath), args.KeyContent, args.KeyPassphrase)
	if err != nil {
		return nil, err
	}
	want, err := encodePublic(key.public(), args.Format)
	if err != nil {
		return nil, Failf("%v", err)
	}
	changed := args.Force || !samePublic(have, want, args.Format)
	if changed && !c.Check {
		if err := f.write(want, 0); err != nil {
			return nil, err
		}
	}
	dressed, err := f.attributes()
	if err != nil {
		return nil, err
	}
	if c.Check { // as with Ansible's module, nothing more is told
		return f.finish(args.result(changed || dressed, nil, nil, nil)), nil
	}
	now := have
	if changed {
		now = want
	}
	return f.finish(args.result(changed || dressed, key.public(), have, now)), nil
}

func encodePublic(public crypto.PublicKey, format string) ([]byte, error) {
	if format == "PEM" {
		text, _ := publicPEM(public)
		return []byte(text), nil
	}
	return openSSHPublic(public)
}

// samePublic compares the file with the key; a comment after it does not count.
func samePublic(have, want []byte, format string) bool {
	if format == "PEM" {
		return bytes.Equal(have, want)
	}
	fields := strings.Fields(string(have))
	return len(fields) >= 2 && strings.Join(fields[:2], " ") == string(want)
}

// openSSHPublic is a public key as OpenSSH's authorized_keys has it.
func openSSHPublic(public crypto.PublicKey) ([]byte, error) {
	kind := ""
	var parts [][]byte
	switch p := public.(type) {
	case *rsa.PublicKey:
		kind = "ssh-rsa"
		parts = [][]byte{positive(big.NewInt(int64(p.E))), positive(p.N)}
	case *ecdsa.PublicKey:
		name := map[string]string{"secp256r1": "nistp256", "secp384r1": "nistp384", "secp521r1": "nistp521"}[curveName(p.Curve)]
		point, err := p.Bytes()
		if err != nil || name == "" {
			return nil, errors.New("cannot write the public key: OpenSSH does not know its curve")
		}
		kind = "ecdsa-sha2-" + name
		parts = [][]byte{[]byte(name), point}
	case ed25519.PublicKey:
		kind = "ssh-ed25519"
		parts = [][]byte{p}
	default:
		return nil, errors.New("cannot write the public key: OpenSSH does not know its type")
	}
	var blob []byte
	for _, part := range append([][]byte{[]byte(kind)}, parts...) {
		blob = binary.BigEndian.AppendUint32(blob, uint32(len(part)))
		blob = append(blob, part...)
	}
	return []byte(kind + " " + base64.StdEncoding.EncodeToString(blob)), nil
}

// positive is a number's bytes without a sign bit.
func positive(n *big.Int) []byte {
	b := n.Bytes()
	if len(b) > 0 && b[0]&0x80 != 0 {
		b = append([]byte{0}, b...)
	}
	return b
}

// publicDiff is a public key in the diff.
func publicDiff(data []byte) *value.Dict {
	if data == nil {
		return value.NewDict()
	}
	der, err := pemContent(data, "PUBLIC KEY")
	if err != nil {
		return value.DictOf("can_parse_key", false)
	}
	public, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return value.DictOf("can_parse_key", false)
	}
	kind, _, _ := keyKind(public)
	return value.DictOf("can_parse_key", true, "fingerprints", fingerprints(der, true), "type", kind, "public_data", publicData(public))
}

func (a *publicKeyArgs) result(changed bool, public crypto.PublicKey, have, now []byte) *Result {
	out := NewResult(changed).With("privatekey", textOrNil(a.KeyPath)).With("format", a.Format).With("fingerprint", value.NewDict())
	if public != nil {
		_, der := publicPEM(public)
		out.Set("fingerprint", fingerprints(der, false))
	}
	if a.ReturnContent {
		out.Set("publickey", nil)
		if now != nil {
			out.Set("publickey", string(now))
		}
	}
	return out.With("diff", value.DictOf("before", publicDiff(have), "after", publicDiff(now)))
}
