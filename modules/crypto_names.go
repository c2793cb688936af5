//go:build !plain

package modules

import (
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"play/modules/value"
)

// oidNames lists object identifiers with their long name and further names,
// the short one last.
const oidNames = `2.5.4.3 commonName|CN
2.5.4.6 countryName|C
2.5.4.8 stateOrProvinceName|ST
2.5.4.7 localityName|L
2.5.4.10 organizationName|O
2.5.4.11 organizationalUnitName|OU
1.2.840.113549.1.9.1 emailAddress
2.5.4.5 serialNumber
0.9.2342.19200300.100.1.25 domainComponent|DC
2.5.4.42 givenName|GN
2.5.4.4 surname|SN
2.5.4.12 title
0.9.2342.19200300.100.1.1 userId|userID|UID
2.5.4.9 streetAddress|street
2.5.4.17 postalCode
2.5.4.65 pseudonym
2.5.4.46 dnQualifier
2.5.4.43 initials
2.5.4.41 name
2.5.4.44 generationQualifier
2.5.4.15 businessCategory
2.5.4.13 description
2.5.4.20 telephoneNumber
2.5.4.16 postalAddress
2.5.4.97 organizationIdentifier
2.5.4.45 x500UniqueIdentifier
1.2.840.113549.1.9.2 unstructuredName
1.2.840.113549.1.9.8 unstructuredAddress
1.3.6.1.4.1.311.60.2.1.3 jurisdictionCountryName|jurisdictionC
1.3.6.1.4.1.311.60.2.1.1 jurisdictionLocalityName|jurisdictionL
1.3.6.1.4.1.311.60.2.1.2 jurisdictionStateOrProvinceName|jurisdictionST
1.3.6.1.5.5.7.3.1 TLS Web Server Authentication|serverAuth
1.3.6.1.5.5.7.3.2 TLS Web Client Authentication|clientAuth
1.3.6.1.5.5.7.3.3 Code Signing|codeSigning
1.3.6.1.5.5.7.3.4 E-mail Protection|emailProtection
1.3.6.1.5.5.7.3.5 IPSec End System|ipsecEndSystem
1.3.6.1.5.5.7.3.6 IPSec Tunnel|ipsecTunnel
1.3.6.1.5.5.7.3.7 IPSec User|ipsecUser
1.3.6.1.5.5.7.3.8 Time Stamping|timeStamping
1.3.6.1.5.5.7.3.9 OCSP Signing|OCSPSigning
1.3.6.1.5.5.7.3.17 ipsec Internet Key Exchange|ipsecIKE
1.3.6.1.5.5.7.3.21 SSH Client|secureShellClient
1.3.6.1.5.5.7.3.22 SSH Server|secureShellServer
2.5.29.37.0 Any Extended Key Usage|anyExtendedKeyUsage
1.3.6.1.4.1.311.20.2.2 Microsoft Smartcardlogin|msSmartcardLogin
1.3.6.1.4.1.311.10.3.1 Microsoft Trust List Signing|msCTLSign
1.3.6.1.4.1.311.10.3.3 Microsoft Server Gated Crypto|msSGC
1.3.6.1.4.1.311.10.3.4 Microsoft Encrypted File System|msEFS
1.3.6.1.4.1.311.2.1.21 Microsoft Individual Code Signing|msCodeInd
1.3.6.1.4.1.311.2.1.22 Microsoft Commercial Code Signing|msCodeCom
2.16.840.1.113730.4.1 Netscape Server Gated Crypto|nsSGC
1.3.6.1.5.2.3.4 PKINIT Client Auth|pkInitClientAuth
1.3.6.1.5.2.3.5 Signing KDC Response|pkInitKDC
1.2.840.113549.1.1.5 sha1WithRSAEncryption|RSA-SHA1
1.2.840.113549.1.1.4 md5WithRSAEncryption|RSA-MD5
1.2.840.113549.1.1.10 rsassaPss|RSASSA-PSS
1.2.840.113549.1.1.11 sha256WithRSAEncryption|RSA-SHA256
1.2.840.113549.1.1.12 sha384WithRSAEncryption|RSA-SHA384
1.2.840.113549.1.1.13 sha512WithRSAEncryption|RSA-SHA512
1.2.840.113549.1.1.14 sha224WithRSAEncryption|RSA-SHA224
1.2.840.10045.4.1 ecdsa-with-SHA1
1.2.840.10045.4.3.1 ecdsa-with-SHA224
1.2.840.10045.4.3.2 ecdsa-with-SHA256
1.2.840.10045.4.3.3 ecdsa-with-SHA384
1.2.840.10045.4.3.4 ecdsa-with-SHA512
1.3.101.112 ED25519
1.3.101.113 ED448`

