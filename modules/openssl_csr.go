//go:build !plain

package modules

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // key identifiers are made with it
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"slices"
	"strconv"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// crlPoint is a place where revocations are listed.
type crlPoint struct {
	FullName     []string `arg:"full_name" doc:"where the list is"`
	RelativeName []string `arg:"relative_name" doc:"not supported"`
	Issuer       []string `arg:"crl_issuer" doc:"names of its issuer"`
	Reasons      []string `arg:"reasons,choices=key_compromise|ca_compromise|affiliation_changed|superseded|cessation_of_operation|certificate_hold|privilege_withdrawn|aa_compromise" doc:"the reasons that it lists"`
}

// csrOptions are the arguments that describe a request.
type csrOptions struct {
	Digest             string        `arg:"digest,default=sha256" doc:"the signature's hash"`
	KeyPath            *string       `arg:"privatekey_path,type=path" doc:"the private key's file"`
	KeyContent         *string       `arg:"privatekey_content,nolog" doc:"the private key itself"`
	KeyPassphrase      *string       `arg:"privatekey_passphrase,nolog" doc:"what it is encrypted with"`
	Version            int           `arg:"version,default=1,choices=1" doc:"1"`
	Subject            *value.Dict   `arg:"subject" doc:"parts of the subject by name"`
	SubjectOrdered     []*value.Dict `arg:"subject_ordered" doc:"the subject's parts in order"`
	Country            string        `arg:"country_name,aliases=C|countryName" doc:"part of the subject"`
	Province           string        `arg:"state_or_province_name,aliases=ST|stateOrProvinceName" doc:"part of the subject"`
	Locality           string        `arg:"locality_name,aliases=L|localityName" doc:"part of the subject"`
	Organization       string        `arg:"organization_name,aliases=O|organizationName" doc:"part of the subject"`
	Unit               string        `arg:"organizational_unit_name,aliases=OU|organizationalUnitName" doc:"part of the subject"`
	CommonName         string        `arg:"common_name,aliases=CN|commonName" doc:"part of the subject"`
	Email              string        `arg:"email_address,aliases=E|emailAddress" doc:"part of the subject"`
	AltName            []string      `arg:"subject_alt_name,aliases=subjectAltName" doc:"further names, as DNS:example.com"`
	AltNameCritical    bool          `arg:"subject_alt_name_critical,default=no,aliases=subjectAltName_critical" doc:"whether the extension is critical"`
	NameForSAN         bool          `arg:"use_common_name_for_san,default=yes,aliases=useCommonNameForSAN" doc:"where there is no subject_alt_name, use common_name"`
	KeyUsage           []string      `arg:"key_usage,aliases=keyUsage" doc:"what the key is for"`
	KeyUsageCritical   bool          `arg:"key_usage_critical,default=no,aliases=keyUsage_critical" doc:"whether the extension is critical"`
	ExtUsage           []string      `arg:"extended_key_usage,aliases=extKeyUsage|extendedKeyUsage" doc:"what the key is for, in more detail"`
	ExtUsageCritical   bool          `arg:"extended_key_usage_critical,default=no,aliases=extKeyUsage_critical|extendedKeyUsage_critical" doc:"whether the extension is critical"`
	Constraints        []string      `arg:"basic_constraints,aliases=basicConstraints" doc:"CA:TRUE, pathlen:0"`
	ConstrCritical     bool          `arg:"basic_constraints_critical,default=no,aliases=basicConstraints_critical" doc:"whether the extension is critical"`
	MustStaple         bool          `arg:"ocsp_must_staple,default=no,aliases=ocspMustStaple" doc:"the server must staple OCSP answers"`
	MustStapleCritical bool          `arg:"ocsp_must_staple_critical,default=no,aliases=ocspMustStaple_critical" doc:"whether the extension is critical"`
	Permitted          []string      `arg:"name_constraints_permitted" doc:"names that a CA may sign for"`
	Excluded           []string      `arg:"name_constraints_excluded" doc:"names that it must not sign for"`
	LimitsCritical     bool          `arg:"name_constraints_critical,default=no" doc:"whether the extension is critical"`
	CreateSKI          bool          `arg:"create_subject_key_identifier,default=no" doc:"add the key's identifier"`
	SKI                *string       `arg:"subject_key_identifier" doc:"the key's identifier in hexadecimal digits"`
	AKI                *string       `arg:"authority_key_identifier" doc:"the authority's key in hexadecimal digits"`
	AuthorityIssuer    []string      `arg:"authority_cert_issuer" doc:"names of the authority's issuer"`
	AuthoritySerial    *int          `arg:"authority_cert_serial_number" doc:"the authority's serial number"`
	CRLPoints          []crlPoint    `arg:"crl_distribution_points" doc:"where revocations are listed"`
	Backend            string        `arg:"select_crypto_backend,default=auto,choices=auto|cryptography" doc:"accepted and without effect"`
}

