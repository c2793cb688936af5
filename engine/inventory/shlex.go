package inventory

import (
	"errors"
	"strings"
)

var (
	errNoQuote  = errors.New("no closing quotation")
	errNoEscape = errors.New("no escaped character")
)

// splitWords splits a line as a POSIX shell would, where # starts a comment
// anywhere outside quotes: the way host lines of INI inventories are read.
func splitWords(line string) ([]string, error) {
	if !strings.ContainsAny(line, "'\"\\#") {
		return strings.FieldsFunc(line, isBlank), nil
	}
	s := wordSplitter{line: line}
	for s.i < len(line) && line[s.i] != '#' {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	s.flush()
	return s.words, nil
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }

type wordSplitter struct {
	line  string
	i     int
	word  strings.Builder
	open  bool // a word has begun, maybe with an empty quotation
	words []string
}

func (s *wordSplitter) flush() {
	if s.open {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.open = false
}

func (s *wordSplitter) step() error {
	c := s.line[s.i]
	s.i++
	switch {
	case isBlank(rune(c)):
		s.flush()
		return nil
	case c == '\\':
		if s.i >= len(s.line) {
			return errNoEscape
		}
		s.word.WriteByte(s.line[s.i])
		s.i++
	case c == '\'' || c == '"':
		if err := s.quoted(c); err != nil {
			return err
		}
	default:
		s.word.WriteByte(c)
	}
	s.open = true
	return nil
}

// quoted reads up to the closing quote; inside double quotes a backslash
// escapes itself and the quote.
func (s *wordSplitter) quoted(quote byte) error {
	for ; s.i < len(s.line); s.i++ {
		c := s.line[s.i]
		switch {
		case c == quote:
			s.i++
			return nil
		case c == '\\' && quote == '"' && s.i+1 < len(s.line) && strings.IndexByte("\\\"", s.line[s.i+1]) >= 0:
			s.i++
			c = s.line[s.i]
		}
		s.word.WriteByte(c)
	}
	return errNoQuote
}
