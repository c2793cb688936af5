//go:build !plain

package modules

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"time"

	"play/modules/argspec"
	"play/modules/value"
)

// privateKeyInfoArgs are the arguments of openssl_privatekey_info.
type privateKeyInfoArgs struct {
	Path        *string `arg:"path,type=path" doc:"the key's file"`
	Content     *string `arg:"content,nolog" doc:"the key itself"`
	Passphrase  *string `arg:"passphrase,nolog" doc:"what the key is encrypted with"`
	PrivateData bool    `arg:"return_private_key_data,default=no" doc:"return the secret numbers too"`
	Consistency bool    `arg:"check_consistency,default=no" doc:"check that the key's halves fit"`
	Backend     string  `arg:"select_crypto_backend,default=auto,choices=auto|cryptography" doc:"accepted and without effect"`
}

// Rules relates the arguments.
func (privateKeyInfoArgs) Rules() argspec.Rules { return pathOrContent() }

func pathOrContent() argspec.Rules {
	return argspec.Rules{RequiredOneOf: [][]string{{"path", "content"}}, MutuallyExclusive: [][]string{{"path", "content"}}}
}

func opensslPrivateKeyInfo() Module {
	return Define("openssl_privatekey_info", "Inspect a private key", runPrivateKeyInfo).In("community.crypto")
}

func runPrivateKeyInfo(c *Call, args *privateKeyInfoArgs) (*Result, error) {
	out := NewResult(false).With("can_load_key", false).With("can_parse_key", false).With("key_is_consistent", nil)
	data, err := c.givenOrFile(args.Content, textOf(args.Path), "private key")
	if err != nil {
		out.Delete("changed")
		return nil, &Failure{Msg: err.Error(), With: out.Dict}
	}
	out.Set("can_load_key", true)
	info, err := keyInfo(data, args.Passphrase, false)
	out.Update(info)
	if err != nil {
		out.Delete("changed")
		return nil, &Failure{Msg: err.Error(), With: out.Dict}
	}
	key, err := loadKey(data, args.Passphrase, "")
	if err != nil {
		return nil, Failf("%v", err)
	}
	if args.PrivateData {
		out.Set("private_data", privateData(key))
	}
	if kind, _ := out.Get("type"); args.Consistency && kind != "X25519" {
		out.Set("key_is_consistent", true) // a key that is not cannot be loaded
	}
	return out, nil
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// privateData is the secret half of a key in numbers.
func privateData(k *cryptoKey) *value.Dict {
	switch p := k.private.(type) {
	case *rsa.PrivateKey:
		return value.DictOf("p", value.Int(p.Primes[0]), "q", value.Int(p.Primes[1]), "exponent", value.Int(p.D))
	case *ecdsa.PrivateKey:
		if secret, err := p.Bytes(); err == nil {
			return value.DictOf("multiplier", value.Int(new(big.Int).SetBytes(secret)))
		}
	}
	return value.NewDict()
}

// csrInfoArgs are the arguments of openssl_csr_info.
type csrInfoArgs struct {
	Path     *string `arg:"path,type=path" doc:"the request's file"`
	Content  *string `arg:"content" doc:"the request itself"`
	Encoding string  `arg:"name_encoding,default=ignore,choices=ignore|idna|unicode" doc:"ignore; names are returned as they stand"`
	Backend  string  `arg:"select_crypto_backend,default=auto,choices=auto|cryptography" doc:"accepted and without effect"`
}

// Rules relates the arguments.
func (csrInfoArgs) Rules() argspec.Rules { return pathOrContent() }

func opensslCSRInfo() Module {
	return Define("openssl_csr_info", "Inspect a certificate signing request", runCSRInfo).In("community.crypto")
}

func runCSRInfo(c *Call, args *csrInfoArgs) (*Result, error) {
	data, err := c.givenOrFile(args.Content, textOf(args.Path), "CSR")
	if err != nil {
		return nil, err
	}
	csr, err := parseRequest(data)
	if err != nil {
		return nil, Failf("%v", err)
	}
	info, err := requestInfo(csr, false)
	if err != nil {
		return nil, Failf("%v", err)
	}
	if valid, _ := info.Get("signature_valid"); valid != true {
		return nil, &Failure{Msg: "CSR signature is invalid!", With: info}
	}
	out := NewResult(false)
	out.Update(info)
	return out, nil
}

// certificateInfoArgs are the arguments of x509_certificate_info.
type certificateInfoArgs struct {
	Path     *string     `arg:"path,type=path" doc:"the certificate's file"`
	Content  *string     `arg:"content" doc:"the certificate itself"`
	ValidAt  *value.Dict `arg:"valid_at" doc:"times by a name of yours, as +1w or 20300101000000Z"`
	Encoding string      `arg:"name_encoding,default=ignore,choices=ignore|idna|unicode" doc:"ignore; names are returned as they stand"`
	Backend  string      `arg:"select_crypto_backend,default=auto,choices=auto|cryptography" doc:"accepted and without effect"`
}

// Rules relates the arguments.
func (certificateInfoArgs) Rules() argspec.Rules { return pathOrContent() }

func x509CertificateInfo() Module {
	return Define("x509_certificate_info", "Inspect a certificate", runCertificateInfo).
		In("community.crypto")
}

func runCertificateInfo(c *Call, args *certificateInfoArgs) (*Result, error) {
	data, err := c.givenOrFile(args.Content, textOf(args.Path), "certificate")
	if err != nil {
		return nil, err
	}
	now := time.Now()
	times := map[string]time.Time{}
	for k, v := range args.ValidAt.All() {
		text, ok := v.(string)
		if !ok {
			return nil, Failf("The value for valid_at.%s must be of type string (got <class '%s'>)", value.Str(k), value.TypeName(v))
		}
		if times[value.Str(k)], err = timeOption(text, "valid_at."+value.Str(k), now); err != nil {
			return nil, err
		}
	}
	var cert *x509.Certificate
	if block, _ := pem.Decode(data); block == nil && args.Content == nil {
		cert, err = x509.ParseCertificate(data)
	} else {
		cert, err = parseCertificate(data)
	}
	if err != nil {
		return nil, Failf("%v", err)
	}
	info, err := certificateInfo(cert, false, now)
	if err != nil {
		return nil, Failf("%v", err)
	}
	valid := value.NewDict()
	for k := range args.ValidAt.All() {
		at := times[value.Str(k)]
		valid.Set(value.Str(k), !at.Before(cert.NotBefore) && !at.After(cert.NotAfter))
	}
	info.Set("valid_at", valid)
	out := NewResult(false)
	out.Update(info)
	return out, nil
}
