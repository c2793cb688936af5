package playbook

import (
	"errors"
	"strconv"
	"strings"

	"play/modules/value"
)

// ErrUnbalanced is returned for argument text in which quotes or Jinja braces
// do not close.
var ErrUnbalanced = errors.New("failed at splitting arguments, either an unbalanced jinja2 block or quotes")

// rawOptions are the options that are taken out of the text of command, shell,
// raw and script; every other word of it, with "=" or not, stays text.
var rawOptions = map[string]bool{
	"creates": true, "removes": true, "chdir": true, "executable": true, "warn": true,
	"stdin": true, "stdin_add_newline": true, "strip_empty_ends": true,
}

// ParseKV reads argument text as modules take it: "name=value" words, quotes
// and Jinja blocks kept whole. Words without "=" become "_raw_params". With raw
// set only the options of the command modules are taken out. All values are
// strings. The error wraps ErrUnbalanced.
func ParseKV(text string, raw bool) (*value.Dict, error) {
	words, err := splitArgs(text)
	if err != nil {
		return nil, err
	}
	d := value.NewDict()
	var rest []string
	for _, word := range words {
		plain := unescape(word)
		at := unescapedEquals(plain)
		if at < 0 {
			rest = append(rest, strings.ReplaceAll(word, `\=`, "="))
			continue
		}
		name := strings.TrimSpace(plain[:at])
		if raw && !rawOptions[name] {
			rest = append(rest, word)
			continue
		}
		d.Set(name, unquote(strings.TrimSpace(plain[at+1:])))
	}
	if len(rest) > 0 {
		d.Set("_raw_params", joinArgs(rest))
	}
	return d, nil
}

// unescapedEquals finds the first "=" that is not at the start and not behind
// a backslash.
func unescapedEquals(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == '=' && s[i-1] != '\\' {
			return i
		}
	}
	return -1
}

// splitter splits argument text at spaces and line ends outside of quotes and
// Jinja blocks.
type splitter struct {
	words []string
	word  strings.Builder
	begun bool
	quote byte
	depth [3]int // open {{, {% and {#
	// lineStart is set until the first character of a line that is no space:
	// of the spaces before it one is a separator, as everywhere.
	lineStart bool
	// gap is set behind a separator until a word follows: at the end of a line
	// it separates nothing, and stays.
	gap bool
}

var (
	jinjaOpen  = [3]string{"{{", "{%", "{#"}
	jinjaClose = [3]string{"}}", "%}", "#}"}
)

// splitArgs returns the words of an argument text. Spaces beyond one separator
// and line ends stay at the end of the word before them.
func splitArgs(text string) ([]string, error) {
	s := splitter{lineStart: true}
	text = strings.TrimLeft(text, " \n")
	for i := 0; i < len(text); {
		i += s.step(text, i)
	}
	s.end()
	s.closeGap()
	if s.quote != 0 || s.inJinja() {
		return nil, ErrUnbalanced
	}
	return s.words, nil
}

// step takes the next character or mark and returns its length.
func (s *splitter) step(text string, i int) int {
	if s.quote == 0 && !s.inJinja() {
		if n := s.separator(text, i); n > 0 {
			return n
		}
	}
	s.lineStart = false
	for k := range jinjaOpen {
		if strings.HasPrefix(text[i:], jinjaOpen[k]) {
			s.depth[k]++
			return s.take(text[i : i+2])
		}
		if s.depth[k] > 0 && strings.HasPrefix(text[i:], jinjaClose[k]) {
			s.depth[k]--
			return s.take(text[i : i+2])
		}
	}
	c := text[i]
	if (c == '"' || c == '\'') && (i == 0 || text[i-1] != '\\') {
		switch s.quote {
		case 0:
			s.quote = c
		case c:
			s.quote = 0
		}
	}
	return s.take(text[i : i+1])
}

// separator handles white space outside of quotes and Jinja; 0 means that there
// is none.
func (s *splitter) separator(text string, i int) int {
	rest := text[i:]
	switch {
	case rest[0] == ' ':
		if !s.begun && !s.lineStart {
			s.extend(" ")
		}
		s.end()
		s.lineStart, s.gap = false, true
		return 1
	case rest[0] == '\n':
		s.end()
		s.closeGap()
		s.extend("\n")
		s.lineStart = true
		return 1
	case !s.begun && strings.HasPrefix(rest, "\\\n"): // the line goes on
		s.lineStart, s.gap = true, false
		return 2
	}
	return 0
}

func (s *splitter) take(part string) int {
	s.word.WriteString(part)
	s.begun, s.gap = true, false
	return len(part)
}

func (s *splitter) closeGap() {
	if s.gap {
		s.extend(" ")
		s.gap = false
	}
}

// extend adds white space to the last word.
func (s *splitter) extend(space string) {
	if n := len(s.words); n > 0 {
		s.words[n-1] += space
	}
}

func (s *splitter) end() {
	if s.begun {
		s.words = append(s.words, s.word.String())
		s.word.Reset()
		s.begun = false
	}
}

func (s *splitter) inJinja() bool { return s.depth[0]+s.depth[1]+s.depth[2] > 0 }

// joinArgs puts words together again: with a space, unless a line ended.
func joinArgs(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 && !strings.HasSuffix(words[i-1], "\n") {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

// unquote takes off one pair of quotes around the whole text.
func unquote(s string) string {
	n := len(s)
	if n > 1 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'') && s[n-2] != '\\' {
		return s[1 : n-1]
	}
	return s
}

// unescape decodes \n, \t, \x41, \u00e9 and the like; any other backslash
// stays.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		text, n := escape(s[i:])
		b.WriteString(text)
		i += n
	}
	return b.String()
}

// escape decodes the escape at the start of s.
func escape(s string) (text string, length int) {
	const letters, meant = `\'"abfnrtv`, "\\'\"\a\b\f\n\r\t\v"
	if i := strings.IndexByte(letters, s[1]); i >= 0 {
		return meant[i : i+1], 2
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[1]]
	if digits > 0 && len(s) >= 2+digits {
		if code, err := strconv.ParseUint(s[2:2+digits], 16, 32); err == nil {
			return string(rune(code)), 2 + digits
		}
	}
	return s[:1], 1
}
