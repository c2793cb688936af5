//go:build !plain

package modules

import (
	"crypto"
	"crypto/md5" //nolint:gosec // fingerprints are asked for in all kinds
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"

	"play/modules/value"
)

// fingerprints are hashes by the name of the algorithm; one: SHA-256's only.
func fingerprints(der []byte, one bool) *value.Dict {
	sum256 := sha256.Sum256(der)
	out := value.DictOf("sha256", colons(sum256[:]))
	if one {
		return out
	}
	add := func(name string, sum []byte) { out.Set(name, colons(sum)) }
	md, s1, s224, s384, s512 := md5.Sum(der), sha1.Sum(der), sha256.Sum224(der), sha512.Sum384(der), sha512.Sum512(der)
	add("md5", md[:])
	add("sha1", s1[:])
	add("sha224", s224[:])
	add("sha384", s384[:])
	add("sha512", s512[:])
	b2b, b2s := blake2b.Sum512(der), blake2s.Sum256(der)
	add("blake2b", b2b[:])
	add("blake2s", b2s[:])
	t224, t256, t384, t512 := sha3.Sum224(der), sha3.Sum256(der), sha3.Sum384(der), sha3.Sum512(der)
	add("sha3_224", t224[:])
	add("sha3_256", t256[:])
	add("sha3_384", t384[:])
	add("sha3_512", t512[:])
	add("shake_128", sha3.SumSHAKE128(der, 32))
	add("shake_256", sha3.SumSHAKE256(der, 32))
	return out
}

// publicInfo adds what is known of the public key of a certificate or request.
func publicInfo(out *value.Dict, public crypto.PublicKey, one bool) {
	text, der := publicPEM(public)
	kind, _, _ := keyKind(public)
	out.Set("public_key", text)
	out.Set("public_key_type", kind)
	out.Set("public_key_data", publicData(public))
	out.Set("public_key_fingerprints", fingerprints(der, one))
}

// keyInfo is what openssl_privatekey_info tells of a key.
func keyInfo(data []byte, passphrase *string, one bool) (*value.Dict, error) {
	out := value.DictOf("can_parse_key", false, "key_is_consistent", nil)
	if keyFormat(data) == "raw" {
		return out, errWrongPassphrase
	}
	key, err := loadKey(data, passphrase, "")
	if err != nil {
		return out, err
	}
	public := key.public()
	text, der := publicPEM(public)
	kind, _, _ := keyKind(public)
	out.Set("can_parse_key", true)
	out.Set("public_key", text)
	out.Set("public_key_fingerprints", fingerprints(der, one))
	out.Set("type", kind)
	out.Set("public_data", publicData(public))
	return out, nil
}

// The extensions that the modules know.
const (
	subjectKeyOID    = "2.5.29.14"
	keyUsageOID      = "2.5.29.15"
	altNameOID       = "2.5.29.17"
	constraintsOID   = "2.5.29.19"
	nameLimitsOID    = "2.5.29.30"
	crlPointsOID     = "2.5.29.31"
	authorityKeyOID  = "2.5.29.35"
	extendedUsageOID = "2.5.29.37"
	authorityInfoOID = "1.3.6.1.5.5.7.1.1"
	tlsFeatureOID    = "1.3.6.1.5.5.7.1.24"
)

// extensions are those of a certificate or a request.
type extensions []pkix.Extension

func (e extensions) find(oid string) *pkix.Extension {
	for i := range e {
		if e[i].Id.String() == oid {
			return &e[i]
		}
	}
	return nil
}

// keyUsages are the names of the bits of key usage, in their order.
func keyUsages() []string {
	return []string{"Digital Signature", "Non Repudiation", "Key Encipherment", "Data Encipherment", "Key Agreement", "Certificate Sign", "CRL Sign", "Encipher Only", "Decipher Only"}
}

