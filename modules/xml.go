package modules

import (
	"errors"
	"os"
	"strings"
	"time"

	"play/modules/argspec"
	"play/modules/atomicfile"
	"play/modules/value"
	"play/modules/xmldoc"
)

// xmlArgs are the arguments of xml.
type xmlArgs struct {
	Path         string      `arg:"path,type=path,aliases=dest|file" doc:"the file to change"`
	XMLString    string      `arg:"xmlstring" doc:"a document to change, in place of a file"`
	XPath        *string     `arg:"xpath" doc:"XPath expression of what to change"`
	Namespaces   *value.Dict `arg:"namespaces" doc:"namespaces by the prefixes that xpath uses"`
	State        string      `arg:"state,default=present,choices=absent|present,aliases=ensure" doc:"absent removes what xpath finds"`
	Value        any         `arg:"value,type=raw" doc:"text to set, or the attribute's value"`
	Attribute    any         `arg:"attribute,type=raw" doc:"the attribute to set"`
	AddChildren  *value.List `arg:"add_children,elements=raw" doc:"elements to add to each node found"`
	SetChildren  *value.List `arg:"set_children,elements=raw" doc:"elements that shall be all children of each node found"`
	Count        bool        `arg:"count,default=no" doc:"count what xpath finds"`
	PrintMatch   bool        `arg:"print_match,default=no" doc:"list the paths of what xpath finds"`
	PrettyPrint  bool        `arg:"pretty_print,default=no" doc:"indent the document"`
	Content      string      `arg:"content,choices=attribute|text" doc:"return attributes or text of what xpath finds"`
	InputType    string      `arg:"input_type,default=yaml,choices=xml|yaml" doc:"how children are written"`
	Backup       bool        `arg:"backup,default=no" doc:"keep a copy of the old file"`
	StripCData   bool        `arg:"strip_cdata_tags,default=no" doc:"turn CDATA sections into text"`
	InsertBefore bool        `arg:"insertbefore,default=no" doc:"add children in front of the first node found"`
	InsertAfter  bool        `arg:"insertafter,default=no" doc:"add children behind the last node found"`
}

// Rules relates the arguments.
func (xmlArgs) Rules() argspec.Rules {
	needs := []string{"xpath"}
	r := argspec.Rules{
		RequiredBy: []argspec.RequiredBy{{Name: "add_children", Needs: needs}, {Name: "attribute", Needs: []string{"value"}},
			{Name: "content", Needs: needs}, {Name: "set_children", Needs: needs}, {Name: "value", Needs: needs}},
		RequiredOneOf: [][]string{{"path", "xmlstring"},
			{"add_children", "content", "count", "pretty_print", "print_match", "set_children", "value"}},
		MutuallyExclusive: [][]string{{"add_children", "content", "count", "print_match", "set_children", "value"},
			{"path", "xmlstring"}, {"insertbefore", "insertafter"}},
	}
	for _, name := range []string{"count", "print_match", "insertbefore", "insertafter"} {
		r.RequiredIf = append(r.RequiredIf, argspec.RequiredIf{Name: name, Value: true, Needs: needs})
	}
	return r
}

func xmlModule() Module {
	return Define("xml", "Change and read XML documents", runXML).In("community.general", "community.general.files")
}

// xmlEdit is one run of xml.
type xmlEdit struct {
	*Call
	*xmlArgs
	expression string
	spaces     map[string]string
	source     string
	doc, old   *xmldoc.Node
	out        *Result
}

func runXML(c *Call, args *xmlArgs) (*Result, error) {
	e := &xmlEdit{Call: c, xmlArgs: args, spaces: map[string]string{}}
	if args.Namespaces != nil {
		for k, v := range args.Namespaces.All() {
			e.spaces[value.Str(k)] = value.Str(v)
		}
	}
	if err := e.read(); err != nil {
		return nil, err
	}
	if args.XPath == nil {
		if args.State == "absent" {
			return nil, Failf("Couldn't delete xpath target: None (no xpath was given)")
		}
		return e.prettyPrint()
	}
	e.out = NewResult(false)
	e.out.Set("actions", value.DictOf("xpath", e.expression, "namespaces", e.namespaces(), "state", args.State))
	if err := e.act(); err != nil {
		return nil, err
	}
	return e.finish()
}