// oidLine finds the line of a name or of an identifier in oidNames.
func oidLine(match func(oid string, names []string) bool) (oid string, names []string) {
	for line := range strings.Lines(oidNames) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if all := strings.Split(rest, "|"); match(id, all) {
			return id, all
		}
	}
	return "", nil
}

// oidName is the long (or short) name of an identifier, or its digits.
func oidName(oid asn1.ObjectIdentifier, short bool) string {
	digits := oid.String()
	_, names := oidLine(func(id string, _ []string) bool { return id == digits })
	switch {
	case names == nil:
		return digits
	case short:
		return names[len(names)-1]
	}
	return names[0]
}

// oidOf is the identifier of a name, or of digits.
func oidOf(name string) (asn1.ObjectIdentifier, error) {
	digits, _ := oidLine(func(_ string, names []string) bool {
		for _, n := range names {
			if n == name {
				return true
			}
		}
		return false
	})
	if digits == "" {
		digits = name
	}
	oid, err := parseOID(digits)
	if err != nil {
		return nil, Failf("Cannot find OID for \"%s\"", name)
	}
	return oid, nil
}

func parseOID(digits string) (asn1.ObjectIdentifier, error) {
	var oid asn1.ObjectIdentifier
	for _, part := range strings.Split(digits, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is no object identifier", digits)
		}
		oid = append(oid, n)
	}
	if len(oid) < 2 {
		return nil, fmt.Errorf("%q is no object identifier", digits)
	}
	return oid, nil
}

// nameEntry is one attribute of a distinguished name.
type nameEntry struct {
	oid  asn1.ObjectIdentifier
	text string
}

// derAttribute is an attribute as it is encoded.
type derAttribute struct {
	Type  asn1.ObjectIdentifier
	Value asn1.RawValue
}

// tagOf is the string type that an attribute has in a certificate.
func tagOf(oid asn1.ObjectIdentifier) int {
	switch oid.String() {
	case "2.5.4.6", "2.5.4.46", "2.5.4.5", "1.3.6.1.4.1.311.60.2.1.3":
		return asn1.TagPrintableString
	case "0.9.2342.19200300.100.1.25", "1.2.840.113549.1.9.1":
		return asn1.TagIA5String
	}
	return asn1.TagUTF8String
}

// encodeName encodes a distinguished name.
func encodeName(entries []nameEntry) ([]byte, error) {
	sets := make([]asn1.RawValue, 0, len(entries))
	for _, e := range entries {
		attribute, err := asn1.Marshal(derAttribute{e.oid, asn1.RawValue{Tag: tagOf(e.oid), Bytes: []byte(e.text)}})
		if err != nil {
			return nil, err
		}
		sets = append(sets, asn1.RawValue{Tag: asn1.TagSet, IsCompound: true, Bytes: attribute})
	}
	return asn1.Marshal(sets)
}

// decodeName reads a distinguished name.
func decodeName(der []byte) ([]nameEntry, error) {
	var sets []asn1.RawValue
	if _, err := asn1.Unmarshal(der, &sets); err != nil {
		return nil, err
	}
	var out []nameEntry
	for _, set := range sets {
		for rest := set.Bytes; len(rest) > 0; {
			var a derAttribute
			var err error
			if rest, err = asn1.Unmarshal(rest, &a); err != nil {
				return nil, err
			}
			out = append(out, nameEntry{a.Type, derText(a.Value)})
		}
	}
	return out, nil
}

// derText is a string of whatever type.
func derText(v asn1.RawValue) string {
	if v.Tag != asn1.TagBMPString {
		return string(v.Bytes)
	}
	var b strings.Builder
	for i := 0; i+1 < len(v.Bytes); i += 2 {
		b.WriteRune(rune(v.Bytes[i])<<8 | rune(v.Bytes[i+1]))
	}
	return b.String()
}

