package jinja

import (
	"fmt"
	"strconv"
	"strings"

	"play/engine/source"
)

// tagPrefix keeps this package's tags apart from others in pongo2's registry.
const tagPrefix = "play_"

// bridge writes scanned pieces as a document that pongo2 can read: each tag
// carries its place and its quoted text. Nesting is checked here, so that
// mistakes are told in the words of the original.
type bridgeWriter struct {
	b    strings.Builder
	open []openTag
}

// openTag is a block that waits for its end.
type openTag struct {
	name     string // as written
	tag      string // as bridged
	elseSeen bool   // its else was there
}

func bridge(pieces []piece) (string, error) {
	w := &bridgeWriter{}
	w.b.WriteString("{% " + tagPrefix + "document %}")
	for _, p := range pieces {
		switch p.kind {
		case pieceText:
			w.plain(p.text)
		case piecePrint:
			w.print(p.text)
		default:
			if err := w.statement(p.text); err != nil {
				return "", err
			}
		}
	}
	if len(w.open) > 0 {
		return "", w.unclosed(pieces[len(pieces)-1].text.pos)
	}
	w.b.WriteString("{% " + tagPrefix + "enddocument %}")
	return w.b.String(), nil
}

// plain writes text as it is unless pongo2 would see something in it.
func (w *bridgeWriter) plain(t text) {
	if strings.Contains(t.src, "{{") || strings.Contains(t.src, "{%") || strings.Contains(t.src, "{#") ||
		strings.HasSuffix(t.src, "{") || strings.Contains(t.src, "\x01") {
		w.tag("text", t)
		return
	}
	w.b.WriteString(t.src)
}

func (w *bridgeWriter) print(t text) {
	if t.raw {
		w.tag("printraw", t)
		return
	}
	w.tag("print", t)
}

func (w *bridgeWriter) tag(name string, t text) {
	fmt.Fprintf(&w.b, "{%% %s%s %d %d \"%s\" %%}", tagPrefix, name, t.pos.Line, t.pos.Col, quoteForPongo(t.src))
}

// quoteForPongo writes text such that pongo2's two escapes, \" and \\, carry it
// through: as a Go literal, so that it has neither newlines nor odd bytes.
func quoteForPongo(s string) string {
	return pongoEscapes.Replace(strconv.QuoteToASCII(s))
}

// pongoEscapes are the two escapes that pongo2 knows.
var pongoEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// blockTags are the statements with an end, and what may stand between.
var blockTags = map[string][]string{
	"if": {"elif", "else", "endif"}, "for": {"endfor", "else"}, "setblock": {"endset"}, "macro": {"endmacro"},
	"call": {"endcall"}, "filter": {"endfilter"}, "with": {"endwith"}, "block": {"endblock"}, "autoescape": {"endautoescape"},
}

// simpleTags are the statements without an end.
var simpleTags = map[string]bool{
	"set": true, "do": true, "include": true, "import": true, "from": true, "extends": true,
	"break": true, "continue": true, "print": true,
}

func (w *bridgeWriter) statement(t text) error {
	lead := len(t.src) - len(strings.TrimLeft(t.src, blanks))
	size := nameLen(t.src[lead:])
	name := t.src[lead : lead+size]
	args := text{src: t.src[lead+size:], pos: t.place(lead + size)}
	if size == 0 {
		return source.Errorf(t.place(lead), "%w", errorText("template syntax error: tag name expected"))
	}
	tag := name
	if name == "set" && !assigns(args.src) {
		tag = "setblock"
	}
	switch {
	case blockTags[tag] != nil:
		w.open = append(w.open, openTag{name: name, tag: tag})
		w.tag(tag, args)
	case simpleTags[tag]:
		if tag == "print" {
			tag = "printall"
		}
		w.tag(tag, args)
	default:
		return w.closing(t.place(lead), name, args)
	}
	return nil
}

// assigns tells whether a set statement has a "=" of its own.
func assigns(args string) bool {
	toks, err := tokenize(args, false)
	if err != nil || len(toks) == 1 {
		return true
	}
	depth := 0
	for _, t := range toks {
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case "=":
			if depth == 0 && t.kind == kOp {
				return true
			}
		}
	}
	return false
}

// closing writes the end, or a middle part, of the innermost open block.
func (w *bridgeWriter) closing(pos source.Pos, name string, args text) error {
	if len(w.open) == 0 {
		return source.Errorf(pos, "%w", errorText("template syntax error: Encountered unknown tag '"+name+"'."))
	}
	top := &w.open[len(w.open)-1]
	ends := blockTags[top.tag]
	for _, end := range ends {
		isEnd := strings.HasPrefix(name, "end")
		if name != end || top.elseSeen && !isEnd {
			continue
		}
		if err := noArguments(name, args); err != nil {
			return err
		}
		if isEnd {
			w.open = w.open[:len(w.open)-1]
		}
		if name == "else" {
			top.elseSeen = true
		}
		if top.tag == "setblock" {
			name = "endsetblock"
		}
		w.tag(name, args)
		return nil
	}
	return source.Errorf(pos, "%w", errorText("template syntax error: Encountered unknown tag '"+name+"'."+w.wanted()))
}

// noArguments checks that nothing follows an else or an end.
func noArguments(name string, args text) error {
	if name == "elif" || name == "endblock" {
		return nil
	}
	args.block = true
	return newParser(args).end()
}

func (w *bridgeWriter) wanted() string {
	top := w.open[len(w.open)-1]
	ends := blockTags[top.tag]
	if top.elseSeen {
		ends = []string{"end" + top.name}
	}
	return " Jinja was looking for the following tags: '" + strings.Join(ends, "' or '") +
		"'. The innermost block that needs to be closed is '" + top.name + "'."
}

func (w *bridgeWriter) unclosed(pos source.Pos) error {
	return source.Errorf(pos, "%w", errorText("template syntax error: Unexpected end of template."+w.wanted()))
}
