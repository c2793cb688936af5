package xmldoc

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth is how deep elements may nest, as in libxml2.
const maxDepth = 256

// Options say how to read.
type Options struct {
	DropBlank  bool // leave out white space between elements
	StripCData bool // CDATA sections become text
}

// SyntaxError tells why a text is no XML document.
type SyntaxError struct {
	Msg          string
	Line, Column int // from 1
}

// Error is as libxml2 words it.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s, line %d, column %d", e.Msg, e.Line, e.Column)
}

type parser struct {
	Options
	text string
	pos  int
	at   *Node // the innermost open element
	line []int // where the open elements began
}

// Parse reads a document. The error is a *SyntaxError.
func Parse(data string, o Options) (doc *Node, err error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	doc = &Node{Kind: Document}
	p := &parser{Options: o, text: text, at: doc}
	if strings.TrimSpace(text) == "" {
		return nil, p.wrong("Document is empty")
	}
	p.declaration()
	for p.pos < len(p.text) {
		if err := p.step(); err != nil {
			return nil, err
		}
	}
	switch {
	case p.at != doc:
		return nil, p.wrong("Premature end of data in tag %s line %d", p.at.Name(), p.line[len(p.line)-1])
	case doc.Root() == nil:
		return nil, p.wrong("Start tag expected, '<' not found")
	}
	return doc, nil
}

// decode makes UTF-8 with plain line ends of the bytes.
func decode(data string) (string, error) {
	data = strings.TrimPrefix(data, "\ufeff")
	if head, _, ok := strings.Cut(data, "?>"); ok && strings.HasPrefix(head, "<?xml") && !utf8.ValidString(data) {
		head = strings.ToLower(head)
		if strings.Contains(head, "iso-8859-1") || strings.Contains(head, "latin") {
			data = latin1(data)
		}
	}
	if !utf8.ValidString(data) {
		return "", &SyntaxError{Msg: "Input is not proper UTF-8, indicate encoding !", Line: 1, Column: 1}
	}
	return strings.ReplaceAll(strings.ReplaceAll(data, "\r\n", "\n"), "\r", "\n"), nil
}

func latin1(data string) string {
	runes := make([]rune, len(data))
	for i := range len(data) {
		runes[i] = rune(data[i])
	}
	return string(runes)
}

func (p *parser) wrong(format string, args ...any) *SyntaxError {
	before := p.text[:min(p.pos, len(p.text))]
	return &SyntaxError{Msg: fmt.Sprintf(format, args...), Line: strings.Count(before, "\n") + 1,
		Column: utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1}
}

func (p *parser) rest() string { return p.text[p.pos:] }

func (p *parser) declaration() {
	if rest := p.rest(); strings.HasPrefix(rest, "<?xml") && len(rest) > 5 && strings.ContainsAny(rest[5:6], " \t\n") {
		if end := strings.Index(rest, "?>"); end >= 0 {
			p.pos += end + 2
		}
	}
}

// step reads one node, or an end tag.
func (p *parser) step() error {
	rest := p.rest()
	switch {
	case strings.HasPrefix(rest, "<!--"):
		return p.enclosed("<!--", "-->", Comment, "Comment not terminated")
	case strings.HasPrefix(rest, "<![CDATA[") && p.at.Kind == Element:
		kind := CData
		if p.StripCData {
			kind = Text
		}
		return p.enclosed("<![CDATA[", "]]>", kind, "CData section not finished")
	case strings.HasPrefix(rest, "<?"):
		return p.instruction()
	case strings.HasPrefix(rest, "<!DOCTYPE") && p.at.Kind == Document:
		return p.doctype()
	case strings.HasPrefix(rest, "</"):
		return p.endTag()
	case rest[0] == '<':
		return p.startTag()
	}
	return p.content()
}

func (p *parser) enclosed(start, end string, kind Kind, unfinished string) error {
	body, _, ok := strings.Cut(p.rest()[len(start):], end)
	if !ok {
		p.pos = len(p.text)
		return p.wrong("%s", unfinished)
	}
	p.pos += len(start) + len(body) + len(end)
	p.add(&Node{Kind: kind, Text: body})
	return nil
}

func (p *parser) add(n *Node) {
	n.Parent = p.at
	if last := len(p.at.Children) - 1; n.Kind == Text && last >= 0 && p.at.Children[last].Kind == Text {
		p.at.Children[last].Text += n.Text
		return
	}
	p.at.Children = append(p.at.Children, n)
}

