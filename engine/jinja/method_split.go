package jinja

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"play/modules/value"
)

func strSplit(c *Call) (any, error) {
	s := c.Value.(string)
	n, err := intArg(c, 1)
	if err != nil {
		return nil, err
	}
	var parts []string
	switch {
	case c.Args[0] == nil && c.Name == "split":
		parts = splitBlanks(s, n)
	case c.Args[0] == nil:
		parts = rsplitBlanks(s, n)
	default:
		sep, err := strArg(c, 0)
		if err != nil {
			return nil, err
		}
		if sep == "" {
			return nil, errorText("empty separator")
		}
		parts = splitSep(s, sep, n, c.Name == "rsplit")
	}
	items := make([]any, len(parts))
	for i, p := range parts {
		items[i] = p
	}
	return &value.List{Items: items}, nil
}

func splitSep(s, sep string, n int, fromRight bool) []string {
	if n < 0 {
		return strings.Split(s, sep)
	}
	if !fromRight {
		return strings.SplitN(s, sep, n+1)
	}
	var tail []string
	for ; n > 0; n-- {
		i := strings.LastIndex(s, sep)
		if i < 0 {
			break
		}
		tail = append(tail, s[i+len(sep):])
		s = s[:i]
	}
	return reversed(append(tail, s))
}

func reversed(parts []string) []string {
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return parts
}

// splitBlanks splits at runs of blanks, at most n times when n is not negative.
func splitBlanks(s string, n int) []string {
	var out []string
	for s = strings.TrimLeftFunc(s, isPySpace); s != ""; s = strings.TrimLeftFunc(s, isPySpace) {
		i := strings.IndexFunc(s, isPySpace)
		if n == 0 || i < 0 {
			return append(out, s)
		}
		out = append(out, s[:i])
		s = s[i:]
		n--
	}
	return out
}

func rsplitBlanks(s string, n int) []string {
	var out []string
	for s = strings.TrimRightFunc(s, isPySpace); s != ""; s = strings.TrimRightFunc(s, isPySpace) {
		i := strings.LastIndexFunc(s, isPySpace)
		if n == 0 || i < 0 {
			out = append(out, s)
			break
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		out = append(out, s[i+size:])
		s = s[:i]
		n--
	}
	return reversed(out)
}

// strEncode turns text into bytes.
func strEncode(c *Call) (any, error) {
	name, err := strArg(c, 0)
	if err != nil {
		return nil, err
	}
	s, mode := c.Value.(string), value.Str(c.Args[1])
	switch codec := codecName(name); codec {
	case "utf8":
		return value.Bytes(s), nil
	case "ascii", "latin1":
		return encodeNarrow(s, codec, mode)
	case "utf16", "utf16le", "utf16be":
		return encodeUTF16(s, codec), nil
	}
	return nil, errorText("unknown encoding: " + name)
}

func codecName(name string) string {
	name = strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	switch name {
	case "usascii":
		return "ascii"
	case "iso88591", "latin", "l1":
		return "latin1"
	}
	return name
}

func encodeNarrow(s, codec, mode string) (any, error) {
	limit := rune(0x80)
	if codec == "latin1" {
		limit = 0x100
	}
	var b []byte
	for i, r := range []rune(s) {
		switch {
		case r < limit:
			b = append(b, byte(r))
		case mode == "ignore":
		case mode == "replace":
			b = append(b, '?')
		default:
			return nil, errorText("'" + codec + "' codec can't encode character '" + value.EscapeRune(r) + "' in position " + itoa(i) +
				": ordinal not in range(" + itoa(int(limit)) + ")")
		}
	}
	return value.Bytes(b), nil
}

func encodeUTF16(s, codec string) any {
	var b []byte
	var order binary.AppendByteOrder = binary.LittleEndian
	if codec == "utf16be" {
		order = binary.BigEndian
	}
	if codec == "utf16" {
		b = order.AppendUint16(b, 0xfeff)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return value.Bytes(b)
}

func bytesMethods() []method {
	return []method{
		{name: "decode", params: "encoding='utf-8', errors='strict'", run: bytesDecode},
		{name: "hex", run: bytesHex},
	}
}

func bytesDecode(c *Call) (any, error) {
	name, err := strArg(c, 0)
	if err != nil {
		return nil, err
	}
	b := string(c.Value.(value.Bytes))
	switch codec := codecName(name); codec {
	case "utf8", "ascii":
		if !utf8.ValidString(b) && c.Args[1] == "strict" {
			return nil, errorText("'" + codec + "' codec can't decode the bytes")
		}
		return b, nil
	case "latin1":
		out := make([]rune, len(b))
		for i := range len(b) {
			out[i] = rune(b[i])
		}
		return string(out), nil
	}
	return nil, errorText("unknown encoding: " + name)
}

func bytesHex(c *Call) (any, error) {
	const digits = "0123456789abcdef"
	var out []byte
	for _, b := range []byte(c.Value.(value.Bytes)) {
		out = append(out, digits[b>>4], digits[b&15])
	}
	return string(out), nil
}
