package modules

import (
	"strings"

	"play/modules/pyre"
	"play/modules/value"
	"play/modules/xmldoc"
)

// setChildren replaces the children of each node found that has others.
func (e *xmlEdit) setChildren() error {
	found, err := e.target()
	if err != nil {
		return err
	}
	children, err := e.children(e.SetChildren)
	if err != nil {
		return err
	}
	var wanted []string
	for _, c := range children {
		wanted = append(wanted, c.String(xmldoc.Format{}))
	}
	for _, n := range found {
		if sameChildren(n, wanted) {
			continue
		}
		for _, item := range n.Items() {
			item.Remove()
		}
		n.Append(children...)
	}
	return nil
}

// sameChildren tells whether an element has these children, and no text behind any.
func sameChildren(n *xmldoc.Node, wanted []string) bool {
	items := n.Items()
	lead := 0
	for lead < len(n.Children) && (n.Children[lead].Kind == xmldoc.Text || n.Children[lead].Kind == xmldoc.CData) {
		lead++
	}
	if len(items) != len(wanted) || len(n.Children)-lead != len(items) {
		return false
	}
	for i, item := range items {
		if item.String(xmldoc.Format{}) != wanted[i] {
			return false
		}
	}
	return true
}

func (e *xmlEdit) addChildren() error {
	found, err := e.target()
	if err != nil || !areNodes(found) {
		return err
	}
	children, err := e.children(e.AddChildren)
	if err != nil {
		return err
	}
	if e.InsertBefore || e.InsertAfter {
		return e.insert(found, children)
	}
	for _, n := range found { // children move: with several nodes, the last keeps them
		n.Append(children...)
	}
	return nil
}

// insert adds children beside what was found.
func (e *xmlEdit) insert(found, children []*xmldoc.Node) error {
	beside := found[0]
	if e.InsertAfter {
		beside = found[len(found)-1]
	}
	if beside.Parent.Kind == xmldoc.Document {
		return Failf("cannot insert beside the root of the document")
	}
	at := 0
	for i, item := range beside.Parent.Items() {
		if item == beside {
			at = i
		}
	}
	if e.InsertAfter {
		at++
	}
	for i, c := range children {
		found[0].Parent.Insert(at+i, c)
	}
	return nil
}

