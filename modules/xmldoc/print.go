package xmldoc

import (
	"strconv"
	"strings"
)

// Format says how to print.
type Format struct {
	Declaration bool // begin with <?xml …?>, in UTF-8
	Pretty      bool // indent where no text stands
	ASCII       bool // other characters as references
}

// String prints a document, or one element.
func (n *Node) String(f Format) string {
	p := &printer{Format: f}
	if f.Declaration {
		p.WriteString("<?xml version='1.0' encoding='UTF-8'?>\n")
	}
	if n.Kind != Document {
		p.node(n, 0, f.Pretty)
	} else {
		p.document(n)
	}
	if f.Pretty {
		p.WriteByte('\n')
	}
	return p.Builder.String()
}

type printer struct {
	strings.Builder
	Format
}

// document prints what stands beside the root; on lines of its own when pretty.
func (p *printer) document(n *Node) {
	behind := false
	for _, c := range n.Children {
		if behind && p.Pretty {
			p.WriteByte('\n')
		}
		p.node(c, 0, p.Pretty)
		behind = behind || c.Kind == Element
		if !behind && (p.Pretty || c.Kind == Doctype) {
			p.WriteByte('\n')
		}
	}
}

func (p *printer) node(n *Node, depth int, pretty bool) {
	switch n.Kind {
	case Element:
		p.element(n, depth, pretty)
	case Text:
		p.escaped(n.Text, false)
	case CData:
		p.WriteString("<![CDATA[" + n.Text + "]]>")
	case Comment:
		p.raw("<!--" + n.Text + "-->")
	case Instruction:
		p.raw(strings.TrimRight("<?"+n.Local+" "+n.Text, " ") + "?>")
	case Doctype:
		p.raw("<!DOCTYPE " + n.Text + ">")
	}
}

func (p *printer) raw(text string) {
	if !p.ASCII {
		p.WriteString(text)
		return
	}
	for _, r := range text {
		p.rune(r)
	}
}

func (p *printer) element(n *Node, depth int, pretty bool) {
	p.raw("<" + n.Name())
	for _, d := range n.Declared {
		name := "xmlns"
		if d.Prefix != "" {
			name += ":" + d.Prefix
		}
		p.attribute(name, d.Space)
	}
	for _, a := range n.Attrs {
		p.attribute(a.Name(), a.Text)
	}
	if len(n.Children) == 0 {
		p.WriteString("/>")
		return
	}
	p.WriteByte('>')
	for _, c := range n.Children {
		pretty = pretty && !c.isText()
	}
	for _, c := range n.Children {
		p.indent(depth+1, pretty)
		p.node(c, depth+1, pretty)
	}
	p.indent(depth, pretty)
	p.raw("</" + n.Name() + ">")
}

func (p *printer) indent(depth int, pretty bool) {
	if pretty {
		p.WriteString("\n" + strings.Repeat("  ", depth))
	}
}

func (p *printer) attribute(name, text string) {
	p.raw(" " + name + `="`)
	p.escaped(text, true)
	p.WriteByte('"')
}

func (p *printer) escaped(text string, attribute bool) {
	for _, r := range text {
		switch {
		case r == '&':
			p.WriteString("&amp;")
		case r == '<':
			p.WriteString("&lt;")
		case r == '>':
			p.WriteString("&gt;")
		case r == '"' && attribute:
			p.WriteString("&quot;")
		case r == '\r', attribute && (r == '\n' || r == '\t'):
			p.reference(r)
		default:
			p.rune(r)
		}
	}
}

func (p *printer) rune(r rune) {
	if p.ASCII && r > 0x7e {
		p.reference(r)
		return
	}
	p.WriteRune(r)
}

func (p *printer) reference(r rune) {
	p.WriteString("&#" + strconv.Itoa(int(r)) + ";")
}