func (e *xmlEdit) namespaces() *value.Dict {
	if e.Namespaces == nil {
		return value.NewDict()
	}
	return e.Namespaces
}

// read parses the expression and the document.
func (e *xmlEdit) read() error {
	e.source = e.XMLString
	if e.XMLString == "" {
		data, err := os.ReadFile(e.abs(e.Path))
		if isDir(e.abs(e.Path)) || errors.Is(err, os.ErrNotExist) {
			return Failf("The target XML source '%s' does not exist.", e.Path)
		}
		if err != nil {
			return Failf("cannot read %q: %s", e.Path, osTextString(err, e.Path))
		}
		e.source = string(data)
	}
	if e.XPath != nil {
		e.expression = *e.XPath
		if _, err := xmldoc.Compile(e.expression); err != nil {
			return Failf("Syntax error in xpath expression: %s (%s)", e.expression, err)
		}
	}
	var err error
	e.doc, err = xmldoc.Parse(e.source, xmldoc.Options{DropBlank: e.PrettyPrint, StripCData: e.StripCData})
	if err == nil {
		e.old = e.doc.Clone()
		return nil
	}
	name, shown := "xml_string", "<string>"
	if e.XMLString == "" {
		name, shown = e.Path, e.Path[strings.LastIndexByte(e.Path, '/')+1:]
	}
	return Failf("Error while parsing document: %s (%s)", name, xmlSyntax(err, shown))
}

// xmlSyntax words a mistake in a document as Python shows a SyntaxError.
func xmlSyntax(err error, file string) string {
	line := 1
	var syntax *xmldoc.SyntaxError
	if errors.As(err, &syntax) {
		line = syntax.Line
	}
	return err.Error() + " (" + file + ", line " + value.Str(line) + ")"
}

// find evaluates an expression whose value must be nodes.
func (e *xmlEdit) find(at *xmldoc.Node, expression string) ([]*xmldoc.Node, error) {
	x, err := xmldoc.Compile(expression)
	if err != nil {
		return nil, Failf("%v", err)
	}
	v, err := x.Eval(at, e.spaces)
	nodes, ok := v.([]*xmldoc.Node)
	switch {
	case err != nil:
		return nil, Failf("%v", err)
	case !ok && v != false:
		return nil, Failf("'%s' object is not subscriptable", value.TypeName(v))
	}
	return nodes, nil
}

// holds tells whether an expression is a condition that is met already.
func (e *xmlEdit) holds() bool {
	x, err := xmldoc.Compile(e.expression)
	if err != nil {
		return false
	}
	v, err := x.Eval(e.doc.Root(), e.spaces)
	return err == nil && v == true
}

// target is find for the task's own expression.
func (e *xmlEdit) target() ([]*xmldoc.Node, error) {
	nodes, err := e.find(e.doc.Root(), e.expression)
	if err != nil {
		return nil, Failf("cannot evaluate the xpath expression %q: %v", e.expression, err)
	}
	return nodes, nil
}

// areNodes tells whether the first of what was found can be an element's child.
func areNodes(found []*xmldoc.Node) bool {
	return len(found) > 0 && isItem(found[0])
}

func isItem(n *xmldoc.Node) bool {
	return n.Kind == xmldoc.Element || n.Kind == xmldoc.Comment || n.Kind == xmldoc.Instruction
}

// act does the one thing that the arguments ask for.
func (e *xmlEdit) act() error {
	switch {
	case e.PrintMatch:
		return e.paths()
	case e.Count:
		return e.count()
	case e.xmlArgs.Content != "":
		return e.contents()
	case e.State == "absent":
		return e.remove()
	case e.SetChildren != nil:
		return e.setChildren()
	case e.AddChildren != nil && e.AddChildren.Len() > 0:
		return e.addChildren()
	case e.Value != nil:
		return e.setValue()
	case e.holds():
		return nil
	}
	found, err := e.target()
	if err == nil && !areNodes(found) {
		err = e.make(e.doc.Root(), e.expression)
	}
	return err
}

