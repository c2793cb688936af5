package jinja

import (
	"errors"
	"fmt"
	"strings"

	"play/modules/pyre"
	"play/modules/value"
)

// versionTests compare version numbers.
func versionTests() []Builtin {
	const params = "version, operator='eq', strict=None, version_type=None"
	return []Builtin{
		{Name: "version", Params: params, Doc: "compare version numbers", Fn: testVersion},
		{Name: "version_compare", Params: params, Doc: "compare version numbers", Fn: testVersion},
	}
}

func testVersion(c *Call) (any, error) {
	if !value.Truth(c.Value) {
		return nil, errors.New("Input version value cannot be empty")
	}
	if !value.Truth(c.Args[0]) {
		return nil, errors.New("Version parameter to compare against cannot be empty")
	}
	kind, err := versionKind(c.Args[2], c.Args[3])
	if err != nil {
		return nil, err
	}
	holds, err := versionOperator(value.Str(c.Args[1]))
	if err != nil {
		return nil, err
	}
	n, err := compareVersions(kind, value.Str(c.Value), value.Str(c.Args[0]))
	if err != nil {
		return nil, fmt.Errorf("Version comparison failed: %w", err)
	}
	return holds(n), nil
}

func versionKind(strict, kind any) (string, error) {
	if strict != nil && kind != nil {
		return "", errors.New("Cannot specify both 'strict' and 'version_type'")
	}
	if value.Truth(strict) {
		return "strict", nil
	}
	if kind == nil || kind == "" {
		return "loose", nil
	}
	switch s := value.Str(kind); s {
	case "loose", "strict", "semver", "semantic", "pep440":
		return s, nil
	}
	return "", fmt.Errorf("Invalid version type (%s). Must be one of 'loose', 'strict', 'semver', 'semantic', 'pep440'", value.Str(kind))
}

func versionOperator(op string) (func(n int) bool, error) {
	switch op {
	case "==", "=", "eq":
		return func(n int) bool { return n == 0 }, nil
	case "<", "lt":
		return func(n int) bool { return n < 0 }, nil
	case "<=", "le":
		return func(n int) bool { return n <= 0 }, nil
	case ">", "gt":
		return func(n int) bool { return n > 0 }, nil
	case ">=", "ge":
		return func(n int) bool { return n >= 0 }, nil
	case "!=", "<>", "ne":
		return func(n int) bool { return n != 0 }, nil
	}
	return nil, fmt.Errorf("Invalid operator type (%s). Must be one of ==, =, eq, <, lt, <=, le, >, gt, >=, ge, !=, <>, ne", op)
}

func compareVersions(kind, a, b string) (int, error) {
	parse := looseVersion
	switch kind {
	case "strict":
		parse = strictVersion
	case "semver", "semantic":
		parse = semanticVersion
	case "pep440":
		parse = pep440Version
	}
	x, err := parse(a)
	if err != nil {
		return 0, err
	}
	y, err := parse(b)
	if err != nil {
		return 0, err
	}
	return value.Compare(x, y, "<")
}

// The parsers below return a list or tuple whose order is that of the versions.

