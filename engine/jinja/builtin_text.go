package jinja

import (
	"fmt"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"play/modules/value"
)

// textFilters are Jinja2's filters on strings.
func textFilters() []Builtin {
	return []Builtin{
		{Name: "capitalize", Doc: "first character upper case, the others lower case", Fn: filterCapitalize},
		{Name: "center", Params: "width=80", Doc: "center a text in a field", Fn: filterCenter},
		{Name: "filesizeformat", Params: "binary=False", Doc: "a number of bytes as people write it: 13 kB", Fn: filterFilesize},
		{Name: "format", Params: "*args, **kwargs", Doc: "fill a printf-style format", Fn: filterFormat},
		{Name: "indent", Params: "width=4, first=False, blank=False", Doc: "indent every line but the first", Fn: filterIndent},
		{Name: "lower", Doc: "lower case", Fn: filterLower},
		{Name: "replace", Params: "old, new, count=None", Doc: "replace a text by another", Fn: filterReplace},
		{Name: "split", Params: "sep=None, maxsplit=-1", Doc: "the parts of a text between separators", Fn: filterSplit},
		{Name: "string", Doc: "the value as text", Fn: func(c *Call) (any, error) { return value.Str(c.Value), nil }},
		{Name: "title", Doc: "every word with a capital", Fn: filterTitle},
		{Name: "trim", Params: "chars=None", Doc: "remove blanks, or the given characters, at both ends", Fn: filterTrim},
		{Name: "truncate", Params: "length=255, killwords=False, end='...', leeway=None", Doc: "shorten a text", Fn: filterTruncate},
		{Name: "upper", Doc: "upper case", Fn: filterUpper},
		{Name: "wordcount", Doc: "count the words", Fn: filterWordcount},
		{Name: "wordwrap", Params: "width=79, break_long_words=True, wrapstring=None, break_on_hyphens=True", Doc: "break lines at a width", Fn: filterWordwrap},
	}
}

func filterUpper(c *Call) (any, error) { return pyUpper(value.Str(c.Value)), nil }

func filterLower(c *Call) (any, error) { return strings.ToLower(value.Str(c.Value)), nil }

// pyUpper is str.upper: the sharp s has two letters there.
func pyUpper(s string) string {
	return strings.ReplaceAll(strings.ToUpper(s), "ß", "SS")
}

func filterCapitalize(c *Call) (any, error) {
	first, rest := cutRune(value.Str(c.Value))
	return titleRune(first) + strings.ToLower(rest), nil
}

// cutRune splits off the first character.
func cutRune(s string) (first, rest string) {
	_, size := utf8.DecodeRuneInString(s)
	return s[:size], s[size:]
}

