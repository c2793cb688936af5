//go:build !plain

package modules

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/md5" //nolint:gosec // the old format of encrypted keys is made with it
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // fingerprints and old keys
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"hash"
	"math/big"
	"os"
	"strings"

	"play/modules/value"
)

// cryptoKey is a private key: RSA, ECDSA, Ed25519 or X25519 of the standard library.
type cryptoKey struct{ private crypto.PrivateKey }

// errPassphrase says that a key cannot be read for its passphrase.
var errPassphrase = errors.New("Wrong or empty passphrase provided for private key")

// public is the public half.
func (k *cryptoKey) public() crypto.PublicKey {
	switch p := k.private.(type) {
	case *ecdh.PrivateKey:
		return p.PublicKey()
	case crypto.Signer:
		return p.Public()
	}
	return nil
}

// keyKind is a key's type in the words of the modules, and its size in bits or
// its curve.
func keyKind(public crypto.PublicKey) (kind string, size int, curve string) {
	switch p := public.(type) {
	case *rsa.PublicKey:
		return "RSA", p.N.BitLen(), ""
	case *ecdsa.PublicKey:
		return "ECC", p.Curve.Params().BitSize, curveName(p.Curve)
	case ed25519.PublicKey:
		return "Ed25519", 0, ""
	case *ecdh.PublicKey:
		return "X25519", 0, ""
	}
	return "unknown", 0, ""
}

func curveName(c elliptic.Curve) string {
	return map[elliptic.Curve]string{elliptic.P224(): "secp224r1", elliptic.P256(): "secp256r1", elliptic.P384(): "secp384r1", elliptic.P521(): "secp521r1"}[c]
}

// publicData is what the info modules tell of a public key.
func publicData(public crypto.PublicKey) *value.Dict {
	switch p := public.(type) {
	case *rsa.PublicKey:
		return value.DictOf("size", p.N.BitLen(), "modulus", value.Int(p.N), "exponent", p.E)
	case *ecdsa.PublicKey:
		point, err := p.Bytes()
		if err != nil {
			return value.NewDict()
		}
		half := (len(point) - 1) / 2
		x, y := new(big.Int).SetBytes(point[1:1+half]), new(big.Int).SetBytes(point[1+half:])
		return value.DictOf("curve", curveName(p.Curve), "x", value.Int(x), "y", value.Int(y), "exponent_size", p.Curve.Params().BitSize)
	}
	return value.NewDict()
}

// publicPEM is a public key as PEM and as DER.
func publicPEM(public crypto.PublicKey) (text string, der []byte) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return "", nil
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), der
}

// keyFormat tells the format of a private key's file: pkcs1, pkcs8, raw or
// unknown-pem.
func keyFormat(data []byte) string {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	name, ok := strings.CutPrefix(strings.TrimRight(string(line), "\r"), "-----BEGIN ")
	name, ends := strings.CutSuffix(name, "-----")
	switch {
	case !ok || !ends:
		return "raw"
	case name == "PRIVATE KEY" || name == "ENCRYPTED PRIVATE KEY":
		return "pkcs8"
	case strings.HasSuffix(name, " PRIVATE KEY"):
		return "pkcs1"
	}
	return "unknown-pem"
}

// loadKey reads a private key; raw ones are X25519 unless kind says Ed25519.
func loadKey(data []byte, passphrase *string, kind string) (*cryptoKey, error) {
	if keyFormat(data) == "raw" {
		return rawKey(data, kind)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("Could not deserialize key data.")
	}
	der, encrypted, err := openBlock(block, passphrase)
	if err != nil {
		return nil, err
	}
	if !encrypted && passphrase != nil {
		return nil, errPassphrase
	}
	private, err := parseKey(der)
	if err != nil {
		return nil, err
	}
	return &cryptoKey{private}, nil
}

func rawKey(data []byte, kind string) (*cryptoKey, error) {
	if len(data) != 32 {
		return nil, errors.New("Cannot load raw key")
	}
	if kind == "Ed25519" {
		return &cryptoKey{ed25519.NewKeyFromSeed(data)}, nil
	}
	private, err := ecdh.X25519().NewPrivateKey(data)
	return &cryptoKey{private}, err
}

