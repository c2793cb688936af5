package ansiballz

import (
	"regexp"
	"strings"
)

// imported is one import statement's module, and the names that it takes out of
// it; names is nil for "import module".
type imported struct {
	module   string // dotted; leading dots are relative
	names    []string
	optional bool // it stands in a block, so that the module may do without it
}

var (
	plainImport = regexp.MustCompile(`^import\s+(.+)$`)
	fromImport  = regexp.MustCompile(`^from\s+([.\w\s]+?)\s*\bimport\b\s*(.+)$`)
	inlineBlock = regexp.MustCompile(`^(?:try|else|finally|if\b.*|except\b.*|with\b.*)\s*:\s*((?:import|from)\s.*)$`)
)

// importsOf lists the imports in Python source, in their order.
func importsOf(source string) []imported {
	var out []imported
	for _, st := range statements(source) {
		text, optional := st.text, st.indented
		if m := inlineBlock.FindStringSubmatch(text); m != nil {
			text, optional = m[1], true
		}
		if m := plainImport.FindStringSubmatch(text); m != nil {
			for _, part := range strings.Split(m[1], ",") {
				out = append(out, imported{module: firstWord(part), optional: optional})
			}
		} else if m := fromImport.FindStringSubmatch(text); m != nil {
			i := imported{module: strings.Join(strings.Fields(m[1]), ""), optional: optional}
			for _, part := range strings.Split(strings.Trim(m[2], "() \t"), ",") {
				if name := firstWord(part); name != "" {
					i.names = append(i.names, name)
				}
			}
			out = append(out, i)
		}
	}
	return out
}

// firstWord is the name in "name as other".
func firstWord(s string) string {
	if words := strings.Fields(s); len(words) > 0 {
		return words[0]
	}
	return ""
}

// statement is one simple statement on a line of its own.
type statement struct {
	text     string
	indented bool
}

// statements cuts Python source into statements: comments are dropped, strings
// become "", lines inside brackets and after a backslash are joined.
func statements(source string) []statement {
	s := &scanner{src: source}
	for s.pos < len(s.src) {
		s.step()
	}
	s.end(false)
	return s.out
}

type scanner struct {
	src   string
	pos   int
	depth int // of brackets
	line  strings.Builder
	after bool // the statement follows a ";"
	out   []statement
}

// step takes one character, string or comment.
func (s *scanner) step() {
	switch c := s.src[s.pos]; c {
	case '#':
		s.skipTo('\n')
	case '"', '\'':
		s.skipString(c)
		s.line.WriteString(`""`)
	case '\\':
		s.pos += 2
		s.line.WriteByte(' ')
	case '\n', ';':
		s.pos++
		if s.depth > 0 {
			s.line.WriteByte(' ')
			return
		}
		s.end(c == ';')
	default:
		s.pos++
		switch c {
		case '(', '[', '{':
			s.depth++
		case ')', ']', '}':
			s.depth = max(s.depth-1, 0)
		}
		s.line.WriteByte(c)
	}
}

// end closes the statement; more tells that another one follows on the line.
func (s *scanner) end(more bool) {
	line := s.line.String()
	s.line.Reset()
	text := strings.TrimSpace(line)
	indented := line != "" && (line[0] == ' ' || line[0] == '\t')
	if s.after && len(s.out) > 0 {
		indented = s.out[len(s.out)-1].indented
	}
	s.after = more
	if text != "" {
		s.out = append(s.out, statement{text, indented})
	}
}

func (s *scanner) skipTo(end byte) {
	for s.pos < len(s.src) && s.src[s.pos] != end {
		s.pos++
	}
}

// skipString passes a string in single or triple quotes.
func (s *scanner) skipString(quote byte) {
	mark := string(quote)
	if triple := strings.Repeat(mark, 3); strings.HasPrefix(s.src[s.pos:], triple) {
		mark = triple
	}
	s.pos += len(mark)
	for s.pos < len(s.src) {
		switch {
		case s.src[s.pos] == '\\':
			s.pos += 2
			continue
		case strings.HasPrefix(s.src[s.pos:], mark):
			s.pos += len(mark)
			return
		case s.src[s.pos] == '\n' && len(mark) == 1: // it was no string after all
			return
		}
		s.pos++
	}
	s.pos = len(s.src)
}
