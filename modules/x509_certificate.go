//go:build !plain

package modules

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"play/modules/argspec"
	"play/modules/value"
)

// certificateOptions are the arguments that describe a certificate.
type certificateOptions struct {
	Provider         string  `arg:"provider,choices=acme|entrust|ownca|selfsigned" doc:"who signs it"`
	Force            bool    `arg:"force,default=no" doc:"make a new certificate"`
	CSRPath          *string `arg:"csr_path,type=path" doc:"the request's file"`
	CSRContent       *string `arg:"csr_content" doc:"the request itself"`
	IgnoreTimestamps bool    `arg:"ignore_timestamps,default=yes" doc:"another time of validity alone is no reason for a new certificate"`
	Backend          string  `arg:"select_crypto_backend,default=auto,choices=auto|cryptography" doc:"accepted and without effect"`
	KeyPath          *string `arg:"privatekey_path,type=path" doc:"the private key's file"`
	KeyContent       *string `arg:"privatekey_content,nolog" doc:"the private key itself"`
	KeyPassphrase    *string `arg:"privatekey_passphrase,nolog" doc:"what it is encrypted with"`

	SelfVersion int    `arg:"selfsigned_version,default=3" doc:"3"`
	SelfDigest  string `arg:"selfsigned_digest,default=sha256" doc:"the signature's hash"`
	SelfBefore  string `arg:"selfsigned_not_before,default=+0s,aliases=selfsigned_notBefore" doc:"valid from, as +1d or 20300101000000Z"`
	SelfAfter   string `arg:"selfsigned_not_after,default=+3650d,aliases=selfsigned_notAfter" doc:"valid until"`
	SelfSKI     string `arg:"selfsigned_create_subject_key_identifier,default=create_if_not_provided,choices=create_if_not_provided|always_create|never_create" doc:"whether the key's identifier is added"`

	CAPath       *string `arg:"ownca_path,type=path" doc:"the authority's certificate"`
	CAContent    *string `arg:"ownca_content" doc:"the authority's certificate itself"`
	CAKeyPath    *string `arg:"ownca_privatekey_path,type=path" doc:"the authority's private key"`
	CAKeyContent *string `arg:"ownca_privatekey_content,nolog" doc:"the authority's private key itself"`
	CAPassphrase *string `arg:"ownca_privatekey_passphrase,nolog" doc:"what it is encrypted with"`
	CADigest     string  `arg:"ownca_digest,default=sha256" doc:"the signature's hash"`
	CAVersion    int     `arg:"ownca_version,default=3" doc:"3"`
	CABefore     string  `arg:"ownca_not_before,default=+0s" doc:"valid from"`
	CAAfter      string  `arg:"ownca_not_after,default=+3650d" doc:"valid until"`
	CASKI        string  `arg:"ownca_create_subject_key_identifier,default=create_if_not_provided,choices=create_if_not_provided|always_create|never_create" doc:"whether the key's identifier is added"`
	CAAKI        bool    `arg:"ownca_create_authority_key_identifier,default=yes" doc:"whether the authority's key is named"`

	EntrustType  string  `arg:"entrust_cert_type,default=STANDARD_SSL,choices=STANDARD_SSL|ADVANTAGE_SSL|UC_SSL|EV_SSL|WILDCARD_SSL|PRIVATE_SSL|PD_SSL|CDS_ENT_LITE|CDS_ENT_PRO|SMIME_ENT" doc:"not supported"`
	EntrustName  *string `arg:"entrust_requester_name" doc:"not supported"`
	EntrustEmail *string `arg:"entrust_requester_email" doc:"not supported"`
	EntrustPhone *string `arg:"entrust_requester_phone" doc:"not supported"`
	EntrustUser  *string `arg:"entrust_api_user" doc:"not supported"`
	EntrustKey   *string `arg:"entrust_api_key,nolog" doc:"not supported"`
	EntrustCert  *string `arg:"entrust_api_client_cert_path,type=path" doc:"not supported"`
	EntrustCKey  *string `arg:"entrust_api_client_cert_key_path,type=path,nolog" doc:"not supported"`
	EntrustSpec  string  `arg:"entrust_api_specification_path,type=path,default=https://cloud.entrust.net/EntrustCloud/documentation/cms-api-2.1.0.yaml" doc:"not supported"`
	EntrustAfter string  `arg:"entrust_not_after,default=+365d" doc:"not supported"`
}

