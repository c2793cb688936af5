package jinja

import (
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"play/modules/value"
)

func strMethods() []method {
	return []method{
		{name: "capitalize", run: text1(capitalize)},
		{name: "casefold", run: text1(strings.ToLower)},
		{name: "lower", run: text1(strings.ToLower)},
		{name: "upper", run: text1(pyUpper)},
		{name: "swapcase", run: text1(swapCase)},
		{name: "title", run: text1(titleCase)},
		{name: "center", params: "width, fillchar=' '", run: strPad},
		{name: "ljust", params: "width, fillchar=' '", run: strPad},
		{name: "rjust", params: "width, fillchar=' '", run: strPad},
		{name: "zfill", params: "width", run: strZfill},
		{name: "count", params: "sub, start=none, end=none", run: strFind},
		{name: "find", params: "sub, start=none, end=none", run: strFind},
		{name: "rfind", params: "sub, start=none, end=none", run: strFind},
		{name: "index", params: "sub, start=none, end=none", run: strFind},
		{name: "rindex", params: "sub, start=none, end=none", run: strFind},
		{name: "startswith", params: "prefix, start=none, end=none", run: strAffix},
		{name: "endswith", params: "suffix, start=none, end=none", run: strAffix},
		{name: "removeprefix", params: "prefix", run: strRemove},
		{name: "removesuffix", params: "suffix", run: strRemove},
		{name: "strip", params: "chars=none", run: strStrip},
		{name: "lstrip", params: "chars=none", run: strStrip},
		{name: "rstrip", params: "chars=none", run: strStrip},
		{name: "split", params: "sep=none, maxsplit=-1", run: strSplit},
		{name: "rsplit", params: "sep=none, maxsplit=-1", run: strSplit},
		{name: "splitlines", params: "keepends=false", run: strSplitLines},
		{name: "partition", params: "sep", run: strPartition},
		{name: "rpartition", params: "sep", run: strPartition},
		{name: "replace", params: "old, new, count=-1", run: strReplace},
		{name: "join", params: "iterable", run: strJoin},
		{name: "encode", params: "encoding='utf-8', errors='strict'", run: strEncode},
		{name: "expandtabs", params: "tabsize=8", run: strExpandTabs},
		{name: "translate", params: "table", run: strTranslate},
		{name: "isalnum", run: allRunes(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })},
		{name: "isalpha", run: allRunes(unicode.IsLetter)},
		{name: "isascii", run: strIsASCII},
		{name: "isdecimal", run: allRunes(func(r rune) bool { return unicode.Is(unicode.Nd, r) })},
		{name: "isdigit", run: allRunes(func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune("²³¹⁰⁴⁵⁶⁷⁸⁹", r) })},
		{name: "isnumeric", run: allRunes(unicode.IsNumber)},
		{name: "isspace", run: allRunes(isPySpace)},
		{name: "islower", run: strIsCase},
		{name: "isupper", run: strIsCase},
		{name: "istitle", run: strIsTitle},
		{name: "isidentifier", run: func(c *Call) (any, error) { return isIdentifier(c.Value.(string)), nil }},
		{name: "isprintable", run: strIsPrintable},
		{name: "__len__", run: seqLen},
		{name: "__contains__", params: "key", run: containsMethod},
	}
}

func text1(fn func(string) string) func(c *Call) (any, error) {
	return func(c *Call) (any, error) { return fn(c.Value.(string)), nil }
}

// allRunes tells whether the text is not empty and every character fits.
func allRunes(fits func(rune) bool) func(c *Call) (any, error) {
	return func(c *Call) (any, error) {
		s := c.Value.(string)
		for _, r := range s {
			if !fits(r) {
				return false, nil
			}
		}
		return s != "", nil
	}
}

func capitalize(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToTitle(r)) + strings.ToLower(s[size:])
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func titleCase(s string) string {
	inWord := false
	return strings.Map(func(r rune) rune {
		cased := unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r)
		defer func() { inWord = cased }()
		if inWord {
			return unicode.ToLower(r)
		}
		return unicode.ToTitle(r)
	}, s)
}