// shownName is a name as the info modules return it: as a dict and in order.
func shownName(der []byte) (byName *value.Dict, ordered *value.List, err error) {
	entries, err := decodeName(der)
	if err != nil {
		return nil, nil, err
	}
	byName, ordered = value.NewDict(), value.NewList()
	for _, e := range entries {
		byName.Set(oidName(e.oid, false), e.text)
		ordered.Append(value.NewList(oidName(e.oid, false), e.text))
	}
	return byName, ordered, nil
}

// Tags of the kinds of general names.
const (
	otherNameTag = 0
	emailTag     = 1
	dnsTag       = 2
	directoryTag = 4
	uriTag       = 6
	ipTag        = 7
	ridTag       = 8
)

// generalName reads a name such as DNS:example.com; what names its place.
func generalName(text, what string) (asn1.RawValue, error) {
	kind, rest, ok := strings.Cut(text, ":")
	plain := func(tag int, content []byte) (asn1.RawValue, error) {
		return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, Bytes: content}, nil
	}
	var err error
	switch {
	case !ok:
		return asn1.RawValue{}, Failf("Cannot parse %s \"%s\" (forgot \"DNS:\" prefix?)", what, text)
	case kind == "DNS":
		return plain(dnsTag, []byte(rest))
	case kind == "email":
		return plain(emailTag, []byte(rest))
	case kind == "URI":
		return plain(uriTag, []byte(rest))
	case kind == "IP":
		var content []byte
		if content, err = addressBytes(rest); err == nil {
			return plain(ipTag, content)
		}
	case kind == "RID":
		var oid asn1.ObjectIdentifier
		if oid, err = parseOID(rest); err == nil {
			return ridName(oid)
		}
	case kind == "dirName":
		var der []byte
		if der, err = parseDirectory(rest); err == nil {
			return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: directoryTag, IsCompound: true, Bytes: der}, nil
		}
	case kind == "otherName":
		var other asn1.RawValue
		if other, err = otherName(rest); err == nil {
			return other, nil
		}
	default:
		return asn1.RawValue{}, Failf("Cannot parse %s \"%s\" (potentially unsupported by cryptography backend)", what, text)
	}
	return asn1.RawValue{}, Failf("Cannot parse %s \"%s\": %v", what, text, err)
}

func ridName(oid asn1.ObjectIdentifier) (asn1.RawValue, error) {
	der, err := asn1.Marshal(oid)
	if err != nil {
		return asn1.RawValue{}, err
	}
	var raw asn1.RawValue
	_, err = asn1.Unmarshal(der, &raw)
	return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: ridTag, Bytes: raw.Bytes}, err
}

// addressBytes is an address, or a network with its mask.
func addressBytes(text string) ([]byte, error) {
	if strings.Contains(text, "/") {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("'%s' does not appear to be an IPv4 or IPv6 network", text)
		}
		if network.Masked() != network {
			return nil, fmt.Errorf("%s has host bits set", text)
		}
		mask := net.CIDRMask(network.Bits(), network.Addr().BitLen())
		return append(network.Addr().AsSlice(), mask...), nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return nil, fmt.Errorf("'%s' does not appear to be an IPv4 or IPv6 address", text)
	}
	return address.AsSlice(), nil
}

// otherName reads OID;HEX and OID;UTF8:text.
func otherName(text string) (asn1.RawValue, error) {
	digits, rest, ok := strings.Cut(text, ";")
	if !ok {
		return asn1.RawValue{}, fmt.Errorf("otherName must be in the format \"otherName:<OID>;<ASN.1 OpenSSL Encoded String>\" or \"otherName:<OID>;<hex string>\"")
	}
	oid, err := parseOID(digits)
	if err != nil {
		return asn1.RawValue{}, err
	}
	var content []byte
	if plain, ok := strings.CutPrefix(rest, "UTF8:"); ok {
		content, err = asn1.Marshal(asn1.RawValue{Tag: asn1.TagUTF8String, Bytes: []byte(plain)})
	} else {
		content, err = hex.DecodeString(strings.ReplaceAll(rest, ":", ""))
	}
	if err != nil {
		return asn1.RawValue{}, err
	}
	id, err := asn1.Marshal(oid)
	if err != nil {
		return asn1.RawValue{}, err
	}
	inner, err := asn1.Marshal(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, IsCompound: true, Bytes: content})
	return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: otherNameTag, IsCompound: true, Bytes: append(id, inner...)}, err
}