func (e *xmlEdit) children(list *value.List) (nodes []*xmldoc.Node, err error) {
	for _, item := range list.Items {
		n, err := e.child(item)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// child makes an element of XML text, or of a name, {name: text} or
// {name: {attribute: value, _: [children]}}.
func (e *xmlEdit) child(v any) (*xmldoc.Node, error) {
	if e.InputType == "xml" {
		doc, err := xmldoc.Parse(value.Str(v), xmldoc.Options{StripCData: true})
		if err != nil {
			return nil, Failf("Error while parsing child element: %s", xmlSyntax(err, "<string>"))
		}
		root := doc.Root()
		root.Remove()
		return root, nil
	}
	switch v := v.(type) {
	case string:
		return newXMLElement(v)
	case *value.Dict:
		return e.childOf(v)
	}
	return nil, Failf("Invalid child type: <class '%s'>. Children must be either strings or hashes.", value.TypeName(v))
}

func (e *xmlEdit) childOf(d *value.Dict) (*xmldoc.Node, error) {
	if d.Len() != 1 {
		return nil, Failf("Can only create children from hashes with one key")
	}
	key, v := d.At(0)
	n, err := newXMLElement(value.Str(key))
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
	case string:
		n.SetLeadingText(v)
	case *value.Dict:
		return n, e.fill(n, v)
	default:
		return nil, notXMLText(v)
	}
	return n, nil
}

// fill gives an element its attributes and its children.
func (e *xmlEdit) fill(n *xmldoc.Node, d *value.Dict) error {
	for k, v := range d.All() {
		name := value.Str(k)
		if name == "_" && v != nil {
			list, ok := v.(*value.List)
			if !ok {
				return Failf("Invalid children type: <class '%s'>, must be list.", value.TypeName(v))
			}
			inner := *e
			inner.xmlArgs = &xmlArgs{InputType: "yaml"}
			children, err := inner.children(list)
			if err != nil {
				return err
			}
			n.Append(children...)
			continue
		}
		text, ok := v.(string)
		if !ok {
			return notXMLText(v)
		}
		n.SetAttr(name, text)
	}
	return nil
}

func newXMLElement(name string) (*xmldoc.Node, error) {
	n := xmldoc.NewElement(name)
	if n.Local == "" || strings.ContainsAny(n.Local, " \t\n<>&'\"/=:") {
		return nil, Failf("Invalid tag name '%s'", name)
	}
	return n, nil
}

func notXMLText(v any) error {
	return Failf("Argument must be bytes or unicode, got '%s'", value.TypeName(v))
}

// setValue sets the text or an attribute of each node found, and makes the node
// first where there is none.
func (e *xmlEdit) setValue() error {
	found, err := e.find(e.doc.Root(), e.expression)
	if err == nil && !areNodes(found) {
		err = e.make(e.doc.Root(), e.expression)
	}
	if cannot, ok := err.(*xmlCannotMake); ok {
		return cannot
	}
	if err != nil {
		hint := ""
		if len(e.doc.Root().Declared) > 0 && !strings.Contains(e.expression, ":") {
			hint = "XML document has namespace(s) defined, but no namespace prefix(es) used in xpath!\n"
		}
		return Failf("%sXpath %s causes a failure: %v\n  -- tree is %s", hint, e.expression, err, e.shown())
	}
	if found, err = e.target(); err != nil {
		return err
	}
	if !areNodes(found) {
		return Failf("Xpath %s does not reference a node! tree is %s", e.expression, e.shown())
	}
	for _, n := range found {
		if err := e.set(n); err != nil {
			return err
		}
	}
	return nil
}

func (e *xmlEdit) set(n *xmldoc.Node) error {
	text, ok := e.Value.(string)
	if !ok {
		return notXMLText(e.Value)
	}
	if !value.Truth(e.Attribute) {
		if old, has := n.LeadingText(); !has || old != text {
			n.SetLeadingText(text)
		}
		return nil
	}
	name, err := e.clark(value.Str(e.Attribute))
	if err == nil {
		n.SetAttr(name, text)
	}
	return err
}

// shown is the document in messages: Python's bytes.
func (e *xmlEdit) shown() string {
	return "b" + value.Repr(e.doc.String(xmldoc.Format{ASCII: true, Pretty: true}))
}

// clark turns "prefix:name" into "{namespace}name".
func (e *xmlEdit) clark(name string) (string, error) {
	prefix, local, ok := strings.Cut(name, ":")
	if !ok {
		return name, nil
	}
	space, known := e.spaces[prefix]
	if !known {
		return "", Failf("'%s'", prefix)
	}
	return "{" + space + "}" + local, nil
}

// xmlCannotMake tells of an expression that names nothing that can be made.
type xmlCannotMake struct{ Failure }

const (
	xmlIdent  = `[a-zA-Z-][a-zA-Z0-9_\-\.]*`
	xmlName   = xmlIdent + "|" + xmlIdent + ":" + xmlIdent
	xmlQuoted = `('(?:.*)'|"(?:.*)")`
)

// xmlWanted is one thing that must be there: an element, perhaps with a text or
// further conditions; an attribute; or, without a name, a text.
type xmlWanted struct {
	name       string
	attribute  bool
	text       string
	conditions []string // nil: none
}

// lastStep splits an expression into what leads there and what must be there.
func lastStep(expression string) (inner string, w xmlWanted, ok bool) {
	expression = strings.TrimSpace(expression)
	for _, form := range []struct {
		pattern string
		wanted  func(name, rest string) xmlWanted
	}{
		{"^(.*)/(" + xmlName + ")$", func(name, _ string) xmlWanted { return xmlWanted{name: name} }},
		{"^(.*)/(" + xmlName + `)/text\(\)=` + xmlQuoted + "$", func(name, text string) xmlWanted { return xmlWanted{name: name, text: text[1 : len(text)-1]} }},
		{"^(.*)/@(" + xmlName + ")$", func(name, _ string) xmlWanted { return xmlWanted{name: name, attribute: true} }},
		{"^(.*)/@(" + xmlName + ")=" + xmlQuoted + "$", func(name, text string) xmlWanted {
			return xmlWanted{name: name, attribute: true, text: text[1 : len(text)-1]}
		}},
		{"^(.*)/(" + xmlName + `)\[(.*)\]$`, func(name, inner string) xmlWanted {
			return xmlWanted{name: name, conditions: strings.Split(inner, " and ")}
		}},
		{`^(.*)/text\(\)=` + xmlQuoted + "$", func(text, _ string) xmlWanted { return xmlWanted{text: text[1 : len(text)-1]} }},
	} {
		re, err := pyre.Compile(form.pattern, 0)
		if err != nil {
			continue // all of them are tried by tests
		}
		if m, err := re.Match(expression); err == nil && m != nil {
			inner, _ = m.Group(1)
			second, _ := m.Group(2)
			third := ""
			if re.NumGroups() > 2 {
				third, _ = m.Group(3)
			}
			return inner, form.wanted(second, third), true
		}
	}
	return expression, xmlWanted{}, false
}

// make adds what an expression names, with what leads there.
func (e *xmlEdit) make(at *xmldoc.Node, expression string) error {
	inner, wanted, ok := lastStep(expression)
	if !ok || inner == expression {
		return &xmlCannotMake{*Failf("Can't process Xpath %s in order to spawn nodes! tree is %s", expression, e.shown())}
	}
	found, err := e.find(at, inner)
	if err != nil {
		return err
	}
	if !areNodes(found) {
		if err := e.make(at, inner); err != nil {
			return err
		}
		if found, err = e.find(at, inner); err != nil || !areNodes(found) {
			return err
		}
	}
	return e.makeIn(found, wanted)
}

func (e *xmlEdit) makeIn(parents []*xmldoc.Node, w xmlWanted) error {
	name, err := e.clark(w.name)
	if err != nil {
		return err
	}
	switch {
	case w.attribute:
		for _, n := range parents {
			n.SetAttr(name, w.text)
		}
		return nil
	case w.name == "":
		for _, n := range parents {
			n.SetLeadingText(w.text)
		}
		return nil
	}
	child, err := newXMLElement(name)
	if err != nil {
		return err
	}
	if w.text != "" {
		child.SetLeadingText(w.text)
	}
	for _, n := range parents {
		n.Append(child)
		for _, condition := range w.conditions {
			if err := e.make(child, "./"+strings.TrimSpace(condition)); err != nil {
				return err
			}
		}
	}
	return nil
}
