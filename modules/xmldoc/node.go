// Package xmldoc edits XML documents. Flowing in: the text of a document.
// Flowing out: a tree that keeps all of it (comments, CDATA, prefixes, white
// space), searched by XPath 1.0, and its text again, as libxml2 prints it. The
// module xml calls it. It reads no file, and loads no entity from elsewhere.
package xmldoc

import "slices"

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Document Kind = iota
	Element
	Attribute
	Text
	CData
	Comment
	Instruction
	Doctype
)

// Node is one node of a tree. A tree is not safe for concurrent use.
type Node struct {
	Kind          Kind
	Space         string // the namespace of an element or attribute
	Prefix, Local string // its name as it is written; of an instruction, Local is the target
	Text          string // of what is no element; an attribute's value
	Declared      []Declaration
	Attrs         []*Node
	Children      []*Node
	Parent        *Node
}

// Declaration is a namespace that an element declares; the prefix is "" for xmlns.
type Declaration struct{ Prefix, Space string }

// NewElement returns an element by its name in Clark's notation: "{space}local".
func NewElement(name string) *Node {
	n := &Node{Kind: Element}
	if n.Space, n.Local = cutClark(name); n.Space != "" {
		n.Prefix = "ns0"
		n.Declared = []Declaration{{"ns0", n.Space}}
	}
	return n
}

// Root is the outermost element of a document.
func (n *Node) Root() *Node {
	for _, c := range n.Children {
		if c.Kind == Element {
			return c
		}
	}
	return nil
}

// Name is the name as it is written.
func (n *Node) Name() string {
	if n.Prefix == "" {
		return n.Local
	}
	return n.Prefix + ":" + n.Local
}

// Clark is the name with its namespace: "{space}local".
func (n *Node) Clark() string {
	if n.Space == "" {
		return n.Local
	}
	return "{" + n.Space + "}" + n.Local
}

func cutClark(name string) (space, local string) {
	if len(name) > 0 && name[0] == '{' {
		for i := range name {
			if name[i] == '}' {
				return name[1:i], name[i+1:]
			}
		}
	}
	return "", name
}

func (n *Node) isText() bool { return n.Kind == Text || n.Kind == CData }

// Items are the children that are not text: elements, comments, instructions.
func (n *Node) Items() []*Node {
	var items []*Node
	for _, c := range n.Children {
		if !c.isText() {
			items = append(items, c)
		}
	}
	return items
}

// LeadingText is the text before the first of Items; false when there is none.
func (n *Node) LeadingText() (string, bool) {
	text, found := "", false
	for _, c := range n.Children {
		if !c.isText() {
			break
		}
		text, found = text+c.Text, true
	}
	return text, found
}

// SetLeadingText replaces the text before the first of Items.
func (n *Node) SetLeadingText(text string) {
	first := 0
	for first < len(n.Children) && n.Children[first].isText() {
		first++
	}
	n.Children = append([]*Node{{Kind: Text, Text: text, Parent: n}}, n.Children[first:]...)
}

// Attr returns the value of an attribute by its Clark name.
func (n *Node) Attr(name string) (string, bool) {
	for _, a := range n.Attrs {
		if a.Clark() == name {
			return a.Text, true
		}
	}
	return "", false
}

// SetAttr sets an attribute by its Clark name; a namespace that no prefix in
// scope stands for is declared.
func (n *Node) SetAttr(name, text string) {
	for _, a := range n.Attrs {
		if a.Clark() == name {
			a.Text = text
			return
		}
	}
	a := &Node{Kind: Attribute, Text: text, Parent: n}
	if a.Space, a.Local = cutClark(name); a.Space != "" {
		a.Prefix = n.prefixFor(a.Space)
	}
	n.Attrs = append(n.Attrs, a)
}

func (n *Node) prefixFor(space string) string {
	if prefix, ok := n.lookup(space, true); ok {
		return prefix
	}
	prefix := "ns0"
	for i := byte('1'); n.spaceOf(prefix) != ""; i++ {
		prefix = "ns" + string(i)
	}
	n.Declared = append(n.Declared, Declaration{prefix, space})
	return prefix
}

// lookup finds the nearest prefix that stands for a namespace.
func (n *Node) lookup(space string, named bool) (string, bool) {
	for e := n; e != nil; e = e.Parent {
		for _, d := range e.Declared {
			if d.Space == space && (d.Prefix != "" || !named) && n.spaceOf(d.Prefix) == space {
				return d.Prefix, true
			}
		}
	}
	return "", false
}

