package jinja

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"play/modules/pyre"
	"play/modules/value"
)

// regexFilters work with Python's regular expressions.
func regexFilters() []Builtin {
	return []Builtin{
		{Name: "regex_escape", Params: "re_type='python'", Doc: "quote the special characters of patterns", Fn: filterRegexEscape},
		{Name: "regex_findall", Params: "regex, multiline=False, ignorecase=False", Doc: "every match of a pattern", Fn: filterRegexFindall},
		{Name: "regex_replace", Params: "pattern='', replacement='', ignorecase=False, multiline=False", Doc: "replace the matches of a pattern", Fn: filterRegexReplace},
		{Name: "regex_search", Params: "regex, *args, **kwargs", Doc: "the first match of a pattern, or groups of it", Fn: filterRegexSearch},
	}
}

// regexTests match a pattern.
func regexTests() []Builtin {
	const params = "pattern='', ignorecase=False, multiline=False"
	return []Builtin{
		{Name: "match", Params: params, Doc: "the pattern matches at the start", Fn: func(c *Call) (any, error) { return regexTest(c, "match") }},
		{Name: "regex", Params: params + ", match_type='search'", Doc: "the pattern matches", Fn: func(c *Call) (any, error) {
			kind, _ := c.Args[3].(string)
			return regexTest(c, kind)
		}},
		{Name: "search", Params: params, Doc: "the pattern matches anywhere", Fn: func(c *Call) (any, error) { return regexTest(c, "search") }},
	}
}

// regexFlags turns the filters' truth values into flags.
func regexFlags(ignoreCase, multiline any) pyre.Flags {
	var flags pyre.Flags
	if value.Truth(ignoreCase) {
		flags |= pyre.IgnoreCase
	}
	if value.Truth(multiline) {
		flags |= pyre.Multiline
	}
	return flags
}

// compileRegex compiles a pattern, or takes it from the environment's cache.
func compileRegex(c *Call, pattern string, flags pyre.Flags) (*pyre.Regexp, error) {
	key := regexKey{pattern, flags}
	if re, ok := c.Env.regexes.get(key); ok {
		return re, nil
	}
	re, err := pyre.Compile(pattern, flags)
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression %q: %w", pattern, err)
	}
	c.Env.regexes.put(key, re)
	return re, nil
}

type regexKey struct {
	pattern string
	flags   pyre.Flags
}

// maxRegexes is how many compiled patterns are kept.
const maxRegexes = 1000

// regexCache keeps compiled patterns; a full one is emptied.
type regexCache struct {
	mu sync.RWMutex
	m  map[regexKey]*pyre.Regexp
}

func (c *regexCache) get(key regexKey) (*pyre.Regexp, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	re, ok := c.m[key]
	return re, ok
}

func (c *regexCache) put(key regexKey, re *pyre.Regexp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= maxRegexes {
		c.m = map[regexKey]*pyre.Regexp{}
	}
	c.m[key] = re
}

func regexTest(c *Call, kind string) (any, error) {
	re, err := compileRegex(c, value.Str(c.Args[0]), regexFlags(c.Args[1], c.Args[2]))
	if err != nil {
		return nil, err
	}
	find := re.Search
	switch kind {
	case "search":
	case "match":
		find = re.Match
	case "fullmatch":
		find = re.FullMatch
	default:
		return nil, fmt.Errorf("cannot match in the way %q: it must be search, match or fullmatch", kind)
	}
	m, err := find(value.Str(c.Value))
	return m != nil, err
}

func filterRegexReplace(c *Call) (any, error) {
	re, err := compileRegex(c, value.Str(c.Args[0]), regexFlags(c.Args[2], c.Args[3]))
	if err != nil {
		return nil, err
	}
	s, _, err := re.Sub(value.Str(c.Args[1]), value.Str(c.Value), 0)
	if err != nil {
		return nil, err
	}
	return s, checkText(len(s))
}

func filterRegexFindall(c *Call) (any, error) {
	re, err := compileRegex(c, value.Str(c.Args[0]), regexFlags(c.Args[2], c.Args[1]))
	if err != nil {
		return nil, err
	}
	found, err := re.FindAll(value.Str(c.Value))
	if err != nil {
		return nil, err
	}
	out := value.NewList()
	for _, m := range found {
		out.Append(findallItem(m, re.NumGroups()))
	}
	return out, nil
}

// findallItem is the whole match, the only group, or a tuple of the groups.
func findallItem(m *pyre.Match, groups int) any {
	switch groups {
	case 0:
		return m.Text()
	case 1:
		s, _ := m.Group(1)
		return s
	}
	row := make(value.Tuple, groups)
	for i := range row {
		row[i], _ = m.Group(i + 1)
	}
	return row
}

func filterRegexSearch(c *Call) (any, error) {
	var groups []func(*pyre.Match) (any, error)
	for _, arg := range c.Rest {
		g, err := groupArg(value.Str(arg))
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	options := optionsOf(c)
	flags := regexFlags(option(options, "ignorecase", false), option(options, "multiline", false))
	re, err := compileRegex(c, value.Str(c.Args[0]), flags)
	if err != nil {
		return nil, err
	}
	m, err := re.Search(value.Str(c.Value))
	if err != nil || m == nil {
		return nil, err
	}
	if len(groups) == 0 {
		return m.Text(), nil
	}
	out := value.NewList()
	for _, g := range groups {
		v, err := g(m)
		if err != nil {
			return nil, err
		}
		out.Append(v)
	}
	return out, nil
}

// groupArg reads \1 or \g<name>.
func groupArg(arg string) (func(*pyre.Match) (any, error), error) {
	if name, ok := strings.CutPrefix(arg, `\g<`); ok {
		name, _, _ = strings.Cut(name, ">")
		return groupNamed(name), nil
	}
	digits, ok := strings.CutPrefix(arg, `\`)
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, errors.New("Unknown argument")
	}
	n, _ := value.ParseInt(digits, 10)
	return groupNumbered(n), nil
}

func groupNamed(name string) func(*pyre.Match) (any, error) {
	return func(m *pyre.Match) (any, error) {
		i, ok := m.Regexp().GroupIndex(name)
		if !ok {
			return nil, errors.New("no such group")
		}
		return groupText(m, i), nil
	}
}

func groupNumbered(n any) func(*pyre.Match) (any, error) {
	return func(m *pyre.Match) (any, error) {
		i, ok := n.(int)
		if !ok || i > m.Regexp().NumGroups() {
			return nil, errors.New("no such group")
		}
		return groupText(m, i), nil
	}
}

func groupText(m *pyre.Match, i int) any {
	if s, ok := m.Group(i); ok {
		return s
	}
	return nil
}

func filterRegexEscape(c *Call) (any, error) {
	s := value.Str(c.Value)
	switch kind := value.Str(c.Args[0]); kind {
	case "python":
		return pyre.Escape(s), nil
	case "posix_basic":
		var b strings.Builder
		for i := range len(s) {
			if strings.IndexByte(`].[^$*\`, s[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
		}
		return b.String(), nil
	case "posix_extended":
		return nil, fmt.Errorf("Regex type (%s) not yet implemented", kind)
	default:
		return nil, fmt.Errorf("Invalid regex type (%s)", kind)
	}
}