func strPad(c *Call) (any, error) {
	s := c.Value.(string)
	width, err := intArg(c, 0)
	if err != nil {
		return nil, err
	}
	fill, err := strArg(c, 1)
	if err != nil || utf8.RuneCountInString(fill) != 1 {
		return nil, errorText("The fill character must be exactly one character long")
	}
	gap := width - utf8.RuneCountInString(s)
	if err := checkText(max(gap, 0) * len(fill)); err != nil || gap <= 0 {
		return s, err
	}
	left := 0
	switch c.Name {
	case "rjust":
		left = gap
	case "center":
		left = gap/2 + gap&width&1
	}
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, gap-left), nil
}

func strZfill(c *Call) (any, error) {
	s := c.Value.(string)
	width, err := intArg(c, 0)
	if err != nil {
		return nil, err
	}
	gap := width - utf8.RuneCountInString(s)
	if err := checkText(max(gap, 0)); err != nil || gap <= 0 {
		return s, err
	}
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	return sign + strings.Repeat("0", gap) + s, nil
}

// span returns the part of the text between the arguments at i and i+1, and
// the character at which it starts; ok is false when start is past the end.
func span(c *Call, i int) (part string, start int, ok bool, err error) {
	s := c.Value.(string)
	if c.Args[i] == nil && c.Args[i+1] == nil {
		return s, 0, true, nil
	}
	n := utf8.RuneCountInString(s)
	start, stop, err := spanArgs(c, i, n)
	if err != nil {
		return "", 0, false, err
	}
	if given, _ := value.AsInt(c.Args[i]); given > n || start > stop {
		return "", start, false, nil
	}
	return string([]rune(s)[start:stop]), start, true, nil
}

func strFind(c *Call) (any, error) {
	sub, err := strArg(c, 0)
	if err != nil {
		return nil, err
	}
	part, start, ok, err := span(c, 1)
	if err != nil {
		return nil, err
	}
	if c.Name == "count" {
		if !ok {
			return 0, nil
		}
		return strings.Count(part, sub), nil
	}
	i := -1
	if ok && c.Name[0] == 'r' {
		i = strings.LastIndex(part, sub)
	} else if ok {
		i = strings.Index(part, sub)
	}
	switch {
	case i >= 0:
		return start + utf8.RuneCountInString(part[:i]), nil
	case strings.HasSuffix(c.Name, "index"):
		return nil, errorText("substring not found")
	}
	return -1, nil
}

func strAffix(c *Call) (any, error) {
	part, _, ok, err := span(c, 1)
	if err != nil {
		return nil, err
	}
	has := strings.HasPrefix
	if c.Name == "endswith" {
		has = strings.HasSuffix
	}
	affixes, isTuple := c.Args[0].(value.Tuple)
	if !isTuple {
		affixes = value.Tuple{c.Args[0]}
	}
	for _, a := range affixes {
		s, isStr := a.(string)
		if !isStr {
			return nil, errorText(c.Name + " first arg must be str or a tuple of str, not " + value.TypeName(a))
		}
		if ok && has(part, s) {
			return true, nil
		}
	}
	return false, nil
}

func strRemove(c *Call) (any, error) {
	affix, err := strArg(c, 0)
	if c.Name == "removeprefix" {
		return strings.TrimPrefix(c.Value.(string), affix), err
	}
	return strings.TrimSuffix(c.Value.(string), affix), err
}

func strStrip(c *Call) (any, error) {
	s, fits := c.Value.(string), isPySpace
	if c.Args[0] != nil {
		chars, err := strArg(c, 0)
		if err != nil {
			return nil, err
		}
		fits = func(r rune) bool { return strings.ContainsRune(chars, r) }
	}
	if c.Name != "rstrip" {
		s = strings.TrimLeftFunc(s, fits)
	}
	if c.Name != "lstrip" {
		s = strings.TrimRightFunc(s, fits)
	}
	return s, nil
}

func strSplitLines(c *Call) (any, error) {
	var out []any
	for s := c.Value.(string); s != ""; {
		body, size := firstLine(s)
		if value.Truth(c.Args[0]) {
			body = s[:size]
		}
		out = append(out, body)
		s = s[size:]
	}
	return &value.List{Items: out}, nil
}