func (p *parser) instruction() error {
	body, _, ok := strings.Cut(p.rest()[2:], "?>")
	if !ok {
		return p.wrong("PI not terminated")
	}
	target, text, _ := strings.Cut(body, " ")
	if strings.EqualFold(target, "xml") {
		return p.wrong("XML declaration allowed only at the start of the document")
	}
	p.pos += len(body) + 4
	p.add(&Node{Kind: Instruction, Local: target, Text: strings.TrimLeft(text, " \t\n")})
	return nil
}

// doctype keeps the document type as it is written.
func (p *parser) doctype() error {
	rest, depth := p.rest(), 0
	var quote byte
	for i := len("<!DOCTYPE"); i < len(rest); i++ {
		switch c := rest[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '<':
			depth++
		case c == ']':
			depth--
		case c == '>' && depth > 0 && !strings.HasSuffix(strings.TrimRight(rest[:i], " \t\n"), "]"):
			depth--
		case c == '>':
			p.pos += i + 1
			p.add(&Node{Kind: Doctype, Text: quoted(strings.TrimSpace(rest[len("<!DOCTYPE"):i]))})
			return nil
		}
	}
	return p.wrong("DOCTYPE improperly terminated")
}

// quoted writes a document type's identifiers with double quotes.
func quoted(doctype string) string {
	if strings.ContainsAny(doctype, "[\"") {
		return doctype
	}
	return strings.ReplaceAll(doctype, "'", "\"")
}

func (p *parser) content() error {
	text := p.rest()
	if end := strings.IndexByte(text, '<'); end >= 0 {
		text = text[:end]
	}
	blank := strings.TrimSpace(text) == ""
	if p.at.Kind == Document {
		if !blank {
			p.pos += len(text) - len(strings.TrimLeft(text, " \t\n"))
			if p.at.Root() != nil {
				return p.wrong("Extra content at the end of the document")
			}
			return p.wrong("Start tag expected, '<' not found")
		}
		p.pos += len(text)
		return nil
	}
	clear, err := p.unescape(text)
	if err != nil {
		return err
	}
	p.pos += len(text)
	if !(blank && p.DropBlank && p.droppable()) {
		p.add(&Node{Kind: Text, Text: clear})
	}
	return nil
}

// droppable tells whether white space in front of pos only separates elements;
// libxml2's rules.
func (p *parser) droppable() bool {
	if value, ok := p.at.Attr("{http://www.w3.org/XML/1998/namespace}space"); ok && value == "preserve" {
		return false
	}
	children := p.at.Children
	if len(children) == 0 {
		return !strings.HasPrefix(p.rest(), "</")
	}
	return !children[len(children)-1].isText() && !children[0].isText()
}

func (p *parser) endTag() error {
	if p.at.Kind == Document && p.at.Root() == nil {
		p.pos++
		return p.wrong("StartTag: invalid element name")
	}
	p.pos += 2
	name := p.name()
	p.space()
	if p.at.Kind == Document || name != p.at.Name() {
		p.skipTo('>')
		if p.at.Kind == Document {
			return p.wrong("Extra content at the end of the document")
		}
		return p.wrong("Opening and ending tag mismatch: %s line %d and %s", p.at.Name(), p.line[len(p.line)-1], name)
	}
	if !strings.HasPrefix(p.rest(), ">") {
		return p.wrong("expected '>'")
	}
	p.pos++
	p.at, p.line = p.at.Parent, p.line[:len(p.line)-1]
	return nil
}

func (p *parser) skipTo(c byte) {
	if i := strings.IndexByte(p.rest(), c); i >= 0 {
		p.pos += i + 1
	}
}

func (p *parser) startTag() error {
	if p.at.Kind == Document && p.at.Root() != nil {
		return p.wrong("Extra content at the end of the document")
	}
	if len(p.line) >= maxDepth {
		return p.wrong("Excessive depth in document: %d use XML_PARSE_HUGE option", maxDepth)
	}
	line := p.wrong("").Line
	p.pos++
	name := p.name()
	if name == "" {
		return p.wrong("StartTag: invalid element name")
	}
	n := &Node{Kind: Element}
	n.Prefix, n.Local = cutName(name)
	closed, err := p.attributes(n)
	if err != nil {
		return err
	}
	p.add(n)
	if err := p.resolve(n, closed); err != nil {
		return err
	}
	if !closed {
		p.at, p.line = n, append(p.line, line)
	}
	return nil
}