func csrRules() argspec.Rules {
	return argspec.Rules{
		RequiredTogether:  [][]string{{"authority_cert_issuer", "authority_cert_serial_number"}},
		MutuallyExclusive: [][]string{{"privatekey_path", "privatekey_content"}, {"subject", "subject_ordered"}},
	}
}

// csrArgs are the arguments of openssl_csr.
type csrArgs struct {
	csrOptions
	State         string `arg:"state,default=present,choices=absent|present" doc:"whether the request shall exist"`
	Force         bool   `arg:"force,default=no" doc:"make a new request"`
	Path          string `arg:"path,required,type=path" doc:"the request's file"`
	Backup        bool   `arg:"backup,default=no" doc:"keep the old request"`
	ReturnContent bool   `arg:"return_content,default=no" doc:"return the request"`
	fileArgs
}

// Rules relates the arguments.
func (csrArgs) Rules() argspec.Rules {
	r := csrRules()
	r.RequiredIf = []argspec.RequiredIf{{Name: "state", Value: "present", Needs: []string{"privatekey_path", "privatekey_content"}, Any: true}}
	return r
}

func opensslCSR() Module {
	return Define("openssl_csr", "Make certificate signing requests", runCSR).In("community.crypto")
}

// csrPipeArgs are the arguments of openssl_csr_pipe.
type csrPipeArgs struct {
	csrOptions
	Content *string `arg:"content" doc:"the request that there is"`
}

// Rules relates the arguments.
func (csrPipeArgs) Rules() argspec.Rules {
	r := csrRules()
	r.RequiredOneOf = [][]string{{"privatekey_path", "privatekey_content"}}
	return r
}

func opensslCSRPipe() Module {
	return Define("openssl_csr_pipe", "Make certificate signing requests without a file", runCSRPipe).In("community.crypto")
}

// csrRun is one run of openssl_csr or openssl_csr_pipe.
type csrRun struct {
	*Call
	args    *csrOptions
	subject []nameEntry
	shown   *value.List // the subject as it was given
	alt     []string
	wanted  extensions
	key     *cryptoKey
	have    []byte // nil: there is none
	now     []byte // what was made
}

func newCSRRun(c *Call, args *csrOptions) (*csrRun, error) {
	r := &csrRun{Call: c, args: args, shown: value.NewList(), alt: args.AltName}
	if args.CreateSKI && args.SKI != nil {
		return nil, Failf("subject_key_identifier cannot be specified if create_subject_key_identifier is true")
	}
	if err := r.readSubject(); err != nil {
		return nil, err
	}
	if len(r.alt) == 0 && args.NameForSAN {
		for _, e := range r.subject {
			if e.oid.String() == "2.5.4.3" {
				r.alt = []string{"DNS:" + e.text}
				break
			}
		}
	}
	return r, nil
}

func runCSR(c *Call, args *csrArgs) (*Result, error) {
	f := &cryptoFile{Call: c, path: args.Path, files: &args.fileArgs, backup: args.Backup}
	if err := f.checkFolder(); err != nil {
		return nil, err
	}
	r, err := newCSRRun(c, &args.csrOptions)
	if err != nil {
		return nil, err
	}
	if r.have, err = f.read(); err != nil {
		return nil, err
	}
	changed := false
	if args.State == "absent" {
		r.have = nil
		changed, err = f.remove()
	} else {
		changed, err = r.keep(f, args.Force)
	}
	if err != nil {
		return nil, err
	}
	return f.finish(r.result(changed, args.ReturnContent)), nil
}