func titleRune(s string) string {
	if s == "ß" {
		return "Ss"
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size <= 1 {
		return s
	}
	return string(unicode.ToTitle(r))
}

func filterTitle(c *Call) (any, error) {
	var b strings.Builder
	start := true
	for s := value.Str(c.Value); s != ""; {
		first, rest := cutRune(s)
		r, _ := utf8.DecodeRuneInString(first)
		switch {
		case strings.ContainsAny(first, "-({[<") || unicode.IsSpace(r):
			b.WriteString(first)
			start = true
		case start:
			b.WriteString(pyUpper(first))
			start = false
		default:
			b.WriteString(strings.ToLower(first))
		}
		s = rest
	}
	return b.String(), nil
}

func filterTrim(c *Call) (any, error) {
	s := value.Str(c.Value)
	if c.Args[0] == nil {
		return strings.TrimFunc(s, isPySpace), nil
	}
	chars, ok := c.Args[0].(string)
	if !ok {
		return nil, fmt.Errorf("strip arg must be None or str")
	}
	return strings.Trim(s, chars), nil
}

// isPySpace is str.isspace for one character.
func isPySpace(r rune) bool {
	return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f
}

func filterCenter(c *Call) (any, error) {
	width, err := wantInt(c.Args[0])
	if err != nil {
		return nil, err
	}
	s := value.Str(c.Value)
	pad := width - utf8.RuneCountInString(s)
	if pad <= 0 {
		return s, nil
	}
	if err := checkText(width); err != nil {
		return nil, err
	}
	left := pad/2 + pad&width&1
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", pad-left), nil
}

func filterReplace(c *Call) (any, error) {
	s, old, repl := value.Str(c.Value), value.Str(c.Args[0]), value.Str(c.Args[1])
	count, err := optInt(c.Args[2], -1)
	if err != nil {
		return nil, err
	}
	if n := strings.Count(s, old); len(repl) > 0 && n > 0 {
		if err := checkText(n * len(repl)); err != nil {
			return nil, err
		}
	}
	return strings.Replace(s, old, repl, count), nil
}

func filterSplit(c *Call) (any, error) {
	if !isString(c.Value) {
		return nil, fmt.Errorf("descriptor 'split' for 'str' objects doesn't apply to a '%s' object", value.TypeName(c.Value))
	}
	return strSplit(c)
}

func filterFormat(c *Call) (any, error) {
	if len(c.Rest) > 0 && c.Kwargs.Len() > 0 {
		return nil, fmt.Errorf("can't handle positional and keyword arguments at the same time")
	}
	if c.Kwargs.Len() > 0 {
		return percentFormat(value.Str(c.Value), c.Kwargs, maxBuiltinText)
	}
	return percentFormat(value.Str(c.Value), value.Tuple(c.Rest), maxBuiltinText)
}

// splitLines is str.splitlines.
func splitLines(s string) []string {
	var lines []string
	start := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isLineBreak(r) {
			i += size
			continue
		}
		lines = append(lines, s[start:i])
		i += size
		if r == '\r' && i < len(s) && s[i] == '\n' {
			i++
		}
		start = i
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}

func isLineBreak(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
}

func filterIndent(c *Call) (any, error) {
	s, ok := c.Value.(string)
	if !ok {
		return nil, fmt.Errorf("'%s' object has no attribute 'splitlines'", value.TypeName(c.Value))
	}
	pad, ok := c.Args[0].(string)
	if !ok {
		width, err := wantInt(c.Args[0])
		if err != nil {
			return nil, fmt.Errorf("can't multiply sequence by non-int of type '%s'", value.TypeName(c.Args[0]))
		}
		if err := checkText(width); err != nil {
			return nil, err
		}
		pad = strings.Repeat(" ", max(width, 0))
	}
	first, blank := value.Truth(c.Args[1]), value.Truth(c.Args[2])
	lines := splitLines(s + "\n")
	if err := checkText(len(lines) * len(pad)); err != nil {
		return nil, err
	}
	for i := range lines {
		if i > 0 && (blank || lines[i] != "") {
			lines[i] = pad + lines[i]
		}
	}
	out := strings.Join(lines, "\n")
	if first {
		out = pad + out
	}
	return out, nil
}

func filterTruncate(c *Call) (any, error) {
	length, err := wantInt(c.Args[0])
	if err != nil {
		return nil, err
	}
	leeway, err := optInt(c.Args[3], 5)
	if err != nil {
		return nil, err
	}
	end := value.Str(c.Args[2])
	endLen := utf8.RuneCountInString(end)
	if length < endLen {
		return nil, fmt.Errorf("expected length >= %d, got %d", endLen, length)
	}
	if leeway < 0 {
		return nil, fmt.Errorf("expected leeway >= 0, got %d", leeway)
	}
	s, ok := c.Value.(string)
	if !ok {
		return nil, fmt.Errorf("object of type '%s' has no len()", value.TypeName(c.Value))
	}
	runes := []rune(s)
	if len(runes) <= length+leeway {
		return s, nil
	}
	cut := string(runes[:length-endLen])
	if !value.Truth(c.Args[1]) {
		if i := strings.LastIndexByte(cut, ' '); i >= 0 {
			cut = cut[:i]
		}
	}
	return cut + end, nil
}

func filterWordcount(c *Call) (any, error) {
	isWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }
	return len(strings.FieldsFunc(value.Str(c.Value), func(r rune) bool { return !isWord(r) })), nil
}

func filterFilesize(c *Call) (any, error) {
	size, err := toFloat(c.Value)
	if err != nil {
		return nil, err
	}
	base, units := 1000.0, []string{"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"}
	if value.Truth(c.Args[0]) {
		base, units = 1024.0, []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"}
	}
	if size == 1 {
		return "1 Byte", nil
	}
	if size < base {
		n, _ := big.NewFloat(size).Int(nil)
		return n.String() + " Bytes", nil
	}
	scale := base
	for i, unit := range units {
		if size < scale*base || i == len(units)-1 {
			return fmt.Sprintf("%.1f %s", size/scale, unit), nil
		}
		scale *= base
	}
	return nil, nil
}
