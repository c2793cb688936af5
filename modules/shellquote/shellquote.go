// Package shellquote splits a line into words as a POSIX shell does, without
// expanding anything, and quotes words so that a shell reads them back. In and
// out are plain strings. It starts no shell.
package shellquote

import (
	"errors"
	"strings"
)

// The errors of Split, in the words of Python's shlex.
var (
	ErrQuote  = errors.New("No closing quotation")
	ErrEscape = errors.New("No escaped character")
)

// Split cuts a line at blanks; quotes and backslashes work as in a shell, and a
// # is an ordinary character.
func Split(line string) ([]string, error) {
	s := splitter{line: line}
	var words []string
	for {
		word, ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return words, nil
		}
		words = append(words, word)
	}
}

type splitter struct {
	line string
	at   int
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// next reads one word; ok is false at the end.
func (s *splitter) next() (word string, ok bool, err error) {
	for s.at < len(s.line) && blank(s.line[s.at]) {
		s.at++
	}
	if s.at == len(s.line) {
		return "", false, nil
	}
	var b strings.Builder
	for s.at < len(s.line) && !blank(s.line[s.at]) {
		c := s.line[s.at]
		s.at++
		switch c {
		case '\\':
			if s.at == len(s.line) {
				return "", false, ErrEscape
			}
			b.WriteByte(s.line[s.at])
			s.at++
		case '\'', '"':
			if err := s.quoted(&b, c); err != nil {
				return "", false, err
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true, nil
}

// quoted reads up to the closing quote. Inside double quotes a backslash takes
// effect before a double quote and a backslash only.
func (s *splitter) quoted(b *strings.Builder, quote byte) error {
	for s.at < len(s.line) {
		c := s.line[s.at]
		s.at++
		if c == quote {
			return nil
		}
		if c == '\\' && quote == '"' {
			if s.at == len(s.line) {
				return ErrEscape
			}
			if next := s.line[s.at]; next == '"' || next == '\\' {
				c = next
				s.at++
			}
		}
		b.WriteByte(c)
	}
	return ErrQuote
}

// Quote returns a word that a shell reads back as s.
func Quote(s string) string {
	if s == "" {
		return "''"
	}
	if strings.IndexFunc(s, special) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

func special(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r))
}

// Join quotes words and puts blanks between them.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}