func (e *xmlEdit) paths() error {
	found, err := e.target()
	if err != nil {
		return err
	}
	paths := value.NewList()
	for _, n := range found {
		if !isItem(n) {
			return Failf("cannot print the path of what %q finds: it is no element", e.expression)
		}
		paths.Append(n.Path())
	}
	text, err := value.EncodeJSON(paths, value.JSONOptions{EnsureASCII: true})
	e.out.With("matches", value.NewList()).With("msg", "selector '"+e.expression+"' match: "+text)
	return err
}

func (e *xmlEdit) count() error {
	found, err := e.find(e.doc.Root(), "/"+e.expression)
	if err != nil {
		return Failf("cannot evaluate the xpath expression %q: %v", "count(/"+e.expression+")", err)
	}
	e.out.With("count", len(found)).With("msg", "found "+value.Str(len(found))+" nodes")
	return nil
}

// contents returns the text or the attributes of what is found.
func (e *xmlEdit) contents() error {
	found, err := e.target()
	if err != nil {
		return err
	}
	if !areNodes(found) {
		return Failf("Xpath %s does not reference a node!", e.expression)
	}
	matches := value.NewList()
	for _, n := range found {
		matches.Append(value.DictOf(n.Clark(), e.contentOf(n)))
	}
	e.out.With("count", len(found)).With("matches", matches).With("msg", len(found))
	return nil
}

func (e *xmlEdit) contentOf(n *xmldoc.Node) any {
	if e.xmlArgs.Content == "attribute" {
		attributes := value.NewDict()
		for _, a := range n.Attrs {
			attributes.Set(a.Clark(), a.Text)
		}
		return attributes
	}
	if text, ok := n.LeadingText(); ok {
		return text
	}
	return nil
}

func (e *xmlEdit) remove() error {
	found, err := e.target()
	if err != nil {
		return Failf("Couldn't delete xpath target: %s (%v)", e.expression, err)
	}
	for _, n := range found {
		switch {
		case n.Kind == xmldoc.Element && n.Parent.Kind == xmldoc.Document:
			return Failf("Couldn't delete xpath target: %s ('NoneType' object has no attribute 'remove')", e.expression)
		case n.Kind != xmldoc.Attribute && !isItem(n):
			return Failf("Couldn't delete xpath target: %s (it is neither an element nor an attribute)", e.expression)
		}
		n.Remove()
	}
	return nil
}

// finish writes what changed, and reports.
func (e *xmlEdit) finish() (*Result, error) {
	changed := bareXML(e.doc) != bareXML(e.old)
	out := e.out.Changed(changed)
	if changed && e.Diff {
		pretty := xmldoc.Format{Declaration: true, Pretty: true}
		out.Set("diff", value.DictOf("before", e.old.String(pretty), "after", e.doc.String(pretty)))
	}
	text := e.doc.String(xmldoc.Format{Declaration: true, Pretty: e.PrettyPrint})
	if e.XMLString != "" {
		return out.With("xmlstring", text), nil
	}
	if !changed || e.Check {
		return out, nil
	}
	return out, e.write(text, out)
}

// bareXML is a document as text without what only lays it out.
func bareXML(doc *xmldoc.Node) string {
	text := doc.String(xmldoc.Format{})
	bare, err := xmldoc.Parse(text, xmldoc.Options{DropBlank: true, StripCData: true})
	if err != nil {
		return text // what is compared will differ from every other text
	}
	return bare.Root().String(xmldoc.Format{})
}

// prettyPrint lays the document out anew.
func (e *xmlEdit) prettyPrint() (*Result, error) {
	if !e.PrettyPrint {
		return nil, Failf("Don't know what to do")
	}
	text := e.doc.String(xmldoc.Format{Declaration: true, Pretty: true})
	if e.XMLString != "" {
		return NewResult(true).With("xmlstring", text), nil
	}
	out := NewResult(text != e.source)
	if text == e.source || e.Check {
		return out, nil
	}
	return out, e.write(text, out)
}

func (e *xmlEdit) write(text string, out *Result) error {
	path := e.abs(e.Path)
	if e.Backup {
		saved, err := atomicfile.Backup(path, time.Now())
		if err != nil {
			return Failf("%v", err)
		}
		out.Set("backup_file", saved)
	}
	if err := atomicfile.Write(realPath(path), strings.NewReader(text), atomicfile.Options{}); err != nil {
		return Failf("%v", err)
	}
	return nil
}
