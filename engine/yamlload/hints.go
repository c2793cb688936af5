package yamlload

import (
	"fmt"
	"regexp"
	"strings"
)

// quoteBraces is the hint about the most common mistake of all.
const quoteBraces = `a value that starts with {{ must be quoted: name: "{{ value }}"`

// mistake is what is known about a text that is not YAML.
type mistake struct {
	data     []byte
	offset   int
	problem  string // yaml.v3's words
	line     string // the line of the mistake
	previous string // the line with content before it
}

var (
	bareBraces  = regexp.MustCompile(`(?:^\s*|[:\-] +)\{\{`)
	noSpace     = regexp.MustCompile(`^\s*(?:- +)?[A-Za-z_][\w.]*:[^\s:/\\]`)
	equals      = regexp.MustCompile(`^\s*(?:- +)?[A-Za-z_][\w.]*\s*=\s*\S`)
	quoteThen   = regexp.MustCompile(`[:\-] +(?:"[^"]*"|'[^']*')\s*[^\s,#\]}:]`)
	twoColons   = regexp.MustCompile(`:\s.*\S:(?:\s|$)`)
	tabIndent   = regexp.MustCompile(`^\s*\t`)
	badStart    = regexp.MustCompile("[:\\-] +([@`%])")
	backslashed = regexp.MustCompile(`\\.`)
)

// message is the problem in words that need no YAML specification.
func (m mistake) message() string {
	switch {
	case strings.Contains(m.problem, "cannot start any token") && m.atTab():
		return "a tab cannot be used as indentation"
	case strings.Contains(m.problem, "unexpected end of stream"), strings.Contains(m.problem, "unexpected document indicator"):
		return "the quoted text that begins here never ends"
	case strings.HasPrefix(m.problem, "unknown anchor"):
		return strings.ReplaceAll(m.problem, "'", `"`)
	}
	return m.problem
}

// atTab reports whether the mistake is a tab in front of a line's content.
func (m mistake) atTab() bool { return tabIndent.MatchString(m.line) }

// hint is a sentence about what would help, or "".
func (m mistake) hint() string {
	for _, look := range []func() string{m.tabHint, m.bracesHint, m.quoteHint, m.startHint, m.colonHint, m.structureHint} {
		if hint := look(); hint != "" {
			return hint
		}
	}
	return ""
}

func (m mistake) tabHint() string {
	if m.atTab() {
		return "indent with spaces"
	}
	return ""
}

func (m mistake) bracesHint() string {
	if bareBraces.MatchString(m.line) || strings.Contains(m.problem, "did not find expected") && bareBraces.MatchString(m.previous) {
		return quoteBraces
	}
	return ""
}

func (m mistake) quoteHint() string {
	switch {
	case strings.Contains(m.problem, "unknown escape character"):
		return fmt.Sprintf(`in double quotes a backslash starts an escape: write \%s, or use single quotes`, backslashed.FindString(m.tail()))
	case strings.Contains(m.problem, "unexpected end of stream"), strings.Contains(m.problem, "unexpected document indicator"):
		return "close the quotes, or write the quote character twice inside single quotes"
	case quoteThen.MatchString(m.line):
		return "a value that starts with a quote must end with it: put quotes around the whole value"
	}
	return ""
}

// tail is the text from the character before the mistake on.
func (m mistake) tail() string { return string(m.data[max(m.offset-1, 0):]) }

func (m mistake) startHint() string {
	if found := badStart.FindStringSubmatch(m.line); found != nil && strings.Contains(m.problem, "cannot start any token") {
		return fmt.Sprintf("a value that starts with %q must be quoted", found[1])
	}
	if strings.HasPrefix(m.problem, "unknown anchor") {
		return "a value that starts with \"*\" must be quoted"
	}
	return ""
}

func (m mistake) colonHint() string {
	switch {
	case noSpace.MatchString(m.line):
		return `put a space after the colon: "name: value"`
	case noSpace.MatchString(m.previous) && !strings.Contains(m.previous, ": "):
		return `put a space after the colon in the line above: "name: value"`
	case equals.MatchString(m.line) && !strings.Contains(m.line, ": "):
		return `write "name: value", not "name=value"`
	case equals.MatchString(m.previous) && !strings.Contains(m.previous, ": "):
		return `write "name: value", not "name=value", in the line above`
	case strings.HasPrefix(m.problem, "mapping values are not allowed") && twoColons.MatchString(m.line):
		return `a value that holds ": " must be quoted`
	}
	return ""
}

func (m mistake) structureHint() string {
	switch {
	case strings.Contains(m.problem, "',' or ']'"):
		return `a list that starts with "[" must end with "]"`
	case strings.Contains(m.problem, "',' or '}'"):
		return `a dict that starts with "{" must end with "}"`
	case strings.Contains(m.problem, "could not find expected ':'"):
		return `every line of a mapping must read "name: value"`
	case strings.Contains(m.problem, "did not find expected"), strings.HasPrefix(m.problem, "mapping values are not allowed"):
		return "this line should start in the same column as the lines it belongs to"
	}
	return ""
}
