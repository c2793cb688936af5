package pyre

import (
	"fmt"

	"github.com/dlclark/regexp2"
)

// Match is one match in a subject.
type Match struct {
	re    *Regexp
	text  []rune
	spans [][2]int // by group number; {-1, -1} for a group that took no part
}

// Search finds the first match anywhere; nil when there is none.
func (re *Regexp) Search(s string) (*Match, error) {
	return re.at(re.search, decode(s, re.bytes), 0)
}

// Match matches at the start of s only; nil when it does not.
func (re *Regexp) Match(s string) (*Match, error) {
	c, err := re.lazy(&re.match, `\A(?:`, `)`)
	if err != nil {
		return nil, err
	}
	return re.at(c, decode(s, re.bytes), 0)
}

// FullMatch matches the whole of s; nil when it does not.
func (re *Regexp) FullMatch(s string) (*Match, error) {
	c, err := re.lazy(&re.full, `\A(?:`, `)\z`)
	if err != nil {
		return nil, err
	}
	return re.at(c, decode(s, re.bytes), 0)
}

// FindAll finds all matches, left to right and not overlapping, as re.finditer.
func (re *Regexp) FindAll(s string) ([]*Match, error) {
	return re.find(decode(s, re.bytes), 0)
}

// find returns at most limit matches (0: all). An empty match may follow a
// match directly, but not another empty one at the same place.
func (re *Regexp) find(text []rune, limit int) ([]*Match, error) {
	var found []*Match
	engine, pos := re.search, 0
	for limit <= 0 || len(found) < limit {
		m, err := re.at(engine, text, pos)
		if err != nil || m == nil {
			return found, err
		}
		found = append(found, m)
		pos = m.spans[0][1]
		engine = re.search
		if m.spans[0][0] == pos {
			if engine, err = re.lazy(&re.advance, `(?:`, `)(?!\G)`); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

func (re *Regexp) at(engine *regexp2.Regexp, text []rune, pos int) (*Match, error) {
	m, err := engine.FindRunesMatchStartingAt(text, pos)
	if err != nil {
		return nil, fmt.Errorf("cannot match %q: %w", re.pattern, ErrTimeout)
	}
	if m == nil {
		return nil, nil
	}
	return &Match{re: re, text: text, spans: spansOf(m, re.groups)}, nil
}

func spansOf(m *regexp2.Match, groups int) [][2]int {
	spans := make([][2]int, groups+1)
	spans[0] = [2]int{m.Index, m.Index + m.Length}
	for i := 1; i <= groups; i++ {
		spans[i] = [2]int{-1, -1}
		if g := m.GroupByNumber(i); g != nil && len(g.Captures) > 0 {
			spans[i] = [2]int{g.Index, g.Index + g.Length}
		}
	}
	return spans
}

// Group returns the text of a group; it is false when the group took no part.
func (m *Match) Group(i int) (string, bool) {
	if i < 0 || i >= len(m.spans) || m.spans[i][0] < 0 {
		return "", false
	}
	return encode(m.text[m.spans[i][0]:m.spans[i][1]]), true
}

// Text returns the whole match.
func (m *Match) Text() string {
	s, _ := m.Group(0)
	return s
}

// Named returns the text of a named group.
func (m *Match) Named(name string) (string, bool) {
	i, ok := m.re.names[name]
	if !ok {
		return "", false
	}
	return m.Group(i)
}

// Regexp returns the pattern that matched.
func (m *Match) Regexp() *Regexp { return m.re }

// Span returns where a group lies, in characters (bytes in bytes mode), or
// -1, -1 when it took no part.
func (m *Match) Span(i int) (start, end int) { return m.spans[i][0], m.spans[i][1] }

// Before returns the subject up to the match.
func (m *Match) Before() string { return encode(m.text[:m.spans[0][0]]) }

// After returns the subject behind the match.
func (m *Match) After() string { return encode(m.text[m.spans[0][1]:]) }

// Around returns the subject before a named group, the group, and the subject
// behind it; a group that took no part leaves all of the subject before it.
func (m *Match) Around(name string) (before, group, after string) {
	span := [2]int{-1, -1}
	if i, ok := m.re.names[name]; ok {
		span = m.spans[i]
	}
	if span[0] < 0 {
		return encode(m.text), "", ""
	}
	return encode(m.text[:span[0]]), encode(m.text[span[0]:span[1]]), encode(m.text[span[1]:])
}
