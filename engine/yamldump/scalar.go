package yamldump

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

func (e *emitter) scalar(n *node, at place) {
	a := analyze(n.text, e.unicode)
	style := e.choose(n, a, at)
	switch {
	case n.tag == "binary":
		e.indicator("!!binary", true, false, false)
	case n.tag != "str" && style != 0:
		e.indicator("!", true, false, false)
	}
	restore := e.deeper(true, false)
	switch style {
	case 0:
		e.plain(n.text, !at.simpleKey)
	case '\'':
		e.single(n.text, !at.simpleKey)
	case '"':
		e.double(n.text, !at.simpleKey)
	default:
		e.block(n.text, style)
	}
	restore()
}

// choose picks the simplest style that the text allows.
func (e *emitter) choose(n *node, a analysis, at place) byte {
	style := n.style
	if at.simpleKey && a.multiline {
		style = '"'
	}
	if style == 0 {
		allowed := a.blockPlain
		if e.flowLevel > 0 {
			allowed = a.flowPlain
		}
		if !allowed || n.text == "" && (e.flowLevel > 0 || at.simpleKey) || n.tag == "str" && resolves(n.text) {
			style = '\''
		}
	}
	if style == '\'' && !a.single {
		style = '"'
	}
	if (style == '|' || style == '>') && (!a.block || e.flowLevel > 0 || at.simpleKey) {
		style = '"'
	}
	return style
}

// analysis says in which styles a text can be written.
type analysis struct {
	multiline, flowPlain, blockPlain, single, block bool
}

func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// isPrintable is libyaml's notion: what is written as it is.
func isPrintable(r rune) bool {
	return r == '\n' || r >= 0x20 && r <= 0x7e || r >= 0xa0 && r <= 0xd7ff || r >= 0xe000 && r < 0xfeff ||
		r > 0xfeff && r <= 0xfffd
}

// spaces notes how blanks and line breaks touch each other and the ends.
type spaces struct {
	atEnd, trailingSpace, breakSpace, spaceBreak bool
	lastSpace, lastBreak                         bool
}

func (s *spaces) add(r rune, first, last bool) {
	space, brk := r == ' ', isBreak(r)
	if (space || brk) && (first || last) {
		s.atEnd = true
	}
	s.trailingSpace = s.trailingSpace || space && last
	s.breakSpace = s.breakSpace || space && s.lastBreak
	s.spaceBreak = s.spaceBreak || brk && s.lastSpace
	s.lastSpace, s.lastBreak = space, brk
}

func analyze(text string, unicode bool) analysis {
	if text == "" {
		return analysis{blockPlain: true, single: true}
	}
	var s spaces
	var special, multiline bool
	marks := indicators(text)
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		special = special || !isPrintable(r) || !unicode && r > 0x7f || r == utf8.RuneError && size == 1
		multiline = multiline || isBreak(r)
		s.add(r, i == 0, i+size == len(text))
	}
	plain := !s.atEnd && !s.breakSpace && !s.spaceBreak && !special && !multiline
	return analysis{
		multiline:  multiline,
		flowPlain:  plain && !marks.flow,
		blockPlain: plain && !marks.block,
		single:     !s.breakSpace && !s.spaceBreak && !special,
		block:      !s.trailingSpace && !s.spaceBreak && !special,
	}
}

type marks struct{ flow, block bool }

// indicators finds characters that mean something to a YAML reader, in flow
// and in block context.
func indicators(text string) marks {
	var m marks
	if strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...") {
		m = marks{true, true}
	}
	blankBefore := true
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		first := i == 0
		i += size
		next, _ := utf8.DecodeRuneInString(text[i:])
		blankAfter := i == len(text) || next == ' ' || next == '\t' || isBreak(next)
		m.add(r, first, blankBefore, blankAfter)
		blankBefore = r == ' ' || r == '\t' || isBreak(r)
	}
	return m
}

func (m *marks) add(r rune, first, blankBefore, blankAfter bool) {
	flow, block := false, false
	switch {
	case r == ':':
		flow, block = true, blankAfter
	case first && r == '?':
		flow, block = true, blankAfter
	case first && r == '-':
		flow, block = blankAfter, blankAfter
	case first:
		flow = strings.ContainsRune("#,[]{}&*!|>'\"%@`", r)
		block = flow
	case r == '#':
		flow, block = blankBefore, blankBefore
	default:
		flow = strings.ContainsRune(",?[]{}", r)
	}
	m.flow, m.block = m.flow || flow, m.block || block
}