func certificateRules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"csr_path", "csr_content"}, {"privatekey_path", "privatekey_content"},
		{"ownca_path", "ownca_content"}, {"ownca_privatekey_path", "ownca_privatekey_content"}}}
}

// certificateArgs are the arguments of x509_certificate.
type certificateArgs struct {
	certificateOptions
	State         string  `arg:"state,default=present,choices=present|absent" doc:"whether the certificate shall exist"`
	Path          string  `arg:"path,required,type=path" doc:"the certificate's file"`
	Backup        bool    `arg:"backup,default=no" doc:"keep the old certificate"`
	ReturnContent bool    `arg:"return_content,default=no" doc:"return the certificate"`
	AcmeAccount   *string `arg:"acme_accountkey_path,type=path" doc:"the account's key"`
	AcmeChallenge *string `arg:"acme_challenge_path,type=path" doc:"where the challenge is served from"`
	AcmeChain     bool    `arg:"acme_chain,default=no" doc:"also the intermediate certificates"`
	AcmeDirectory string  `arg:"acme_directory,default=https://acme-v02.api.letsencrypt.org/directory" doc:"the authority"`
	fileArgs
}

// Rules relates the arguments.
func (certificateArgs) Rules() argspec.Rules {
	r := certificateRules()
	r.RequiredIf = []argspec.RequiredIf{{Name: "state", Value: "present", Needs: []string{"provider"}}}
	return r
}

func x509Certificate() Module {
	return Define("x509_certificate", "Make certificates", runCertificate).
		In("community.crypto")
}

// certificateRun is one run of x509_certificate or x509_certificate_pipe.
type certificateRun struct {
	*Call
	args          *certificateOptions
	own           bool // signed by an authority of one's own
	before, after time.Time
	ski           string
	key           *cryptoKey               // nil: not given
	csr           *x509.CertificateRequest // nil: none
	ca            *x509.Certificate
	caKey         *cryptoKey
	serial        *big.Int
	have, now     []byte
}

func runCertificate(c *Call, args *certificateArgs) (*Result, error) {
	f := &cryptoFile{Call: c, path: args.Path, files: &args.fileArgs, backup: args.Backup}
	if args.State == "absent" {
		return args.absent(f)
	}
	if err := f.checkFolder(); err != nil {
		return nil, err
	}
	if args.Provider == "entrust" || args.Provider == "acme" {
		return nil, Failf("cannot make a certificate with the provider %q: only selfsigned and ownca are supported", args.Provider)
	}
	r, err := newCertificateRun(c, &args.certificateOptions)
	if err != nil {
		return nil, err
	}
	if r.have, err = f.read(); err != nil {
		return nil, err
	}
	stale, err := r.stale()
	if err != nil {
		return nil, err
	}
	if stale && !c.Check {
		if err := r.make(); err != nil {
			return nil, err
		}
		if err := f.write(r.now, 0); err != nil {
			return nil, err
		}
	}
	dressed, err := f.attributes()
	if err != nil {
		return nil, err
	}
	out, err := r.result(stale || dressed, args.ReturnContent)
	if err != nil {
		return nil, err
	}
	return f.finish(out), nil
}

func (a *certificateArgs) absent(f *cryptoFile) (*Result, error) {
	changed, err := f.remove()
	if err != nil {
		return nil, err
	}
	out := NewResult(changed).With("privatekey", textOrNil(a.KeyPath)).With("csr", textOrNil(a.CSRPath))
	if a.ReturnContent {
		out.Set("certificate", nil)
	}
	return f.finish(out), nil
}

// certificatePipeArgs are the arguments of x509_certificate_pipe.
type certificatePipeArgs struct {
	certificateOptions
	Content *string `arg:"content" doc:"the certificate that there is"`
}

// Rules relates the arguments.
func (certificatePipeArgs) Rules() argspec.Rules { return certificateRules() }

func x509CertificatePipe() Module {
	return Define("x509_certificate_pipe", "Make certificates without a file", runCertificatePipe).In("community.crypto")
}

func runCertificatePipe(c *Call, args *certificatePipeArgs) (*Result, error) {
	if args.Provider != "selfsigned" && args.Provider != "ownca" {
		return nil, Failf("cannot make a certificate with the provider %q: only selfsigned and ownca are supported", args.Provider)
	}
	r, err := newCertificateRun(c, &args.certificateOptions)
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
	return r.result(stale, true)
}