func (r *csrRun) keep(f *cryptoFile, force bool) (bool, error) {
	stale, err := r.stale()
	if err != nil {
		return false, err
	}
	stale = stale || force
	if stale && !r.Check {
		if err := r.make(); err != nil {
			return false, err
		}
		if err := f.write(r.now, 0); err != nil {
			return false, err
		}
	}
	dressed, err := f.attributes()
	return stale || dressed, err
}

func runCSRPipe(c *Call, args *csrPipeArgs) (*Result, error) {
	r, err := newCSRRun(c, &args.csrOptions)
	if err != nil {
		return nil, err
	}
	if args.Content != nil {
		r.have = []byte(*args.Content)
	}
	stale, err := r.stale()
	if err == nil && stale && !c.Check {
		err = r.make()
	}
	if err != nil {
		return nil, err
	}
	return r.result(stale, true), nil
}

// readSubject collects the subject's parts.
func (r *csrRun) readSubject() error {
	a := r.args
	for _, part := range []struct{ name, text string }{{"C", a.Country}, {"ST", a.Province}, {"L", a.Locality}, {"O", a.Organization},
		{"OU", a.Unit}, {"CN", a.CommonName}, {"emailAddress", a.Email}} {
		if part.text == "" {
			continue
		}
		if err := r.addSubject(part.name, part.text); err != nil {
			return err
		}
	}
	if err := r.addParts(a.Subject, "subject"); err != nil {
		return err
	}
	if len(a.SubjectOrdered) > 0 && len(r.subject) > 0 {
		return Failf("subject_ordered cannot be combined with any other subject field")
	}
	for i, part := range a.SubjectOrdered {
		if part.Len() != 1 {
			return Failf("Entry #%d in subject_ordered must be a dictionary with exactly one key-value pair", i+1)
		}
		if err := r.addParts(part, "subject_ordered"); err != nil {
			return Failf("Error while processing entry #%d in subject_ordered: %v", i+1, err)
		}
	}
	return nil
}