func (e *emitter) plain(text string, breaks bool) {
	if !e.whitespace && (text != "" || e.flowLevel > 0) {
		e.put(" ")
	}
	spaces := false
	for i, r := range text {
		if r == ' ' && breaks && !spaces && e.column > e.width && !strings.HasPrefix(text[i+1:], " ") {
			e.writeIndent()
			spaces = true
			continue
		}
		e.put(string(r))
		spaces = r == ' '
		e.indention = false
	}
	e.whitespace, e.indention = false, false
}

func (e *emitter) single(text string, breaks bool) {
	e.indicator("'", true, false, false)
	spaces, broken := false, false
	for i, r := range text {
		switch {
		case r == ' ':
			fold := breaks && !spaces && e.column > e.width && i > 0 && i < len(text)-1 && text[i+1] != ' '
			if fold {
				e.writeIndent()
			} else {
				e.put(" ")
			}
			spaces = true
		case isBreak(r):
			if !broken && r == '\n' {
				e.lineBreak()
			}
			e.writeBreak(r)
			e.indention = true
			broken = true
		default:
			if broken {
				e.writeIndent()
			}
			if r == '\'' {
				e.put("'")
			}
			e.put(string(r))
			e.indention = false
			spaces, broken = false, false
		}
	}
	if broken {
		e.writeIndent()
	}
	e.indicator("'", false, false, false)
	e.whitespace, e.indention = false, false
}

// writeBreak keeps the unusual line breaks as they are.
func (e *emitter) writeBreak(r rune) {
	if r == '\n' {
		e.lineBreak()
		return
	}
	e.out.WriteRune(r)
	e.column = 0
}

func (e *emitter) double(text string, breaks bool) {
	e.indicator(`"`, true, false, false)
	spaces := false
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			e.put(fmt.Sprintf(`\uDC%02X`, text[i]))
			spaces = false
		case !isPrintable(r) || !e.unicode && r > 0x7f || isBreak(r) || r == '"' || r == '\\':
			e.put(escape(r))
			spaces = false
		case r == ' ':
			if breaks && !spaces && e.column > e.width && i > 0 && i < len(text)-1 {
				e.writeIndent()
				if text[i+1] == ' ' {
					e.put(`\`)
				}
			} else {
				e.put(" ")
			}
			spaces = true
		default:
			e.put(string(r))
			spaces = false
		}
	}
	e.indicator(`"`, false, false, false)
	e.whitespace, e.indention = false, false
}

func escape(r rune) string {
	const short = "\x00\a\b\t\n\v\f\r\x1b\"\\"
	if i := strings.IndexRune(short, r); i >= 0 {
		return `\` + "0abtnvfre\"\\"[i:i+1]
	}
	switch {
	case r == 0x85:
		return `\N`
	case r == 0xa0:
		return `\_`
	case r == 0x2028:
		return `\L`
	case r == 0x2029:
		return `\P`
	case r <= 0xff:
		return fmt.Sprintf(`\x%02X`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04X`, r)
	}
	return fmt.Sprintf(`\U%08X`, r)
}

// block writes a literal or folded text.
func (e *emitter) block(text string, style byte) {
	hint := ""
	if strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\n") {
		hint = fmt.Sprint(e.indentStep)
	}
	e.openEnded = false
	switch {
	case !strings.HasSuffix(text, "\n"):
		hint += "-"
	case text == "\n" || strings.HasSuffix(text, "\n\n"):
		hint += "+"
	}
	e.indicator(string(style)+hint, true, false, false)
	e.openEnded = strings.HasSuffix(hint, "+")
	e.lineBreak()
	e.indention, e.whitespace = true, true
	fold := style == '>'
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			e.writeIndent()
			e.foldLine(line, fold)
			e.indention = false
			if fold && i+1 < len(lines) && lines[i+1] != "" && !strings.HasPrefix(lines[i+1], " ") && !strings.HasPrefix(line, " ") {
				e.lineBreak()
			}
		}
		if i+1 < len(lines) || strings.HasSuffix(text, "\n") {
			e.lineBreak()
			e.indention = true
		}
	}
}

func (e *emitter) foldLine(line string, fold bool) {
	for i, r := range line {
		if fold && r == ' ' && i > 0 && i+1 < len(line) && line[i+1] != ' ' && line[i-1] != ' ' && e.column > e.width {
			e.writeIndent()
			continue
		}
		e.put(string(r))
		e.indention = false
	}
}