func cutName(name string) (prefix, local string) {
	if before, after, ok := strings.Cut(name, ":"); ok && before != "" && after != "" {
		return before, after
	}
	return "", name
}

// attributes reads up to the end of the tag; closed tells of "/>".
func (p *parser) attributes(n *Node) (closed bool, err error) {
	for {
		apart := p.space()
		rest := p.rest()
		switch {
		case strings.HasPrefix(rest, "/>"):
			p.pos += 2
			return true, nil
		case strings.HasPrefix(rest, ">"):
			p.pos++
			return false, nil
		case rest == "":
			return false, p.wrong("Couldn't find end of Start Tag %s line %d", n.Name(), p.wrong("").Line)
		case !apart:
			return false, p.wrong("attributes construct error")
		}
		if err := p.attribute(n); err != nil {
			return false, err
		}
	}
}

func (p *parser) attribute(n *Node) error {
	name := p.name()
	if name == "" {
		return p.wrong("attributes construct error")
	}
	p.space()
	if !strings.HasPrefix(p.rest(), "=") {
		return p.wrong("Specification mandates value for attribute %s", name)
	}
	p.pos++
	p.space()
	rest := p.rest()
	if rest == "" || (rest[0] != '"' && rest[0] != '\'') {
		return p.wrong(`AttValue: " or ' expected`)
	}
	raw, _, ok := strings.Cut(rest[1:], rest[:1])
	if i := strings.IndexByte(raw, '<'); !ok || i >= 0 {
		p.pos += 1 + max(i, 0)
		return p.wrong("Unescaped '<' not allowed in attributes values")
	}
	p.pos++
	text, err := p.unescape(strings.NewReplacer("\n", " ", "\t", " ").Replace(raw))
	if err != nil {
		return err
	}
	p.pos += len(raw) + 1
	prefix, local := cutName(name)
	switch {
	case name == "xmlns":
		n.Declared = append(n.Declared, Declaration{"", text})
	case prefix == "xmlns":
		n.Declared = append(n.Declared, Declaration{local, text})
	default:
		for _, a := range n.Attrs {
			if a.Name() == name {
				return p.wrong("Attribute %s redefined", name)
			}
		}
		n.Attrs = append(n.Attrs, &Node{Kind: Attribute, Prefix: prefix, Local: local, Text: text, Parent: n})
	}
	return nil
}

// resolve finds the namespaces of an element and its attributes.
func (p *parser) resolve(n *Node, closed bool) error {
	end := p.pos
	defer func() { p.pos = end }()
	if p.pos--; closed {
		p.pos--
	}
	n.Space = n.spaceOf(n.Prefix)
	if n.Prefix != "" && n.Space == "" {
		return p.wrong("Namespace prefix %s on %s is not defined", n.Prefix, n.Local)
	}
	for _, a := range n.Attrs {
		if a.Prefix == "" {
			continue
		}
		if a.Space = n.spaceOf(a.Prefix); a.Space == "" {
			return p.wrong("Namespace prefix %s for %s on %s is not defined", a.Prefix, a.Local, n.Local)
		}
	}
	return nil
}

func (p *parser) space() bool {
	trimmed := strings.TrimLeft(p.rest(), " \t\n")
	moved := len(p.rest()) != len(trimmed)
	p.pos = len(p.text) - len(trimmed)
	return moved
}

func (p *parser) name() string {
	rest := p.rest()
	for i, r := range rest {
		if !nameRune(r, i == 0) {
			p.pos += i
			return rest[:i]
		}
	}
	p.pos = len(p.text)
	return rest
}

func nameRune(r rune, first bool) bool {
	if r == '_' || r == ':' || unicode.IsLetter(r) {
		return true
	}
	return !first && (r == '-' || r == '.' || r == '·' || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

// unescape replaces references to characters in the text at pos.
func (p *parser) unescape(text string) (string, error) {
	var b strings.Builder
	for whole := len(text); ; {
		before, after, ok := strings.Cut(text, "&")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, rest, ok := strings.Cut(after, ";")
		r := entity(name)
		if !ok {
			p.pos += whole - len(after)
			return "", p.wrong("xmlParseEntityRef: no name")
		}
		if r == 0 {
			p.pos += whole - len(rest)
			return "", p.wrong("Entity '%s' not defined", name)
		}
		b.WriteRune(r)
		text = rest
	}
}

func entity(name string) rune {
	if known := map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"', "apos": '\''}[name]; known != 0 {
		return known
	}
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return 0
	}
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 21)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return 0
	}
	return rune(n)
}