var directoryPart = regexp.MustCompile(`^ *([A-Za-z0-9.]+) *= *`)

// parseDirectory reads a name such as CN=a,O=b, or /O=b/CN=a, and encodes it; it
// is written from its end.
func parseDirectory(text string) ([]byte, error) {
	text = strings.TrimLeft(text, " ")
	separator := byte(',')
	if strings.HasPrefix(text, "/") {
		separator, text = '/', text[1:]
	}
	var entries []nameEntry
	for text != "" {
		m := directoryPart.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("Error while parsing distinguished name: cannot start part in \"%s\"", text)
		}
		oid, err := oidOf(m[1])
		if err != nil {
			return nil, err
		}
		var content string
		content, text = cutPart(text[len(m[0]):], separator)
		entries = append([]nameEntry{{oid, content}}, entries...)
	}
	return encodeName(entries)
}

// cutPart takes a value up to the separator; a backslash takes what follows it.
func cutPart(text string, separator byte) (part, rest string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == separator:
			return b.String(), text[i+1:]
		case text[i] == '\\' && i+1 < len(text):
			i++
			if i+1 < len(text) {
				if raw, err := hex.DecodeString(text[i : i+2]); err == nil {
					b.Write(raw)
					i++
					continue
				}
			}
			b.WriteByte(text[i])
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), ""
}

// shownGeneralName is generalName's reverse.
func shownGeneralName(raw asn1.RawValue) string {
	switch raw.Tag {
	case dnsTag:
		return "DNS:" + string(raw.Bytes)
	case emailTag:
		return "email:" + string(raw.Bytes)
	case uriTag:
		return "URI:" + string(raw.Bytes)
	case ipTag:
		return "IP:" + shownAddress(raw.Bytes)
	case ridTag:
		var oid asn1.ObjectIdentifier
		der, err := asn1.Marshal(asn1.RawValue{Tag: asn1.TagOID, Bytes: raw.Bytes})
		if err == nil {
			_, err = asn1.Unmarshal(der, &oid)
		}
		if err == nil {
			return "RID:" + oid.String()
		}
	case directoryTag:
		return "dirName:" + shownDirectory(raw.Bytes)
	case otherNameTag:
		var oid asn1.ObjectIdentifier
		var inner asn1.RawValue
		rest, err := asn1.Unmarshal(raw.Bytes, &oid)
		if err == nil {
			_, err = asn1.Unmarshal(rest, &inner)
		}
		if err == nil {
			return "otherName:" + oid.String() + ";" + colons(inner.Bytes)
		}
	}
	return fmt.Sprintf("unknown:%d;%s", raw.Tag, colons(raw.Bytes))
}

func shownAddress(b []byte) string {
	if len(b) == 8 || len(b) == 32 {
		half := len(b) / 2
		ones, _ := net.IPMask(b[half:]).Size()
		address, _ := netip.AddrFromSlice(b[:half])
		return fmt.Sprintf("%s/%d", address, ones)
	}
	address, _ := netip.AddrFromSlice(b)
	return address.String()
}

func shownDirectory(der []byte) string {
	entries, err := decodeName(der)
	if err != nil {
		return colons(der)
	}
	var parts []string
	for i := len(entries) - 1; i >= 0; i-- {
		parts = append(parts, oidName(entries[i].oid, true)+"="+escapedPart(entries[i].text))
	}
	return strings.Join(parts, ",")
}

// escapedPart is a value of a directory name with what is special escaped.
func escapedPart(text string) string {
	text = strings.NewReplacer(`\`, `\\`, ",", `\,`, "+", `\+`, "<", `\<`, ">", `\>`, ";", `\;`, `"`, `\"`, "\x00", `\00`).Replace(text)
	if strings.HasPrefix(text, " ") || strings.HasPrefix(text, "#") {
		text = `\` + text
	}
	if strings.HasSuffix(text, " ") {
		text = text[:len(text)-1] + `\ `
	}
	return text
}

// colons is bytes as hexadecimal digits in pairs.
func colons(b []byte) string {
	parts := make([]string, len(b))
	for i, c := range b {
		parts[i] = hex.EncodeToString([]byte{c})
	}
	return strings.Join(parts, ":")
}