func newCertificateRun(c *Call, args *certificateOptions) (*certificateRun, error) {
	r := &certificateRun{Call: c, args: args, own: args.Provider == "ownca", ski: args.SelfSKI}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 159))
	if err != nil {
		return nil, err
	}
	r.serial = serial
	if r.own {
		return r, r.prepareOwn()
	}
	return r, r.prepareSelf()
}

func (r *certificateRun) prepareSelf() error {
	a := r.args
	if a.KeyPath == nil && a.KeyContent == nil {
		return Failf("One of privatekey_path and privatekey_content must be specified for the selfsigned provider.")
	}
	if a.SelfVersion == 2 {
		return Failf("The cryptography backend does not support v2 certificates")
	}
	if err := r.times(a.SelfBefore, "selfsigned_not_before", a.SelfAfter, "selfsigned_not_after"); err != nil {
		return err
	}
	if a.CSRContent == nil && a.CSRPath != nil && !exists(r.abs(*a.CSRPath)) {
		return Failf("The certificate signing request file %s does not exist", *a.CSRPath)
	}
	if a.KeyContent == nil && !exists(r.abs(*a.KeyPath)) {
		return Failf("The private key file %s does not exist", *a.KeyPath)
	}
	if err := r.loadKey(); err != nil {
		return err
	}
	if err := r.loadRequest(); err != nil {
		return err
	}
	r.caKey = r.key
	_, _, err := r.key.signer(a.SelfDigest)
	if err != nil && r.csr == nil {
		return Failf("Unsupported digest \"%s\"", a.SelfDigest)
	}
	return err
}

func (r *certificateRun) prepareOwn() error {
	a := r.args
	r.ski = a.CASKI
	if a.CAPath == nil && a.CAContent == nil {
		return Failf("One of ownca_path and ownca_content must be specified for the ownca provider.")
	}
	if a.CAKeyPath == nil && a.CAKeyContent == nil {
		return Failf("One of ownca_privatekey_path and ownca_privatekey_content must be specified for the ownca provider.")
	}
	if a.CAVersion == 2 {
		return Failf("The cryptography backend does not support v2 certificates")
	}
	if err := r.times(a.CABefore, "ownca_not_before", a.CAAfter, "ownca_not_after"); err != nil {
		return err
	}
	if err := r.checkOwnFiles(); err != nil {
		return err
	}
	if err := r.loadRequest(); err != nil {
		return err
	}
	data, err := r.givenOrFile(a.CAContent, textOf(a.CAPath), "certificate")
	if err != nil {
		return err
	}
	if r.ca, err = parseCertificate(data); err != nil {
		return Failf("%v", err)
	}
	if r.caKey, err = r.privateKeyFrom(textOf(a.CAKeyPath), a.CAKeyContent, a.CAPassphrase); err != nil {
		return err
	}
	if !sameKey(r.ca.PublicKey, r.caKey.public()) {
		return Failf("The CA private key does not belong to the CA certificate")
	}
	_, _, err = r.caKey.signer(a.CADigest)
	return err
}

func (r *certificateRun) checkOwnFiles() error {
	a := r.args
	if a.CSRContent == nil && a.CSRPath == nil {
		return Failf("csr_path or csr_content is required for ownca provider")
	}
	for _, f := range []struct {
		content, path *string
		what          string
	}{{a.CSRContent, a.CSRPath, "certificate signing request"}, {a.CAContent, a.CAPath, "CA certificate"}, {a.CAKeyContent, a.CAKeyPath, "CA private key"}} {
		if f.content == nil && !exists(r.abs(*f.path)) {
			return Failf("The %s file %s does not exist", f.what, *f.path)
		}
	}
	return nil
}

func sameKey(a, b any) bool {
	_, x := publicPEM(a)
	_, y := publicPEM(b)
	return x != nil && bytes.Equal(x, y)
}

func (r *certificateRun) times(before, beforeName, after, afterName string) error {
	now := time.Now()
	var err error
	if r.before, err = timeOption(before, beforeName, now); err != nil {
		return err
	}
	r.after, err = timeOption(after, afterName, now)
	return err
}

var relativeTime = regexp.MustCompile(`^[+-](?:(\d+)[wW])?(?:(\d+)[dD])?(?:(\d+)[hH])?(?:(\d+)[mM])?(?:(\d+)[sS]?)?$`)