// firstLine returns the first line without its end, and its size with it.
func firstLine(s string) (body string, size int) {
	for i, r := range s {
		if !isLineBreak(r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		if r == '\r' && strings.HasPrefix(s[end:], "\n") {
			end++
		}
		return s[:i], end
	}
	return s, len(s)
}

func strPartition(c *Call) (any, error) {
	sep, err := strArg(c, 0)
	if err != nil {
		return nil, err
	}
	if sep == "" {
		return nil, errorText("empty separator")
	}
	s := c.Value.(string)
	i := strings.Index(s, sep)
	if c.Name == "rpartition" {
		i = strings.LastIndex(s, sep)
	}
	switch {
	case i >= 0:
		return value.Tuple{s[:i], sep, s[i+len(sep):]}, nil
	case c.Name == "rpartition":
		return value.Tuple{"", "", s}, nil
	}
	return value.Tuple{s, "", ""}, nil
}

func strReplace(c *Call) (any, error) {
	from, err := strArg(c, 0)
	if err != nil {
		return nil, err
	}
	to, err := strArg(c, 1)
	if err != nil {
		return nil, err
	}
	n, err := intArg(c, 2)
	if err != nil {
		return nil, err
	}
	s := c.Value.(string)
	if err := checkText(len(s) + strings.Count(s, from)*len(to)); err != nil {
		return nil, err
	}
	return strings.Replace(s, from, to, n), nil
}

func strJoin(c *Call) (any, error) {
	items, err := iterate(c.Args[0])
	if err != nil {
		return nil, errorText("can only join an iterable")
	}
	parts, size := make([]string, len(items)), 0
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			if err := defined(item); err != nil {
				return nil, err
			}
			return nil, errorText("sequence item " + itoa(i) + ": expected str instance, " + value.TypeName(item) + " found")
		}
		parts[i] = s
		size += len(s) + len(c.Value.(string))
	}
	if err := checkText(size); err != nil {
		return nil, err
	}
	return strings.Join(parts, c.Value.(string)), nil
}

func strExpandTabs(c *Call) (any, error) {
	size, err := intArg(c, 0)
	if err != nil {
		return nil, err
	}
	s := c.Value.(string)
	if err := checkText(len(s) + strings.Count(s, "\t")*max(size, 0)); err != nil {
		return nil, err
	}
	var b strings.Builder
	col := 0
	for _, r := range s {
		switch {
		case r == '\t':
			if size > 0 {
				n := size - col%size
				b.WriteString(strings.Repeat(" ", n))
				col += n
			}
			continue
		case r == '\n' || r == '\r':
			col = -1
		}
		b.WriteRune(r)
		col++
	}
	return b.String(), nil
}

func strTranslate(c *Call) (any, error) {
	table, err := readDict(c.Args[0])
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, r := range c.Value.(string) {
		v, ok := table.GetKey(int(r))
		switch {
		case !ok:
			b.WriteRune(r)
		case v == nil:
		default:
			if n, isInt := value.AsInt(v); isInt {
				b.WriteRune(rune(n))
			} else {
				b.WriteString(value.Str(v))
			}
		}
	}
	return b.String(), nil
}

func strIsASCII(c *Call) (any, error) {
	for _, b := range []byte(c.Value.(string)) {
		if b >= utf8.RuneSelf {
			return false, nil
		}
	}
	return true, nil
}

func strIsCase(c *Call) (any, error) {
	wrong, right := unicode.IsUpper, unicode.IsLower
	if c.Name == "isupper" {
		wrong, right = right, wrong
	}
	found := false
	for _, r := range c.Value.(string) {
		if wrong(r) || unicode.IsTitle(r) {
			return false, nil
		}
		found = found || right(r)
	}
	return found, nil
}

func strIsTitle(c *Call) (any, error) {
	found, inWord := false, false
	for _, r := range c.Value.(string) {
		switch {
		case unicode.IsUpper(r) || unicode.IsTitle(r):
			if inWord {
				return false, nil
			}
			found, inWord = true, true
		case unicode.IsLower(r):
			if !inWord {
				return false, nil
			}
		default:
			inWord = false
		}
	}
	return found, nil
}

func isIdentifier(s string) bool { return s != "" && nameLen(s) == len(s) }

func strIsPrintable(c *Call) (any, error) {
	for _, r := range c.Value.(string) {
		if !unicode.IsPrint(r) {
			return false, nil
		}
	}
	return true, nil
}

// numMethods are the methods of ints, floats and bools that templates meet.
func numMethods() []method {
	return []method{
		{name: "bit_length", run: func(c *Call) (any, error) { return value.BigInt(c.Value).BitLen(), nil }},
		{name: "is_integer", run: numIsInteger},
	}
}

func numIsInteger(c *Call) (any, error) {
	f, ok := c.Value.(float64)
	return !ok || new(big.Float).SetFloat64(f).IsInt(), nil
}