// spaceOf is the namespace that a prefix stands for, or "".
func (n *Node) spaceOf(prefix string) string {
	if prefix == "xml" {
		return "http://www.w3.org/XML/1998/namespace"
	}
	for e := n; e != nil; e = e.Parent {
		for _, d := range e.Declared {
			if d.Prefix == prefix {
				return d.Space
			}
		}
	}
	return ""
}

// Remove takes the node out of its parent, with the text that follows it.
func (n *Node) Remove() {
	p := n.Parent
	if p == nil {
		return
	}
	n.Parent = nil
	if n.Kind == Attribute {
		p.Attrs = slices.DeleteFunc(p.Attrs, func(a *Node) bool { return a == n })
		return
	}
	i := slices.Index(p.Children, n)
	end := i + 1
	for end < len(p.Children) && p.Children[end].isText() {
		end++
	}
	p.Children = slices.Delete(p.Children, i, end)
}

// Append moves nodes behind the node's last child.
func (n *Node) Append(nodes ...*Node) {
	for _, c := range nodes {
		c.Remove()
		n.Children = append(n.Children, c)
		c.adopt(n)
	}
}

// Insert moves a node in front of the item of that number, or to the end.
func (n *Node) Insert(number int, c *Node) {
	items := n.Items()
	if number >= len(items) {
		n.Append(c)
		return
	}
	c.Remove()
	n.Children = slices.Insert(n.Children, slices.Index(n.Children, items[number]), c)
	c.adopt(n)
}

// adopt makes p the parent. Namespaces that p knows are not declared again.
func (n *Node) adopt(p *Node) {
	n.Parent = p
	if n.Kind != Element {
		return
	}
	kept := n.Declared[:0]
	for _, d := range n.Declared {
		prefix, known := p.lookup(d.Space, false)
		if !known || (prefix == "" && n.hasAttrsWith(d.Prefix)) {
			kept = append(kept, d)
			continue
		}
		n.rename(d.Prefix, prefix, d.Space)
	}
	n.Declared = kept
}

func (n *Node) hasAttrsWith(prefix string) bool {
	for _, a := range n.Attrs {
		if a.Prefix == prefix && prefix != "" {
			return true
		}
	}
	return slices.ContainsFunc(n.Children, func(c *Node) bool { return c.hasAttrsWith(prefix) })
}

// rename gives the subtree's names of a namespace another prefix.
func (n *Node) rename(from, to, space string) {
	if n.Prefix == from && n.Space == space && n.Kind == Element {
		n.Prefix = to
	}
	for _, a := range n.Attrs {
		if a.Prefix == from && a.Space == space {
			a.Prefix = to
		}
	}
	for _, c := range n.Children {
		c.rename(from, to, space)
	}
}

// Path is an XPath expression that finds this element, comment or instruction
// alone.
func (n *Node) Path() string {
	if n.Parent == nil {
		return ""
	}
	before, others := 0, 0
	seen := false
	for _, s := range n.Parent.Children {
		switch {
		case s == n:
			seen = true
		case !n.alike(s):
		case seen:
			others++
		default:
			before++
		}
	}
	step := "/" + n.test()
	if before+others > 0 {
		step += "[" + number(float64(before+1)) + "]"
	}
	return n.Parent.Path() + step
}

// unprefixed tells of an element that XPath 1.0 has no name for.
func (n *Node) unprefixed() bool { return n.Space != "" && n.Prefix == "" }

func (n *Node) alike(s *Node) bool {
	if s.Kind != n.Kind {
		return false
	}
	return n.Kind == Comment || n.unprefixed() || s.Name() == n.Name()
}

func (n *Node) test() string {
	switch {
	case n.Kind == Comment:
		return "comment()"
	case n.Kind == Instruction:
		return "processing-instruction('" + n.Local + "')"
	case n.unprefixed():
		return "*"
	}
	return n.Name()
}

// Clone copies the tree below a node.
func (n *Node) Clone() *Node {
	c := *n
	c.Parent = nil
	c.Declared = slices.Clone(n.Declared)
	c.Attrs, c.Children = n.cloneAll(n.Attrs, &c), n.cloneAll(n.Children, &c)
	return &c
}

func (n *Node) cloneAll(nodes []*Node, parent *Node) []*Node {
	copies := make([]*Node, len(nodes))
	for i, m := range nodes {
		copies[i] = m.Clone()
		copies[i].Parent = parent
	}
	return copies
}