// timeOption reads +1w2d3h4m5s or 20300101000000Z.
func timeOption(text, name string, now time.Time) (time.Time, error) {
	if m := relativeTime.FindStringSubmatch(text); m != nil && len(text) > 1 {
		seconds := 0
		for i, unit := range []int{7 * 86400, 86400, 3600, 60, 1} {
			n, _ := strconv.Atoi(m[i+1]) // "" is none
			seconds += n * unit
		}
		if text[0] == '-' {
			seconds = -seconds
		}
		return now.UTC().Truncate(time.Second).Add(time.Duration(seconds) * time.Second), nil
	}
	for _, layout := range []string{asn1Time, "200601021504Z", "20060102150405-0700", "200601021504-0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, Failf("The time spec \"%s\" for %s is invalid", text, name)
}

func (r *certificateRun) loadKey() error {
	if r.key != nil || r.args.KeyPath == nil && r.args.KeyContent == nil {
		return nil
	}
	var err error
	r.key, err = r.privateKeyFrom(textOf(r.args.KeyPath), r.args.KeyContent, r.args.KeyPassphrase)
	return err
}

func (r *certificateRun) loadRequest() error {
	if r.args.CSRPath == nil && r.args.CSRContent == nil {
		return nil
	}
	data, err := r.givenOrFile(r.args.CSRContent, textOf(r.args.CSRPath), "CSR")
	if err != nil {
		return err
	}
	if r.csr, err = parseRequest(data); err != nil {
		return Failf("%v", err)
	}
	return nil
}

// stale tells whether a new certificate must be made.
func (r *certificateRun) stale() (bool, error) {
	if r.args.Force || r.have == nil {
		return true, nil
	}
	cert, err := parseCertificate(r.have)
	if err != nil {
		return true, nil
	}
	if err := r.loadKey(); err != nil {
		return false, err
	}
	switch {
	case r.key != nil && !sameKey(cert.PublicKey, r.key.public()):
		return true, nil
	case !r.fitsRequest(cert):
		return true, nil
	case r.ski != "never_create" && !bytes.Equal(extensions(cert.Extensions).subjectKey(), r.wantedSKI(cert.PublicKey)):
		return true, nil
	case !r.args.IgnoreTimestamps && (!cert.NotBefore.Equal(r.before) || !cert.NotAfter.Equal(r.after)):
		return true, nil
	}
	return !r.signed(cert), nil
}

// signed tells whether the certificate is signed as it would be now.
func (r *certificateRun) signed(cert *x509.Certificate) bool {
	signer := &x509.Certificate{PublicKey: r.caKey.public(), PublicKeyAlgorithm: algorithmOf(r.caKey)}
	if signer.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature) != nil {
		return false
	}
	if !r.own {
		return true
	}
	if !bytes.Equal(r.ca.RawSubject, cert.RawIssuer) {
		return false
	}
	if !r.args.CAAKI {
		return true
	}
	ext := extensions(cert.Extensions).find(authorityKeyOID)
	want, err := r.authorityExtension()
	return err == nil && ext != nil && bytes.Equal(ext.Value, want.Value)
}

func algorithmOf(k *cryptoKey) x509.PublicKeyAlgorithm {
	kind, _, _ := keyKind(k.public())
	return map[string]x509.PublicKeyAlgorithm{"RSA": x509.RSA, "ECC": x509.ECDSA, "Ed25519": x509.Ed25519}[kind]
}

// fitsRequest tells whether the certificate has what the request asks for.
func (r *certificateRun) fitsRequest(cert *x509.Certificate) bool {
	if r.csr == nil {
		return r.own || emptyName(cert.RawSubject) && len(r.kept(cert.Extensions)) == 0
	}
	if r.csr.CheckSignature() != nil || !sameKey(r.csr.PublicKey, cert.PublicKey) || !bytes.Equal(r.csr.RawSubject, cert.RawSubject) {
		return false
	}
	have, want := r.kept(cert.Extensions), r.kept(r.csr.Extensions)
	if len(have) != len(want) {
		return false
	}
	for _, h := range have {
		w := want.find(h.Id.String())
		if w == nil || w.Critical != h.Critical || !bytes.Equal(w.Value, h.Value) {
			return false
		}
	}
	return true
}

func emptyName(der []byte) bool {
	entries, err := decodeName(der)
	return err == nil && len(entries) == 0
}