func decodeKeyUsage(der []byte) []string {
	var bits asn1.BitString
	if _, err := asn1.Unmarshal(der, &bits); err != nil {
		return nil
	}
	var out []string
	for i, name := range keyUsages() {
		if bits.At(i) == 1 && (i < 7 || bits.At(4) == 1) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func decodeExtendedUsage(der []byte) []string {
	var oids []asn1.ObjectIdentifier
	if _, err := asn1.Unmarshal(der, &oids); err != nil {
		return nil
	}
	var out []string
	for _, oid := range oids {
		out = append(out, oidName(oid, false))
	}
	slices.Sort(out)
	return out
}

// derConstraints is the extension of basic constraints.
type derConstraints struct {
	CA      bool `asn1:"optional"`
	PathLen int  `asn1:"optional,default:-1"`
}

func decodeConstraints(der []byte) []string {
	c := derConstraints{PathLen: -1}
	if _, err := asn1.Unmarshal(der, &c); err != nil {
		return nil
	}
	out := []string{"CA:FALSE"}
	if c.CA {
		out[0] = "CA:TRUE"
	}
	if c.PathLen >= 0 {
		out = append(out, fmt.Sprintf("pathlen:%d", c.PathLen))
	}
	return out
}

// decodeNames lists general names.
func decodeNames(der []byte) []string {
	var raws []asn1.RawValue
	if _, err := asn1.Unmarshal(der, &raws); err != nil {
		return nil
	}
	out := []string{}
	for _, raw := range raws {
		out = append(out, shownGeneralName(raw))
	}
	return out
}

// derSubtree is one of the name constraints.
type derSubtree struct{ Base asn1.RawValue }

// derNameLimits is the extension of name constraints.
type derNameLimits struct {
	Permitted []derSubtree `asn1:"optional,tag:0"`
	Excluded  []derSubtree `asn1:"optional,tag:1"`
}

func decodeNameLimits(der []byte) (permitted, excluded []string) {
	var limits derNameLimits
	if _, err := asn1.Unmarshal(der, &limits); err != nil {
		return nil, nil
	}
	shown := func(trees []derSubtree) []string {
		out := []string{}
		for _, t := range trees {
			out = append(out, shownGeneralName(t.Base))
		}
		return out
	}
	return shown(limits.Permitted), shown(limits.Excluded)
}

// derAuthority is the extension of the authority's key.
type derAuthority struct {
	KeyID  []byte          `asn1:"optional,tag:0"`
	Issuer []asn1.RawValue `asn1:"optional,tag:1"`
	Serial asn1.RawValue   `asn1:"optional,tag:2"`
}

// authorityInfo adds what the extension of the authority's key says.
func (e extensions) authorityInfo(out *value.Dict) {
	for _, key := range []string{"authority_key_identifier", "authority_cert_issuer", "authority_cert_serial_number"} {
		out.Set(key, nil)
	}
	ext := e.find(authorityKeyOID)
	if ext == nil {
		return
	}
	var a derAuthority
	if _, err := asn1.Unmarshal(ext.Value, &a); err != nil {
		return
	}
	if a.KeyID != nil {
		out.Set("authority_key_identifier", colons(a.KeyID))
	}
	if a.Issuer != nil {
		names := value.NewList()
		for _, raw := range a.Issuer {
			names.Append(shownGeneralName(raw))
		}
		out.Set("authority_cert_issuer", names)
	}
	if len(a.Serial.Bytes) > 0 {
		out.Set("authority_cert_serial_number", bigFromBytes(a.Serial.Bytes))
	}
}

// info adds what the info modules tell of extensions; limits: also of name
// constraints.
func (e extensions) info(out *value.Dict, limits bool) {
	list := func(name, oid string, decode func([]byte) []string) {
		out.Set(name, nil)
		out.Set(name+"_critical", false)
		if ext := e.find(oid); ext != nil {
			out.Set(name, stringList(decode(ext.Value)))
			out.Set(name+"_critical", ext.Critical)
		}
	}
	list("key_usage", keyUsageOID, decodeKeyUsage)
	list("extended_key_usage", extendedUsageOID, decodeExtendedUsage)
	list("basic_constraints", constraintsOID, decodeConstraints)
	list("subject_alt_name", altNameOID, decodeNames)
	out.Set("ocsp_must_staple", nil)
	out.Set("ocsp_must_staple_critical", false)
	if ext := e.find(tlsFeatureOID); ext != nil {
		var features []int
		_, err := asn1.Unmarshal(ext.Value, &features)
		out.Set("ocsp_must_staple", err == nil && slices.Contains(features, 5))
		out.Set("ocsp_must_staple_critical", ext.Critical)
	}
	if limits {
		e.limitsInfo(out)
	}
	out.Set("subject_key_identifier", nil)
	if id := e.subjectKey(); id != nil {
		out.Set("subject_key_identifier", colons(id))
	}
	e.authorityInfo(out)
	all := value.NewDict()
	for _, ext := range e {
		all.Set(ext.Id.String(), value.DictOf("critical", ext.Critical, "value", base64.StdEncoding.EncodeToString(ext.Value)))
	}
	out.Set("extensions_by_oid", all)
}

func (e extensions) limitsInfo(out *value.Dict) {
	out.Set("name_constraints_permitted", nil)
	out.Set("name_constraints_excluded", nil)
	out.Set("name_constraints_critical", false)
	if ext := e.find(nameLimitsOID); ext != nil {
		permitted, excluded := decodeNameLimits(ext.Value)
		out.Set("name_constraints_permitted", stringList(permitted))
		out.Set("name_constraints_excluded", stringList(excluded))
		out.Set("name_constraints_critical", ext.Critical)
	}
}

// subjectKey is the subject's key identifier, or nil.
func (e extensions) subjectKey() []byte {
	var id []byte
	if ext := e.find(subjectKeyOID); ext != nil {
		if _, err := asn1.Unmarshal(ext.Value, &id); err != nil {
			return nil
		}
	}
	return id
}

// pemContent is the first block of one of some types.
func pemContent(data []byte, types ...string) ([]byte, error) {
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			return nil, errors.New("Unable to load PEM file. See https://cryptography.io/en/latest/faq.html#why-can-t-i-import-my-pem-file for more details. MalformedFraming")
		}
		if slices.Contains(types, block.Type) {
			return block.Bytes, nil
		}
		data = rest
	}
}

