// Package pyre gives Python's re module on top of regexp2. Flowing in: a
// pattern and subjects as Python would get them. Flowing out: matches with
// Python's group numbers, empty-match rules, templates and error texts. Modules
// and the template engine call it; it never reads files or variables.
//
// Subjects are Go strings. An invalid UTF-8 byte stands for a surrogate escape
// and survives every operation.
package pyre

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2"
)

// Flags are Python's compile flags.
type Flags uint8

const (
	IgnoreCase Flags = 1 << iota // re.I
	Multiline                    // re.M: ^ and $ also match at line ends
	DotAll                       // re.S: . also matches a newline
	Verbose                      // re.X: white space and comments are ignored
	ASCII                        // re.A: \w, \d, \s and \b know ASCII only
	Bytes                        // a bytes pattern on bytes subjects; implies ASCII
)

// MatchTimeout bounds a single match: Python has no bound, but an engine that
// serves many hosts must not hang on one pattern.
const MatchTimeout = 20 * time.Second

// ErrTimeout is wrapped by the error of a match that took longer than
// MatchTimeout.
var ErrTimeout = errors.New("time-out")

// Error is a pattern or template error with Python's text.
type Error struct {
	Msg     string
	Pattern string
	Pos     int // in characters
}

// Error gives the text of Python's re.error.
func (e *Error) Error() string {
	if e.Pos < 0 {
		return e.Msg
	}
	text := fmt.Sprintf("%s at position %d", e.Msg, e.Pos)
	runes := []rune(e.Pattern)
	if !strings.Contains(e.Pattern, "\n") || e.Pos > len(runes) {
		return text
	}
	before := string(runes[:e.Pos])
	line := strings.Count(before, "\n") + 1
	column := len([]rune(before[strings.LastIndex(before, "\n")+1:])) + 1
	return fmt.Sprintf("%s (line %d, column %d)", text, line, column)
}

// Regexp is a compiled pattern; it may be used concurrently.
type Regexp struct {
	pattern string
	bytes   bool
	groups  int
	names   map[string]int
	source  string // the pattern in regexp2's dialect
	options regexp2.RegexOptions
	timeout time.Duration // of a single match

	search  *regexp2.Regexp
	advance lazyRegexp // finds no empty match at the start position
	match   lazyRegexp // anchored at the start
	full    lazyRegexp // anchored at both ends
}

type lazyRegexp struct {
	once sync.Once
	re   *regexp2.Regexp
	err  error
}

// Compile compiles a Python pattern. The error is an *Error.
func Compile(pattern string, flags Flags) (*Regexp, error) {
	t := newTranslator(pattern, flags)
	if err := t.run(); err != nil {
		return nil, err
	}
	re := &Regexp{
		pattern: pattern, bytes: flags&Bytes != 0,
		groups: t.groups, names: t.names,
		source: t.out.String(), options: t.options, timeout: MatchTimeout,
	}
	search, err := re.compile(re.source)
	if err != nil {
		return nil, &Error{Msg: err.Error(), Pattern: pattern, Pos: -1}
	}
	re.search = search
	return re, nil
}

// Escape quotes every character that is special in a pattern, as re.escape.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range decode(s, false) {
		if strings.ContainsRune("()[]{}?*+-|^$\\.&~# \t\n\r\v\f", r) {
			b.WriteByte('\\')
		}
		b.WriteString(encode([]rune{r}))
	}
	return b.String()
}

// String returns the pattern as given to Compile.
func (re *Regexp) String() string { return re.pattern }

// NumGroups returns the number of capturing groups, group 0 not counted.
func (re *Regexp) NumGroups() int { return re.groups }

// GroupIndex returns the number of a named group.
func (re *Regexp) GroupIndex(name string) (int, bool) {
	i, ok := re.names[name]
	return i, ok
}

// GroupNames returns the names of the groups by number ("" for unnamed ones
// and for group 0).
func (re *Regexp) GroupNames() []string {
	names := make([]string, re.groups+1)
	for name, i := range re.names {
		names[i] = name
	}
	return names
}

func (re *Regexp) compile(source string) (*regexp2.Regexp, error) {
	c, err := regexp2.Compile(source, re.options)
	if err != nil {
		return nil, err
	}
	c.MatchTimeout = re.timeout
	return c, nil
}

func (re *Regexp) lazy(l *lazyRegexp, before, after string) (*regexp2.Regexp, error) {
	l.once.Do(func() { l.re, l.err = re.compile(before + re.source + after) })
	return l.re, l.err
}