// kept are the extensions without those that the module makes itself.
func (r *certificateRun) kept(all []pkix.Extension) extensions {
	var out extensions
	for _, ext := range all {
		oid := ext.Id.String()
		if oid == subjectKeyOID && r.ski != "never_create" || oid == authorityKeyOID && r.own && r.args.CAAKI {
			continue
		}
		out = append(out, ext)
	}
	return out
}

// wantedSKI is the key identifier that the certificate shall have.
func (r *certificateRun) wantedSKI(public any) []byte {
	if r.csr != nil && r.ski == "create_if_not_provided" {
		if id := extensions(r.csr.Extensions).subjectKey(); id != nil {
			return id
		}
	}
	return publicKeyID(public)
}

// authorityExtension names the authority's key.
func (r *certificateRun) authorityExtension() (pkix.Extension, error) {
	id := extensions(r.ca.Extensions).subjectKey()
	if id == nil {
		id = publicKeyID(r.ca.PublicKey)
	}
	return extension(authorityKeyOID, false, derAuthority{KeyID: id})
}

// make signs the certificate.
func (r *certificateRun) make() error {
	template := &x509.Certificate{SerialNumber: r.serial, NotBefore: r.before, NotAfter: r.after, RawSubject: []byte{0x30, 0}}
	public, digest := any(nil), r.args.SelfDigest
	if r.key != nil {
		public = r.key.public()
	}
	if r.csr != nil {
		template.RawSubject = r.csr.RawSubject
		template.ExtraExtensions = r.kept(r.csr.Extensions)
	}
	parent := &x509.Certificate{RawSubject: template.RawSubject}
	if r.own {
		public, digest = r.csr.PublicKey, r.args.CADigest
		parent.RawSubject = r.ca.RawSubject
	}
	if err := r.addKeyIDs(template, public); err != nil {
		return err
	}
	signer, algorithm, err := r.caKey.signer(digest)
	if err != nil {
		return err
	}
	template.SignatureAlgorithm = algorithm
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return Failf("cannot make the certificate: %s", strings.TrimPrefix(err.Error(), "x509: "))
	}
	r.now = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return nil
}

func (r *certificateRun) addKeyIDs(template *x509.Certificate, public any) error {
	if r.ski != "never_create" {
		der, err := asn1.Marshal(r.wantedSKI(public))
		if err != nil {
			return err
		}
		ext, err := extension(subjectKeyOID, false, der)
		if err != nil {
			return err
		}
		template.ExtraExtensions = append(template.ExtraExtensions, ext)
	}
	if !r.own || !r.args.CAAKI {
		return nil
	}
	ext, err := r.authorityExtension()
	template.ExtraExtensions = append(template.ExtraExtensions, ext)
	return err
}

// certificateDiff is a certificate in the diff.
func certificateDiff(data []byte) *value.Dict {
	if data == nil {
		return value.NewDict()
	}
	cert, err := parseCertificate(data)
	if err != nil {
		return value.DictOf("can_parse_certificate", false)
	}
	info, err := certificateInfo(cert, true, time.Now())
	if err != nil {
		return value.DictOf("can_parse_certificate", false)
	}
	info.Set("can_parse_certificate", true)
	return info
}

func (r *certificateRun) result(changed, content bool) (*Result, error) {
	a := r.args
	data := r.have
	if r.now != nil {
		data = r.now
	}
	out := NewResult(changed).With("privatekey", textOrNil(a.KeyPath)).With("csr", textOrNil(a.CSRPath))
	if content {
		out.Set("certificate", nil)
		if data != nil {
			out.Set("certificate", string(data))
		}
	}
	out.Set("diff", value.DictOf("before", certificateDiff(r.have), "after", certificateDiff(data)))
	if r.own {
		out.Set("ca_cert", textOrNil(a.CAPath))
		out.Set("ca_privatekey", textOrNil(a.CAKeyPath))
	}
	before, after, serial := r.before, r.after, r.serial
	if !r.Check {
		cert, err := parseCertificate(data)
		if err != nil {
			return nil, Failf("%v", err)
		}
		before, after, serial = cert.NotBefore.UTC(), cert.NotAfter.UTC(), cert.SerialNumber
	}
	return out.With("notBefore", before.Format(asn1Time)).With("notAfter", after.Format(asn1Time)).With("serial_number", value.Int(serial)), nil
}