// looseVersion splits at dots and between digits and letters, as distutils did.
func looseVersion(s string) (any, error) {
	out := value.NewList()
	for s != "" {
		n := 1
		switch c := s[0]; {
		case c == '.':
			s = s[1:]
			continue
		case isDigit(c):
			n = spanLen(s, isDigit)
			number, _ := value.ParseInt(s[:n], 10)
			out.Append(number)
		case isLower(c):
			n = spanLen(s, isLower)
			out.Append(s[:n])
		default:
			n = spanLen(s, func(c byte) bool { return c != '.' && !isDigit(c) && !isLower(c) })
			out.Append(s[:n])
		}
		s = s[n:]
	}
	return out, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func spanLen(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func versionMatch(pattern string, flags pyre.Flags, s string) (*pyre.Match, error) {
	re, err := pyre.Compile(pattern, flags)
	if err != nil {
		return nil, err
	}
	return re.Match(s)
}

func groupInt(m *pyre.Match, i int) any {
	s, ok := m.Group(i)
	if !ok || s == "" {
		return 0
	}
	n, _ := value.ParseInt(s, 10)
	return n
}

func strictVersion(s string) (any, error) {
	m, err := versionMatch(`^(\d+) \. (\d+) (\. (\d+))? ([ab](\d+))?$`, pyre.Verbose|pyre.ASCII, s)
	if err != nil || m == nil {
		return nil, fmt.Errorf("invalid version number '%s'", s)
	}
	pre := value.Tuple{1} // a release comes after its pre-releases
	if text, ok := m.Group(5); ok {
		pre = value.Tuple{0, text[:1], groupInt(m, 6)}
	}
	return value.Tuple{groupInt(m, 1), groupInt(m, 2), groupInt(m, 4), pre}, nil
}

func semanticVersion(s string) (any, error) {
	m, err := versionMatch(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)`+
		`(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?`+
		`(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`, 0, s)
	if err != nil || m == nil {
		return nil, fmt.Errorf("invalid semantic version '%s'", s)
	}
	pre := value.Tuple{1}
	if text, ok := m.Group(4); ok {
		pre = value.Tuple{0, semanticPre(text)}
	}
	return value.Tuple{groupInt(m, 1), groupInt(m, 2), groupInt(m, 3), pre}, nil
}

// semanticPre orders the parts of a pre-release: numbers before words.
func semanticPre(text string) value.Tuple {
	var parts value.Tuple
	for _, p := range strings.Split(text, ".") {
		if spanLen(p, isDigit) == len(p) {
			n, _ := value.ParseInt(p, 10)
			parts = append(parts, value.Tuple{0, n})
		} else {
			parts = append(parts, value.Tuple{1, p})
		}
	}
	return parts
}

const pep440Pattern = `\s*v?(?:(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)` +
	`([-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?([0-9]+)?)?` +
	`((?:-([0-9]+))|(?:[-_.]?(post|rev|r)[-_.]?([0-9]+)?))?` +
	`([-_.]?dev[-_.]?([0-9]+)?)?)` +
	`(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$`

// pep440Version orders as PEP 440 says: development releases, pre-releases,
// the release, post-releases, local versions.
func pep440Version(s string) (any, error) {
	m, err := versionMatch(pep440Pattern, pyre.IgnoreCase, s)
	if err != nil || m == nil {
		return nil, fmt.Errorf("Invalid version: '%s'", s)
	}
	text, _ := m.Group(2)
	_, hasPre := m.Group(3)
	_, hasPost := m.Group(6)
	_, hasDev := m.Group(10)
	pre := value.Tuple{2}
	switch {
	case hasPre:
		word, _ := m.Group(4)
		pre = value.Tuple{1, pep440Letter(word), groupInt(m, 5)}
	case hasDev && !hasPost:
		pre = value.Tuple{0}
	}
	post := value.Tuple{0}
	if hasPost {
		n := groupInt(m, 9)
		if _, ok := m.Group(7); ok {
			n = groupInt(m, 7)
		}
		post = value.Tuple{1, n}
	}
	dev := value.Tuple{1}
	if hasDev {
		dev = value.Tuple{0, groupInt(m, 11)}
	}
	local, _ := m.Group(12)
	return value.Tuple{groupInt(m, 1), releaseTuple(text), pre, post, dev, localTuple(local)}, nil
}

func pep440Letter(word string) string {
	switch word = strings.ToLower(word); word {
	case "alpha":
		return "a"
	case "beta":
		return "b"
	case "c", "pre", "preview":
		return "rc"
	}
	return word
}

// releaseTuple drops zeros at the end, which do not count.
func releaseTuple(text string) value.Tuple {
	var out value.Tuple
	for _, p := range strings.Split(text, ".") {
		n, _ := value.ParseInt(p, 10)
		out = append(out, n)
	}
	for len(out) > 0 && out[len(out)-1] == 0 {
		out = out[:len(out)-1]
	}
	return out
}

func localTuple(text string) value.Tuple {
	var out value.Tuple
	if text == "" {
		return out
	}
	for _, p := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune("-_.", r) }) {
		if n, ok := value.ParseInt(p, 10); ok {
			out = append(out, value.Tuple{1, n})
		} else {
			out = append(out, value.Tuple{0, p})
		}
	}
	return out
}