func parseKey(der []byte) (crypto.PrivateKey, error) {
	if k, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		return k, nil
	}
	if k, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return k, nil
	}
	if k, err := x509.ParseECPrivateKey(der); err == nil {
		return k, nil
	}
	return nil, errors.New("cannot read the private key: only RSA, ECC with the curves secp224r1, secp256r1, secp384r1 and secp521r1, Ed25519 and X25519 are supported")
}

// openBlock is a PEM block's content, decrypted if need be.
func openBlock(block *pem.Block, passphrase *string) (der []byte, encrypted bool, err error) {
	info := block.Headers["DEK-Info"]
	if block.Type != "ENCRYPTED PRIVATE KEY" && info == "" {
		return block.Bytes, false, nil
	}
	if passphrase == nil {
		return nil, true, errPassphrase
	}
	if info != "" {
		der, err = openOld(block.Bytes, info, *passphrase)
	} else {
		der, err = openPBES2(block.Bytes, *passphrase)
	}
	return der, true, err
}

// errWrongPassphrase says that a passphrase does not fit.
var errWrongPassphrase = errors.New("Wrong passphrase provided for private key")

// oldKey derives the key of encrypted PKCS #1 files.
func oldKey(passphrase string, salt []byte, size int) []byte {
	var out, last []byte
	for len(out) < size {
		sum := md5.Sum(append(append(last, passphrase...), salt[:8]...))
		last = sum[:]
		out = append(out, last...)
	}
	return out[:size]
}

func openOld(data []byte, info, passphrase string) ([]byte, error) {
	name, text, _ := strings.Cut(info, ",")
	iv, err := hex.DecodeString(text)
	size := map[string]int{"AES-128-CBC": 16, "AES-192-CBC": 24, "AES-256-CBC": 32}[name]
	if err != nil || size == 0 || len(iv) != aes.BlockSize {
		return nil, errors.New("cannot read the private key: the cipher " + name + " is not supported")
	}
	return cbcOpen(data, oldKey(passphrase, iv, size), iv)
}

