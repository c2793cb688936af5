package jinja

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"
	//lint:ignore SA1019 the hash filter has it because playbooks ask for it by name
	"golang.org/x/crypto/ripemd160"
	"golang.org/x/crypto/sha3"

	"play/modules/value"
)

// ansibleUUIDs is the name space of the to_uuid filter.
const ansibleUUIDs = "361E6D51-FAEC-444A-9079-341386DA8E2E"

// hashFilters are checksums and what is made of them.
func hashFilters() []Builtin {
	return []Builtin{
		{Name: "checksum", Doc: "SHA-1 in hexadecimal", Fn: func(c *Call) (any, error) { return hexHash("sha1", value.Str(c.Value)) }},
		{Name: "hash", Params: "hashtype='sha1'", Doc: "a checksum in hexadecimal", Fn: func(c *Call) (any, error) {
			return hexHash(value.Str(c.Args[0]), value.Str(c.Value))
		}},
		{Name: "md5", Doc: "MD5 in hexadecimal", Fn: func(c *Call) (any, error) { return hexHash("md5", value.Str(c.Value)) }},
		{Name: "sha1", Doc: "SHA-1 in hexadecimal", Fn: func(c *Call) (any, error) { return hexHash("sha1", value.Str(c.Value)) }},
		{Name: "to_uuid", Params: "namespace='" + ansibleUUIDs + "'", Doc: "a UUID made of a name (version 5)", Fn: filterToUUID},
	}
}

func hexHash(kind, data string) (any, error) {
	h, err := newHash(kind)
	if err != nil {
		return nil, err
	}
	h.Write([]byte(data))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// newHash makes a hash by the name that Python's hashlib knows it by.
func newHash(kind string) (hash.Hash, error) {
	switch strings.ToLower(kind) {
	case "md5":
		return md5.New(), nil
	case "sha1":
		return sha1.New(), nil
	case "sha224":
		return sha256.New224(), nil
	case "sha256":
		return sha256.New(), nil
	case "sha384":
		return sha512.New384(), nil
	case "sha512":
		return sha512.New(), nil
	case "sha3_224":
		return sha3.New224(), nil
	case "sha3_256":
		return sha3.New256(), nil
	case "sha3_384":
		return sha3.New384(), nil
	case "sha3_512":
		return sha3.New512(), nil
	case "blake2b":
		return blake2b.New512(nil)
	case "blake2s":
		return blake2s.New256(nil)
	case "ripemd160":
		return ripemd160.New(), nil
	}
	return nil, fmt.Errorf("unsupported hash type %s", kind)
}

func filterToUUID(c *Call) (any, error) {
	space, err := hex.DecodeString(strings.NewReplacer("-", "", "{", "", "}", "", "urn:", "", "uuid:", "").Replace(value.Str(c.Args[0])))
	if err != nil || len(space) != 16 {
		return nil, fmt.Errorf("Invalid value '%s' for 'namespace': badly formed hexadecimal UUID string", value.Str(c.Args[0]))
	}
	return uuid5(space, value.Str(c.Value)), nil
}

// uuid5 hashes a name within a name space of 16 bytes.
func uuid5(space []byte, name string) string {
	h := sha1.New()
	h.Write(space)
	h.Write([]byte(name))
	b := h.Sum(nil)[:16]
	b[6] = b[6]&0x0f | 0x50
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
