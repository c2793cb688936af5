package jinja

import (
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// delims are a document's delimiters and its rules about blanks.
type delims struct {
	blockStart, blockEnd     string
	printStart, printEnd     string
	commentStart, commentEnd string
	trimBlocks, lstripBlocks bool
	keepLastNewline          bool
	newline                  string
}

// defaultDelims are Ansible's: blocks swallow the newline after them.
func defaultDelims() delims {
	return delims{
		blockStart: "{%", blockEnd: "%}", printStart: "{{", printEnd: "}}",
		commentStart: "{#", commentEnd: "#}", trimBlocks: true, newline: "\n",
	}
}

type pieceKind uint8

const (
	pieceText pieceKind = iota
	piecePrint
	pieceTag
)

// piece is a run of plain text, or the inside of a print or statement tag.
type piece struct {
	kind pieceKind
	text text
}

// scanner splits a document into pieces; comments, raw blocks and the blanks
// around tags are dealt with here.
type scanner struct {
	d         delims
	all       text
	src       string
	pos       int
	found     [3]int // where the next comment, tag and print begin, once searched
	mark      text   // what follows the last place that was asked for
	markAt    int
	lineStart bool // the text that follows begins a line
	out       []piece
}

// scan splits a document.
func scan(t text, d delims) ([]piece, error) {
	if strings.Contains(t.src, "\r") {
		t.src = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(t.src)
	}
	s := &scanner{d: d, all: t, src: t.src, lineStart: true, found: [3]int{-1, -1, -1}}
	if !d.keepLastNewline {
		s.src = strings.TrimSuffix(s.src, "\n")
	}
	for s.pos < len(s.src) {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	return s.out, nil
}

// place is the place of an offset. Offsets mostly grow, so that counting goes
// on from the one before.
func (s *scanner) place(offset int) source.Pos {
	if offset < s.markAt || s.mark.src == "" {
		s.mark, s.markAt = s.all, 0
	}
	s.mark.pos = s.mark.place(offset - s.markAt)
	s.mark.src = s.mark.src[min(offset-s.markAt, len(s.mark.src)):]
	s.markAt = offset
	return s.mark.pos
}

// step reads the text up to the next tag, and the tag.
func (s *scanner) step() error {
	start, kind := s.nextTag()
	if start < 0 {
		s.emit(s.pos, s.src[s.pos:])
		s.pos = len(s.src)
		return nil
	}
	open := s.opener(kind)
	sign := signAt(s.src, start+len(open))
	s.emit(s.pos, s.before(s.src[s.pos:start], sign, kind != piecePrint))
	inner := start + len(open) + len(sign)
	switch kind {
	case pieceComment:
		return s.comment(start, inner)
	case pieceTag:
		if end, trim, ok := s.rawTag(inner, "raw"); ok {
			return s.raw(start, end, trim == "-")
		}
	}
	return s.tag(kind, start, inner)
}

// pieceComment marks a comment among the openers; no piece has it.
const pieceComment pieceKind = 255

func (s *scanner) opener(kind pieceKind) string {
	switch kind {
	case piecePrint:
		return s.d.printStart
	case pieceComment:
		return s.d.commentStart
	}
	return s.d.blockStart
}

// nextTag finds the next opening delimiter; at the same place the longest wins.
func (s *scanner) nextTag() (int, pieceKind) {
	best, kind, size := -1, pieceText, 0
	for n, k := range [3]pieceKind{pieceComment, pieceTag, piecePrint} {
		open := s.opener(k)
		if s.found[n] < s.pos {
			s.found[n] = len(s.src)
			if i := strings.Index(s.src[s.pos:], open); i >= 0 {
				s.found[n] = s.pos + i
			}
		}
		i := s.found[n]
		if i < len(s.src) && (best < 0 || i < best || i == best && len(open) > size) {
			best, kind, size = i, k, len(open)
		}
	}
	return best, kind
}

// signAt returns the "-" or "+" at a place, or nothing.
func signAt(src string, i int) string {
	if i < len(src) && (src[i] == '-' || src[i] == '+') {
		return src[i : i+1]
	}
	return ""
}

// before trims the text in front of a tag.
func (s *scanner) before(t, sign string, block bool) string {
	switch {
	case sign == "-":
		return strings.TrimRight(t, blanks)
	case sign == "+" || !block || !s.d.lstripBlocks:
		return t
	}
	line := strings.LastIndexByte(t, '\n') + 1
	if (line > 0 || s.lineStart) && strings.TrimLeft(t[line:], blanks) == "" {
		return t[:line]
	}
	return t
}

// blanks are what Python's \s matches among ASCII.
const blanks = " \t\n\r\f\v\x1c\x1d\x1e\x1f"

func (s *scanner) emit(at int, t string) {
	if t == "" {
		return
	}
	if s.d.newline != "\n" {
		t = strings.ReplaceAll(t, "\n", s.d.newline)
	}
	s.out = append(s.out, piece{pieceText, text{src: t, pos: s.place(at)}})
}

// after moves behind a tag that ends at end, and over the blanks that it swallows.
func (s *scanner) after(end int, sign string, block bool) {
	s.pos = end
	switch {
	case sign == "-":
		s.pos = len(s.src) - len(strings.TrimLeft(s.src[end:], blanks))
	case sign == "" && block && s.d.trimBlocks && strings.HasPrefix(s.src[end:], "\n"):
		s.pos++
	}
	s.lineStart = s.pos > 0 && s.src[s.pos-1] == '\n'
}

func (s *scanner) fail(at int, msg string) *source.Error {
	return source.Errorf(s.place(at), "%w", errorText("template syntax error: "+msg))
}

func (s *scanner) comment(start, inner int) error {
	i := strings.Index(s.src[inner:], s.d.commentEnd)
	if i < 0 {
		return s.fail(start, "Missing end of comment tag")
	}
	end := inner + i
	sign := ""
	if end > inner {
		sign = signAt(s.src, end-1)
	}
	s.after(end+len(s.d.commentEnd), sign, true)
	return nil
}

// rawTag matches "raw" or "endraw" and the end of its tag at a place.
func (s *scanner) rawTag(at int, word string) (end int, trim string, ok bool) {
	rest := strings.TrimLeft(s.src[at:], blanks)
	if !strings.HasPrefix(rest, word) {
		return 0, "", false
	}
	rest = strings.TrimLeft(rest[len(word):], blanks)
	trim = signAt(rest, 0)
	if trim == "+" && word == "raw" {
		return 0, "", false
	}
	rest = rest[len(trim):]
	if !strings.HasPrefix(rest, s.d.blockEnd) {
		return 0, "", false
	}
	return len(s.src) - len(rest) + len(s.d.blockEnd), trim, true
}

// raw copies everything up to "endraw".
func (s *scanner) raw(start, from int, trim bool) error {
	s.pos = from
	if trim {
		s.after(from, "-", true)
	}
	s.lineStart = s.src[s.pos-1] == '\n'
	for i := s.pos; ; {
		j := strings.Index(s.src[i:], s.d.blockStart)
		if j < 0 {
			return s.fail(start, "Missing end of raw directive")
		}
		i += j
		inner := i + len(s.d.blockStart)
		sign := signAt(s.src, inner)
		if end, after, ok := s.rawTag(inner+len(sign), "endraw"); ok {
			s.emit(s.pos, s.before(s.src[s.pos:i], sign, true))
			s.after(end, after, true)
			return nil
		}
		i = inner
	}
}

// tag reads a print or statement tag whose inside begins at inner.
func (s *scanner) tag(kind pieceKind, start, inner int) error {
	closer, expected := s.d.printEnd, "end of print statement"
	if kind == pieceTag {
		closer, expected = s.d.blockEnd, "end of statement block"
	}
	end, sign, err := s.tagEnd(inner, closer, kind == pieceTag)
	if err != nil {
		return err
	}
	if end < 0 {
		return s.fail(start, "unexpected end of template, expected '"+expected+"'.").WithHint("close it with %q", closer)
	}
	t := text{src: s.src[inner:end], pos: s.place(inner), raw: s.all.raw && kind == piecePrint}
	s.out = append(s.out, piece{kind, t})
	s.after(end+len(sign)+len(closer), sign, kind == pieceTag)
	return nil
}

// tagEnd finds the end of a tag: not inside strings or brackets.
func (s *scanner) tagEnd(from int, closer string, block bool) (end int, sign string, err error) {
	var open []byte // the brackets that are expected to close
	for i := from; i < len(s.src); i++ {
		if len(open) == 0 {
			rest := s.src[i:]
			if strings.HasPrefix(rest, closer) {
				return i, "", nil
			}
			if sign := signAt(rest, 0); (sign == "-" || sign == "+" && block) && strings.HasPrefix(rest[1:], closer) {
				return i, sign, nil
			}
		}
		switch c := s.src[i]; c {
		case '(', '[', '{':
			open = append(open, closing(c))
		case ')', ']', '}':
			if len(open) == 0 {
				failed := s.fail(i, "unexpected "+value.Repr(string(c)))
				if c == '}' { // half of what closes the tag
					failed = failed.WithHint("close it with %q", closer)
				}
				return 0, "", failed
			}
			if want := open[len(open)-1]; c != want {
				return 0, "", s.fail(i, "unexpected "+value.Repr(string(c))+", expected "+value.Repr(string(want)))
			}
			open = open[:len(open)-1]
		case '"', '\'':
			size := stringEnd(s.src[i:])
			if size < 0 {
				return 0, "", s.fail(i, "unexpected char "+value.Repr(string(c)))
			}
			i += size - 1
		}
	}
	return -1, "", nil
}

func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// stringEnd is the length of the string literal at the start of src, or -1.
func stringEnd(src string) int {
	for i := 1; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case src[0]:
			return i + 1
		}
	}
	return -1
}