func cbcOpen(data, key, iv []byte) ([]byte, error) {
	c, err := aes.NewCipher(key)
	if err != nil || len(data) == 0 || len(data)%aes.BlockSize != 0 || len(iv) != aes.BlockSize {
		return nil, errWrongPassphrase
	}
	out := make([]byte, len(data))
	cipher.NewCBCDecrypter(c, iv).CryptBlocks(out, data)
	pad := int(out[len(out)-1])
	if pad == 0 || pad > aes.BlockSize || !bytes.Equal(out[len(out)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, errWrongPassphrase
	}
	return out[:len(out)-pad], nil
}

func cbcSeal(data, key, iv []byte) ([]byte, error) {
	c, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	pad := aes.BlockSize - len(data)%aes.BlockSize
	out := append(bytes.Clone(data), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(c, iv).CryptBlocks(out, out)
	return out, nil
}

// The structures of RFC 8018 and RFC 5958.
type (
	derAlgorithm struct {
		ID         asn1.ObjectIdentifier
		Parameters asn1.RawValue `asn1:"optional"`
	}
	derEncryptedKey struct {
		Algorithm derAlgorithm
		Data      []byte
	}
	derPBES2 struct{ KDF, Cipher derAlgorithm }
	derKDF   struct {
		Salt   []byte
		Rounds int
		Length int          `asn1:"optional"`
		PRF    derAlgorithm `asn1:"optional"`
	}
)

var (
	oidPBES2      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidHMACSHA256 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
	oidAES256CBC  = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
)

// openPBES2 decrypts a PKCS #8 file that is encrypted with PBKDF2 and AES.
func openPBES2(data []byte, passphrase string) ([]byte, error) {
	var outer derEncryptedKey
	var scheme derPBES2
	var kdf derKDF
	var iv []byte
	_, err := asn1.Unmarshal(data, &outer)
	if err == nil && outer.Algorithm.ID.Equal(oidPBES2) {
		_, err = asn1.Unmarshal(outer.Algorithm.Parameters.FullBytes, &scheme)
	}
	size := map[string]int{"2.16.840.1.101.3.4.1.2": 16, "2.16.840.1.101.3.4.1.22": 24, "2.16.840.1.101.3.4.1.42": 32}[scheme.Cipher.ID.String()]
	if err != nil || size == 0 || !scheme.KDF.ID.Equal(oidPBKDF2) {
		return nil, errors.New("cannot read the private key: its encryption is not supported, only PBES2 with PBKDF2 and AES is")
	}
	if _, err = asn1.Unmarshal(scheme.KDF.Parameters.FullBytes, &kdf); err == nil {
		_, err = asn1.Unmarshal(scheme.Cipher.Parameters.FullBytes, &iv)
	}
	if err != nil {
		return nil, err
	}
	prf := map[string]func() hash.Hash{"": sha1.New, "1.2.840.113549.2.7": sha1.New, "1.2.840.113549.2.9": sha256.New, "1.2.840.113549.2.11": sha512.New}[kdf.PRF.ID.String()]
	if prf == nil {
		return nil, errors.New("cannot read the private key: its key derivation is not supported")
	}
	key, err := pbkdf2.Key(prf, passphrase, kdf.Salt, kdf.Rounds, size)
	if err != nil {
		return nil, err
	}
	return cbcOpen(outer.Data, key, iv)
}

// sealPBES2 encrypts a PKCS #8 key.
func sealPBES2(der []byte, passphrase string) ([]byte, error) {
	const rounds, size = 20000, 32
	salt, iv := make([]byte, 16), make([]byte, aes.BlockSize)
	rand.Read(salt)
	rand.Read(iv)
	key, err := pbkdf2.Key(sha256.New, passphrase, salt, rounds, size)
	if err != nil {
		return nil, err
	}
	data, err := cbcSeal(der, key, iv)
	if err != nil {
		return nil, err
	}
	null := asn1.RawValue{Tag: asn1.TagNull}
	kdf, err1 := asn1.Marshal(derKDF{Salt: salt, Rounds: rounds, PRF: derAlgorithm{oidHMACSHA256, null}})
	ivDER, err2 := asn1.Marshal(iv)
	scheme, err3 := asn1.Marshal(derPBES2{derAlgorithm{oidPBKDF2, asn1.RawValue{FullBytes: kdf}}, derAlgorithm{oidAES256CBC, asn1.RawValue{FullBytes: ivDER}}})
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return asn1.Marshal(derEncryptedKey{derAlgorithm{oidPBES2, asn1.RawValue{FullBytes: scheme}}, data})
}

// encode writes the key in a format, encrypted when there is a passphrase.
func (k *cryptoKey) encode(format, passphrase string) ([]byte, error) {
	if format == "raw" {
		switch p := k.private.(type) {
		case ed25519.PrivateKey:
			return p.Seed(), nil
		case *ecdh.PrivateKey:
			return p.Bytes(), nil
		}
		return nil, errors.New("no raw format")
	}
	if format == "pkcs1" {
		return k.encodeOld(passphrase)
	}
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return nil, err
	}
	block := &pem.Block{Type: "PRIVATE KEY", Bytes: der}
	if passphrase != "" {
		block.Type = "ENCRYPTED PRIVATE KEY"
		if block.Bytes, err = sealPBES2(der, passphrase); err != nil {
			return nil, err
		}
	}
	return pem.EncodeToMemory(block), nil
}

func (k *cryptoKey) encodeOld(passphrase string) ([]byte, error) {
	block := &pem.Block{}
	var err error
	switch p := k.private.(type) {
	case *rsa.PrivateKey:
		block.Type, block.Bytes = "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(p)
	case *ecdsa.PrivateKey:
		block.Type = "EC PRIVATE KEY"
		block.Bytes, err = x509.MarshalECPrivateKey(p)
	default:
		err = errors.New("no PKCS #1 format")
	}
	if err != nil || passphrase == "" {
		return pem.EncodeToMemory(block), err
	}
	iv := make([]byte, aes.BlockSize)
	rand.Read(iv)
	block.Headers = map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC," + strings.ToUpper(hex.EncodeToString(iv))}
	block.Bytes, err = cbcSeal(block.Bytes, oldKey(passphrase, iv, 32), iv)
	return pem.EncodeToMemory(block), err
}

// privateKeyFrom loads the key of privatekey_path or privatekey_content.
func (c *Call) privateKeyFrom(path string, content, passphrase *string) (*cryptoKey, error) {
	var data []byte
	if content != nil {
		data = []byte(*content)
	} else {
		var err error
		if data, err = os.ReadFile(c.abs(path)); err != nil {
			return nil, Failf("%s", osTextString(err, path))
		}
	}
	if keyFormat(data) == "raw" {
		return nil, Failf("Wrong passphrase provided for private key")
	}
	key, err := loadKey(data, passphrase, "")
	if err != nil {
		return nil, Failf("%v", err)
	}
	return key, nil
}