func parseRequest(data []byte) (*x509.CertificateRequest, error) {
	der, err := pemContent(data, "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST")
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificateRequest(der)
}

func parseCertificate(data []byte) (*x509.Certificate, error) {
	der, err := pemContent(data, "CERTIFICATE", "X509 CERTIFICATE")
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// requestInfo is what openssl_csr_info tells.
func requestInfo(csr *x509.CertificateRequest, one bool) (*value.Dict, error) {
	out := value.NewDict()
	subject, ordered, err := shownName(csr.RawSubject)
	if err != nil {
		return nil, err
	}
	out.Set("subject", subject)
	out.Set("subject_ordered", ordered)
	extensions(csr.Extensions).info(out, true)
	publicInfo(out, csr.PublicKey, one)
	out.Set("signature_valid", csr.CheckSignature() == nil)
	return out, nil
}

const asn1Time = "20060102150405Z"

// certificateInfo is what x509_certificate_info tells.
func certificateInfo(cert *x509.Certificate, one bool, now time.Time) (*value.Dict, error) {
	out := value.NewDict()
	subject, subjectOrdered, err1 := shownName(cert.RawSubject)
	issuer, issuerOrdered, err2 := shownName(cert.RawIssuer)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	algorithm, err := signatureName(cert.Raw)
	if err != nil {
		return nil, err
	}
	out.Set("signature_algorithm", algorithm)
	out.Set("subject", subject)
	out.Set("subject_ordered", subjectOrdered)
	out.Set("issuer", issuer)
	out.Set("issuer_ordered", issuerOrdered)
	out.Set("version", cert.Version)
	extensions(cert.Extensions).info(out, false)
	out.Set("not_before", cert.NotBefore.UTC().Format(asn1Time))
	out.Set("not_after", cert.NotAfter.UTC().Format(asn1Time))
	out.Set("expired", cert.NotAfter.Before(now))
	publicInfo(out, cert.PublicKey, one)
	out.Set("fingerprints", fingerprints(cert.Raw, one))
	out.Set("serial_number", value.Int(cert.SerialNumber))
	out.Set("ocsp_uri", firstText(cert.OCSPServer))
	out.Set("issuer_uri", firstText(cert.IssuingCertificateURL))
	return out, nil
}

func firstText(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	return texts[0]
}

// signatureName is the name of a certificate's signature algorithm.
func signatureName(der []byte) (string, error) {
	var outer struct {
		Body      asn1.RawValue
		Algorithm derAlgorithm
		Signature asn1.BitString
	}
	_, err := asn1.Unmarshal(der, &outer)
	return oidName(outer.Algorithm.ID, false), err
}

// givenOrFile is the text of an argument, or the file that another one names.
func (c *Call) givenOrFile(content *string, path, what string) ([]byte, error) {
	if content != nil {
		return []byte(*content), nil
	}
	data, err := readFileIn(c, path)
	if err != nil {
		return nil, Failf("Error while reading %s file from disk: %s", what, osTextString(err, path))
	}
	return data, nil
}

// sameSet tells whether two lists hold the same texts.
func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return strings.Join(slices.Compact(a), "\x00") == strings.Join(slices.Compact(b), "\x00")
}