func (r *csrRun) addParts(parts *value.Dict, what string) error {
	for k, v := range parts.All() {
		name := value.Str(k)
		texts, ok := v.(*value.List)
		if !ok {
			texts = value.NewList(v)
		}
		for _, item := range texts.Items {
			text, isText := item.(string)
			switch {
			case !isText:
				return Failf("Value for %s in %s must be either a string or a list of strings", name, what)
			case text == "" && ok:
				return Failf("Values for %s in %s must not be empty strings", name, "{name}")
			case text == "":
				return Failf("Value for %s in %s must not be an empty string", name, "{name}")
			}
			if err := r.addSubject(name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *csrRun) addSubject(name, text string) error {
	oid, err := oidOf(name)
	r.subject = append(r.subject, nameEntry{oid, text})
	r.shown.Append(value.NewList(name, text))
	return err
}

// loadKey loads the private key and computes the extensions.
func (r *csrRun) loadKey() error {
	if r.key != nil {
		return nil
	}
	var err error
	if r.key, err = r.privateKeyFrom(textOf(r.args.KeyPath), r.args.KeyContent, r.args.KeyPassphrase); err != nil {
		return err
	}
	r.wanted, err = r.extensions()
	return err
}

// stale tells whether a new request must be made.
func (r *csrRun) stale() (bool, error) {
	if r.have == nil {
		return true, nil
	}
	csr, err := parseRequest(r.have)
	if err != nil {
		return true, nil
	}
	if err := r.loadKey(); err != nil {
		return false, err
	}
	_, mine := publicPEM(r.key.public())
	_, theirs := publicPEM(csr.PublicKey)
	return !r.sameSubject(csr) || !sameExtensions(r.wanted, csr.Extensions) || csr.CheckSignature() != nil || !bytes.Equal(mine, theirs), nil
}

func (r *csrRun) sameSubject(csr *x509.CertificateRequest) bool {
	have, err := decodeName(csr.RawSubject)
	if err != nil {
		return false
	}
	texts := func(entries []nameEntry) []string {
		var out []string
		for _, e := range entries {
			out = append(out, e.oid.String()+"="+e.text)
		}
		return out
	}
	if len(r.args.SubjectOrdered) > 0 {
		return slices.Equal(texts(r.subject), texts(have))
	}
	return sameSet(texts(r.subject), texts(have))
}

// sameExtensions compares those that the modules know; the order of names does
// not matter.
func sameExtensions(want, have extensions) bool {
	for _, oid := range []string{altNameOID, keyUsageOID, extendedUsageOID, constraintsOID, tlsFeatureOID, nameLimitsOID, subjectKeyOID, authorityKeyOID, crlPointsOID} {
		w, h := want.find(oid), have.find(oid)
		if w == nil || h == nil {
			if w != h {
				return false
			}
			continue
		}
		if w.Critical != h.Critical || !sameExtension(oid, w.Value, h.Value) {
			return false
		}
	}
	return true
}

func sameExtension(oid string, a, b []byte) bool {
	switch oid {
	case altNameOID:
		return sameSet(decodeNames(a), decodeNames(b))
	case extendedUsageOID:
		return sameSet(decodeExtendedUsage(a), decodeExtendedUsage(b))
	case constraintsOID:
		return slices.Equal(decodeConstraints(a), decodeConstraints(b))
	case nameLimitsOID:
		permitted1, excluded1 := decodeNameLimits(a)
		permitted2, excluded2 := decodeNameLimits(b)
		return sameSet(permitted1, permitted2) && sameSet(excluded1, excluded2)
	}
	return bytes.Equal(a, b)
}

// extension encodes one extension.
func extension(oid string, critical bool, content any) (pkix.Extension, error) {
	id, err := parseOID(oid)
	if err != nil {
		return pkix.Extension{}, err
	}
	der, isDER := content.([]byte)
	if !isDER {
		der, err = asn1.Marshal(content)
	}
	return pkix.Extension{Id: id, Critical: critical, Value: der}, err
}

// extensions are those that the arguments ask for.
func (r *csrRun) extensions() (extensions, error) {
	a := r.args
	var out extensions
	var failed error
	add := func(wanted bool, oid string, critical bool, content func() (any, error)) {
		if !wanted || failed != nil {
			return
		}
		v, err := content()
		if err == nil {
			var ext pkix.Extension
			ext, err = extension(oid, critical, v)
			out = append(out, ext)
		}
		failed = err
	}
	add(len(r.alt) > 0, altNameOID, a.AltNameCritical, func() (any, error) { return generalNames(r.alt, "Subject Alternative Name") })
	add(len(a.KeyUsage) > 0, keyUsageOID, a.KeyUsageCritical, func() (any, error) { return encodeKeyUsage(a.KeyUsage) })
	add(len(a.ExtUsage) > 0, extendedUsageOID, a.ExtUsageCritical, func() (any, error) { return encodeExtendedUsage(a.ExtUsage) })
	add(len(a.Constraints) > 0, constraintsOID, a.ConstrCritical, func() (any, error) { return encodeConstraints(a.Constraints) })
	add(a.MustStaple, tlsFeatureOID, a.MustStapleCritical, func() (any, error) { return []int{5}, nil })
	add(len(a.Permitted)+len(a.Excluded) > 0, nameLimitsOID, a.LimitsCritical, r.nameLimits)
	add(a.CreateSKI, subjectKeyOID, false, func() (any, error) { return asn1.Marshal(publicKeyID(r.key.public())) })
	add(a.SKI != nil, subjectKeyOID, false, func() (any, error) {
		id, err := hexID(*a.SKI, "subject_key_identifier")
		if err != nil {
			return nil, err
		}
		return asn1.Marshal(id)
	})
	add(a.AKI != nil || a.AuthorityIssuer != nil || a.AuthoritySerial != nil, authorityKeyOID, false, r.authority)
	add(len(a.CRLPoints) > 0, crlPointsOID, false, r.crlPoints)
	return out, failed
}

func generalNames(texts []string, what string) ([]asn1.RawValue, error) {
	var out []asn1.RawValue
	for _, text := range texts {
		name, err := generalName(text, what)
		if err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}

func encodeKeyUsage(texts []string) (any, error) {
	short := []string{"digitalSignature", "nonRepudiation", "keyEncipherment", "dataEncipherment", "keyAgreement", "keyCertSign", "cRLSign", "encipherOnly", "decipherOnly"}
	bits, length := make([]byte, 2), 0
	for _, text := range texts {
		i := max(slices.Index(keyUsages(), text), slices.Index(short, text))
		if i < 0 {
			return nil, Failf("Unknown key usage \"%s\"", text)
		}
		bits[i/8] |= 0x80 >> (i % 8)
		length = max(length, i+1)
	}
	return asn1.BitString{Bytes: bits[:(length+7)/8], BitLength: length}, nil
}

func encodeExtendedUsage(texts []string) (any, error) {
	var oids []asn1.ObjectIdentifier
	for _, text := range texts {
		oid, err := oidOf(text)
		if err != nil {
			return nil, err
		}
		oids = append(oids, oid)
	}
	return oids, nil
}

func encodeConstraints(texts []string) (any, error) {
	c := derConstraints{PathLen: -1}
	for _, text := range texts {
		name, rest, _ := strings.Cut(text, ":")
		switch {
		case text == "CA:TRUE", text == "CA:FALSE":
			c.CA = rest == "TRUE"
		case name == "CA":
			return nil, Failf("Unknown basic constraint value \"%s\" for CA", rest)
		case name == "pathlen":
			n, err := strconv.Atoi(rest)
			if err != nil {
				return nil, Failf("Cannot parse path length constraint \"%s\" (invalid literal for int() with base 10: %s)", rest, value.Repr(rest))
			}
			c.PathLen = n
		default:
			return nil, Failf("Unknown basic constraint \"%s\"", text)
		}
	}
	return c, nil
}

func (r *csrRun) nameLimits() (any, error) {
	trees := func(texts []string, what string) ([]derSubtree, error) {
		names, err := generalNames(texts, what)
		var out []derSubtree
		for _, name := range names {
			out = append(out, derSubtree{name})
		}
		return out, err
	}
	permitted, err := trees(r.args.Permitted, "name constraints permitted")
	if err != nil {
		return nil, err
	}
	excluded, err := trees(r.args.Excluded, "name constraints excluded")
	return derNameLimits{permitted, excluded}, err
}

// publicKeyID is a public key's identifier by RFC 5280's first method.
func publicKeyID(public crypto.PublicKey) []byte {
	_, der := publicPEM(public)
	var info struct {
		Algorithm derAlgorithm
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return nil
	}
	sum := sha1.Sum(info.Key.Bytes)
	return sum[:]
}

func hexID(text, what string) ([]byte, error) {
	id, err := hex.DecodeString(strings.ReplaceAll(text, ":", ""))
	if errors.Is(err, hex.ErrLength) {
		return nil, Failf("Cannot parse %s: Odd-length string", what)
	}
	if err != nil {
		return nil, Failf("Cannot parse %s: Non-hexadecimal digit found", what)
	}
	return id, nil
}

func (r *csrRun) authority() (any, error) {
	var out derAuthority
	var err error
	if r.args.AKI != nil {
		if out.KeyID, err = hexID(*r.args.AKI, "authority_key_identifier"); err != nil {
			return nil, err
		}
	}
	if r.args.AuthorityIssuer != nil {
		if out.Issuer, err = generalNames(r.args.AuthorityIssuer, "authority cert issuer"); err != nil {
			return nil, err
		}
	}
	if r.args.AuthoritySerial != nil {
		der, err := asn1.Marshal(*r.args.AuthoritySerial)
		if err != nil {
			return nil, err
		}
		var raw asn1.RawValue
		if _, err := asn1.Unmarshal(der, &raw); err != nil {
			return nil, err
		}
		out.Serial = asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 2, Bytes: raw.Bytes}
	}
	return out, nil
}

// derPoint is one of the places where revocations are listed.
type derPoint struct {
	Name    derPointName    `asn1:"optional,tag:0"`
	Reasons asn1.BitString  `asn1:"optional,tag:1"`
	Issuer  []asn1.RawValue `asn1:"optional,tag:2"`
}

type derPointName struct {
	FullName []asn1.RawValue `asn1:"optional,tag:0"`
}

func (r *csrRun) crlPoints() (any, error) {
	reasons := []string{"", "key_compromise", "ca_compromise", "affiliation_changed", "superseded", "cessation_of_operation", "certificate_hold", "privilege_withdrawn", "aa_compromise"}
	var out []derPoint
	for i, p := range r.args.CRLPoints {
		if p.RelativeName != nil {
			return nil, Failf("cannot use relative_name of CRL distribution point #%d: only full_name and crl_issuer are supported", i)
		}
		var point derPoint
		var err error
		if point.Name.FullName, err = generalNames(p.FullName, "full name"); err != nil {
			return nil, Failf("Error while parsing CRL distribution point #%d: %v", i, err)
		}
		if point.Issuer, err = generalNames(p.Issuer, "CRL issuer"); err != nil {
			return nil, Failf("Error while parsing CRL distribution point #%d: %v", i, err)
		}
		if len(p.Reasons) > 0 {
			bits, length := make([]byte, 2), 0
			for _, reason := range p.Reasons {
				at := slices.Index(reasons, reason)
				bits[at/8] |= 0x80 >> (at % 8)
				length = max(length, at+1)
			}
			point.Reasons = asn1.BitString{Bytes: bits[:(length+7)/8], BitLength: length}
		}
		out = append(out, point)
	}
	return out, nil
}

// signer is a private key that can sign, and the algorithm for a hash.
func (k *cryptoKey) signer(digest string) (crypto.Signer, x509.SignatureAlgorithm, error) {
	kind, _, _ := keyKind(k.public())
	if kind == "Ed25519" {
		return k.private.(crypto.Signer), x509.PureEd25519, nil
	}
	algorithms := map[string]map[string]x509.SignatureAlgorithm{
		"RSA": {"sha1": x509.SHA1WithRSA, "sha256": x509.SHA256WithRSA, "sha384": x509.SHA384WithRSA, "sha512": x509.SHA512WithRSA},
		"ECC": {"sha1": x509.ECDSAWithSHA1, "sha256": x509.ECDSAWithSHA256, "sha384": x509.ECDSAWithSHA384, "sha512": x509.ECDSAWithSHA512},
	}
	signer, ok := k.private.(crypto.Signer)
	if !ok {
		return nil, 0, Failf("cannot sign with a key of type %q", kind)
	}
	algorithm, ok := algorithms[kind][digest]
	if !ok {
		return nil, 0, Failf("The digest %s is not supported with the cryptography backend", digest)
	}
	return signer, algorithm, nil
}

// make makes the request.
func (r *csrRun) make() error {
	if err := r.loadKey(); err != nil {
		return err
	}
	signer, algorithm, err := r.key.signer(r.args.Digest)
	if err != nil {
		return Failf("Unsupported digest \"%s\"", r.args.Digest)
	}
	subject, err := encodeName(r.subject)
	if err != nil {
		return Failf("Error while creating CSR: %v", err)
	}
	template := &x509.CertificateRequest{RawSubject: subject, ExtraExtensions: r.wanted, SignatureAlgorithm: algorithm}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, signer)
	if err != nil {
		return Failf("Error while creating CSR: %v", err)
	}
	r.now = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	return nil
}

// requestDiff is a request in the diff.
func requestDiff(data []byte) *value.Dict {
	if data == nil {
		return value.NewDict()
	}
	csr, err := parseRequest(data)
	if err != nil {
		return value.DictOf("can_parse_csr", false)
	}
	info, err := requestInfo(csr, true)
	if err != nil {
		return value.DictOf("can_parse_csr", false)
	}
	info.Set("can_parse_csr", true)
	return info
}

func (r *csrRun) result(changed, content bool) *Result {
	a := r.args
	data := r.have
	if r.now != nil {
		data = r.now
	}
	limits := func(texts []string) *value.List { return stringList(texts) }
	out := NewResult(changed).With("privatekey", textOrNil(a.KeyPath)).With("subject", r.shown).With("subjectAltName", givenTexts(r.alt)).
		With("keyUsage", givenTexts(a.KeyUsage)).With("extendedKeyUsage", givenTexts(a.ExtUsage)).With("basicConstraints", givenTexts(a.Constraints)).
		With("ocspMustStaple", a.MustStaple).With("name_constraints_permitted", limits(a.Permitted)).With("name_constraints_excluded", limits(a.Excluded))
	if content {
		out.Set("csr", nil)
		if data != nil {
			out.Set("csr", string(data))
		}
	}
	out.Set("diff", value.DictOf("before", requestDiff(r.have), "after", requestDiff(data)))
	return out
}
