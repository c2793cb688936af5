package jinja

import (
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"play/modules/value"
)

// encodeFilters write text in other alphabets: base64, HTML, URLs, the shell.
func encodeFilters() []Builtin {
	return []Builtin{
		{Name: "b64decode", Params: "encoding='utf-8'", Doc: "read base64", Fn: filterB64decode},
		{Name: "b64encode", Params: "encoding='utf-8'", Doc: "write base64", Fn: filterB64encode},
		{Name: "e", Doc: "escape for HTML", Fn: filterEscape},
		{Name: "escape", Doc: "escape for HTML", Fn: filterEscape},
		{Name: "forceescape", Doc: "escape for HTML", Fn: filterEscape},
		{Name: "quote", Doc: "quote for a shell", Fn: filterQuote},
		{Name: "safe", Doc: "the value as it is", Fn: func(c *Call) (any, error) { return value.Str(c.Value), nil }},
		{Name: "striptags", Doc: "remove HTML tags and comments", Fn: filterStriptags},
		{Name: "xmlattr", Params: "autospace=True", Doc: "a dict as attributes of an XML tag", Fn: filterXmlattr},
	}
}

// encodeText is str.encode for the encodings that people use.
func encodeText(s, encoding string) ([]byte, error) {
	switch canonicalEncoding(encoding) {
	case "utf8":
		return []byte(s), nil
	case "utf16le":
		return utf16Bytes(s, true), nil
	case "utf16be":
		return utf16Bytes(s, false), nil
	case "utf16":
		return append([]byte{0xff, 0xfe}, utf16Bytes(s, true)...), nil
	case "ascii", "usascii":
		return narrowBytes(s, "ascii", 0x80)
	case "latin1", "iso88591", "l1":
		return narrowBytes(s, "latin-1", 0x100)
	}
	return nil, fmt.Errorf("unknown encoding: %s", encoding)
}

func canonicalEncoding(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}

func utf16Bytes(s string, little bool) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if little {
			out = append(out, byte(u), byte(u>>8))
		} else {
			out = append(out, byte(u>>8), byte(u))
		}
	}
	return out
}

func narrowBytes(s, codec string, limit rune) ([]byte, error) {
	var out []byte
	for i, r := range []rune(s) {
		if r >= limit {
			return nil, fmt.Errorf("'%s' codec can't encode character '\\x%02x' in position %d: ordinal not in range(%d)", codec, r, i, limit)
		}
		out = append(out, byte(r))
	}
	return out, nil
}

// decodeText is the reverse; bytes that are no text stay as they are.
func decodeText(b []byte, encoding string) (string, error) {
	switch canonicalEncoding(encoding) {
	case "utf8", "ascii", "usascii":
		return string(b), nil
	case "utf16le":
		return fromUTF16(b, true), nil
	case "utf16be":
		return fromUTF16(b, false), nil
	case "utf16":
		if len(b) >= 2 && b[0] == 0xfe && b[1] == 0xff {
			return fromUTF16(b[2:], false), nil
		}
		return fromUTF16([]byte(strings.TrimPrefix(string(b), "\xff\xfe")), true), nil
	case "latin1", "iso88591", "l1":
		var out []byte
		for _, c := range b {
			out = utf8.AppendRune(out, rune(c))
		}
		return string(out), nil
	}
	return "", fmt.Errorf("unknown encoding: %s", encoding)
}

func fromUTF16(b []byte, little bool) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		lo, hi := b[2*i], b[2*i+1]
		if !little {
			lo, hi = hi, lo
		}
		units[i] = uint16(lo) | uint16(hi)<<8
	}
	return string(utf16.Decode(units))
}

func filterB64encode(c *Call) (any, error) {
	b, err := encodeText(value.Str(c.Value), value.Str(c.Args[0]))
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString(b), nil
}

func filterB64decode(c *Call) (any, error) {
	b, err := pyB64decode(value.Str(c.Value))
	if err != nil {
		return nil, err
	}
	return decodeText(b, value.Str(c.Args[0]))
}

// pyB64decode is binascii.a2b_base64: other characters are skipped, and
// padding ends the data.
func pyB64decode(s string) ([]byte, error) {
	var out []byte
	bits, n, pads := 0, 0, 0
	for i := range len(s) {
		c := s[i]
		if c == '=' {
			if pads++; n >= 2 && n+pads >= 4 {
				return out, nil
			}
			continue
		}
		d := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", c)
		if d < 0 {
			continue
		}
		pads = 0
		bits = (bits<<6 | d) & 0xffff
		if n > 0 {
			out = append(out, byte(bits>>(6-2*n)))
		}
		n = (n + 1) % 4
	}
	switch n {
	case 0:
		return out, nil
	case 1:
		return nil, fmt.Errorf("Invalid base64-encoded string: number of data characters (%d) cannot be 1 more than a multiple of 4", len(out)/3*4+1)
	}
	return nil, errors.New("Incorrect padding")
}

func htmlEscape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;").Replace(s)
}

func filterEscape(c *Call) (any, error) { return htmlEscape(value.Str(c.Value)), nil }

func filterQuote(c *Call) (any, error) {
	if c.Value == nil {
		return "''", nil
	}
	return shellQuote(value.Str(c.Value)), nil
}

// shellQuote is shlex.quote.
func shellQuote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
	}
	if s != "" && strings.TrimLeftFunc(s, safe) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

var (
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	htmlTag     = regexp.MustCompile(`(?s)<.*?>`)
)

func filterStriptags(c *Call) (any, error) {
	s := htmlComment.ReplaceAllString(value.Str(c.Value), "")
	s = htmlTag.ReplaceAllString(s, "")
	return html.UnescapeString(strings.Join(strings.FieldsFunc(s, isPySpace), " ")), nil
}

func filterXmlattr(c *Call) (any, error) {
	d, ok := asDict(c.Value)
	if !ok {
		return nil, fmt.Errorf("'%s' object has no attribute 'items'", value.TypeName(c.Value))
	}
	var parts []string
	for k, v := range d.All() {
		if v == nil || isUndefined(v) {
			continue
		}
		parts = append(parts, htmlEscape(value.Str(k))+`="`+htmlEscape(value.Str(v))+`"`)
	}
	out := strings.Join(parts, " ")
	if out != "" && value.Truth(c.Args[0]) {
		out = " " + out
	}
	return out, nil
}
