// Package xmltree reads the XML that programs print. Text flows in, a tree of
// elements with their attributes and texts flows out. It knows the five named
// entities and numbered ones, no document types and no name spaces, and it
// fetches nothing.
package xmltree

import (
	"fmt"
	"strconv"
	"strings"
)

// maxDepth is how deep elements may nest.
const maxDepth = 1000

// Node is an element.
type Node struct {
	Name     string // as written, with its prefix
	Attrs    map[string]string
	Children []*Node
	Text     string // what stands in the element itself, white space included
}

// All returns the elements at a path of names below n, in their order.
func (n *Node) All(path ...string) []*Node {
	found := []*Node{n}
	for _, name := range path {
		var next []*Node
		for _, f := range found {
			for _, c := range f.Children {
				if c.Name == name {
					next = append(next, c)
				}
			}
		}
		found = next
	}
	return found
}

// Parse reads a document and returns its outermost element.
func Parse(text string) (*Node, error) {
	p := &parser{rest: text, open: []*Node{{}}}
	for p.rest != "" {
		if err := p.step(); err != nil {
			return nil, fmt.Errorf("cannot read the XML at byte %d: %w", len(text)-len(p.rest), err)
		}
	}
	top := p.open[0]
	if len(p.open) > 1 {
		return nil, fmt.Errorf("cannot read the XML: <%s> is not closed", p.open[len(p.open)-1].Name)
	}
	if len(top.Children) != 1 || strings.TrimSpace(top.Text) != "" {
		return nil, fmt.Errorf("cannot read the XML: there is not one element")
	}
	return top.Children[0], nil
}

type parser struct {
	rest string
	open []*Node // the elements around rest; the first stands for the document
}

func (p *parser) inner() *Node { return p.open[len(p.open)-1] }

// step reads up to the next tag, or one tag.
func (p *parser) step() error {
	for _, skip := range [][2]string{{"<?", "?>"}, {"<!--", "-->"}, {"<!DOCTYPE", ">"}} {
		if strings.HasPrefix(p.rest, skip[0]) {
			_, err := p.until(skip[1])
			return err
		}
	}
	if strings.HasPrefix(p.rest, "<![CDATA[") {
		text, err := p.until("]]>")
		p.inner().Text += strings.TrimPrefix(text, "<![CDATA[")
		return err
	}
	if strings.HasPrefix(p.rest, "<") {
		return p.tag()
	}
	end := strings.IndexByte(p.rest, '<')
	if end < 0 {
		end = len(p.rest)
	}
	plain, err := unescape(p.rest[:end])
	p.rest = p.rest[end:]
	p.inner().Text += plain
	return err
}

// until takes everything before a mark, and the mark.
func (p *parser) until(mark string) (string, error) {
	text, rest, ok := strings.Cut(p.rest, mark)
	if !ok {
		return "", fmt.Errorf("%q is missing", mark)
	}
	p.rest = rest
	return text, nil
}

// tag reads <a …>, <a …/> or </a>.
func (p *parser) tag() error {
	p.rest = p.rest[1:]
	if closing := strings.HasPrefix(p.rest, "/"); closing {
		name, err := p.until(">")
		if err != nil {
			return err
		}
		name = strings.TrimSpace(name[1:])
		if len(p.open) == 1 || p.inner().Name != name {
			return fmt.Errorf("</%s> closes nothing", name)
		}
		p.open = p.open[:len(p.open)-1]
		return nil
	}
	n := &Node{Name: p.name(), Attrs: map[string]string{}}
	if n.Name == "" {
		return fmt.Errorf("a name is missing")
	}
	if len(p.open) > maxDepth {
		return fmt.Errorf("elements nest deeper than %d", maxDepth)
	}
	p.inner().Children = append(p.inner().Children, n)
	return p.attributes(n)
}

// attributes reads up to the tag's end.
func (p *parser) attributes(n *Node) error {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n")
		switch {
		case strings.HasPrefix(p.rest, "/>"):
			p.rest = p.rest[2:]
			return nil
		case strings.HasPrefix(p.rest, ">"):
			p.rest = p.rest[1:]
			p.open = append(p.open, n)
			return nil
		}
		name := p.name()
		p.rest = strings.TrimLeft(p.rest, " \t\r\n")
		value, ok := strings.CutPrefix(p.rest, "=")
		value = strings.TrimLeft(value, " \t\r\n")
		if name == "" || !ok || value == "" || value[0] != '"' && value[0] != '\'' {
			return fmt.Errorf("an attribute of <%s> is broken", n.Name)
		}
		p.rest = value[1:]
		text, err := p.until(value[:1])
		if err == nil {
			n.Attrs[name], err = unescape(text)
		}
		if err != nil {
			return err
		}
	}
}

// name takes a name.
func (p *parser) name() string {
	end := strings.IndexAny(p.rest, " \t\r\n=/><\"'")
	if end < 0 {
		end = len(p.rest)
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	return name
}

// unescape replaces entities.
func unescape(text string) (string, error) {
	var b strings.Builder
	for {
		plain, rest, ok := strings.Cut(text, "&")
		b.WriteString(plain)
		if !ok {
			return b.String(), nil
		}
		name, after, ok := strings.Cut(rest, ";")
		r, known := entity(name)
		if !ok || !known {
			return "", fmt.Errorf("the entity %q is unknown", "&"+name[:min(len(name), 20)])
		}
		b.WriteRune(r)
		text = after
	}
}

// entity finds what a name or number stands for.
func entity(name string) (rune, bool) {
	switch name {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	digits, ok := strings.CutPrefix(name, "#")
	base := 10
	if hex, isHex := strings.CutPrefix(digits, "x"); isHex {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 21)
	return rune(n), ok && err == nil && n > 0
}
