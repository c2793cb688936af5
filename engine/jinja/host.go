package jinja

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/flosch/pongo2/v6"

	"play/engine/source"
)

// host is where pongo2 meets this package. pongo2 keeps its tags in a global
// registry and tells a tag's parser nothing but the document's name; so the
// tags are registered once, and find the compiler of the document by its name.
type host struct {
	mu        sync.Mutex
	documents map[string]*docCompiler
	last      int
}

var (
	hostOnce sync.Once
	theHost  *host // made once
)

func pongoHost() *host {
	hostOnce.Do(func() {
		theHost = &host{documents: map[string]*docCompiler{}}
		for name, parse := range tagParsers() {
			if err := pongo2.RegisterTag(tagPrefix+name, theHost.tagParser(name, parse)); err != nil {
				panic(err)
			}
		}
	})
	return theHost
}

// docCompiler compiles the tags of one document.
type docCompiler struct {
	env     *Env
	doc     *document
	bridged string
	use     *usage
	keeps   int // tags so far that hold on to their scope: macros, calls, imports
}

// Get gives pongo2 the bridged text of the document that is being compiled.
func (d *docCompiler) Get(string) (io.Reader, error) { return strings.NewReader(d.bridged), nil }

// Abs leaves a document's name as it is.
func (d *docCompiler) Abs(_, name string) string { return name }

// compileDocument hands a scanned document to pongo2.
func (e *Env) compileDocument(pieces []piece, file string) (*document, error) {
	bridged, err := bridge(pieces)
	if err != nil {
		return nil, err
	}
	d := &docCompiler{
		env: e, bridged: bridged, use: newUsage(),
		doc: &document{env: e, file: file, blocks: map[string]*blockTag{}},
	}
	d.doc.tpl, err = pongoHost().parse(d)
	if err != nil {
		return nil, unwrapPongo(err)
	}
	d.doc.mutates = d.doc.mutates || d.use.mutates
	d.doc.self = d.use.names["self"]
	for _, name := range []string{"loop", "self", "super", "caller", "varargs", "kwargs"} {
		d.use.sets[name] = true
	}
	d.doc.outside = d.use.outside(e)
	return d.doc, nil
}

// parse runs pongo2's parser over a document.
func (h *host) parse(d *docCompiler) (*pongo2.Template, error) {
	h.mu.Lock()
	h.last++
	name := strconv.Itoa(h.last)
	h.documents[name] = d
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.documents, name)
		h.mu.Unlock()
	}()
	return pongo2.NewSet("play", d).FromFile(name)
}

func (h *host) find(name string) *docCompiler {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.documents[name]
}

// tag is a statement that is being parsed.
type tag struct {
	*docCompiler
	parser *pongo2.Parser // the document, at what follows the tag
	text   text           // the tag's arguments
}

// parseFn compiles a tag to what it does.
type parseFn func(t *tag) (stmt, error)

// stmt is what a tag does when it runs.
type stmt func(f *frame) error

// tagParser adapts a parseFn to pongo2.
func (h *host) tagParser(name string, parse parseFn) pongo2.TagParser {
	return func(doc *pongo2.Parser, start *pongo2.Token, args *pongo2.Parser) (pongo2.INodeTag, *pongo2.Error) {
		d := h.find(start.Filename)
		if d == nil {
			return nil, &pongo2.Error{Sender: name, OrigError: errors.New("cannot use the tag \"" + start.Val + "\" outside of play")}
		}
		t := &tag{docCompiler: d, parser: doc, text: d.argument(args)}
		run, err := parse(t)
		if err != nil {
			return nil, &pongo2.Error{Sender: name, OrigError: err}
		}
		return &tagNode{run: run, at: t.text.pos}, nil
	}
}

// argument reads the position and quoted text that the bridge wrote.
func (d *docCompiler) argument(args *pongo2.Parser) text {
	pos := source.Pos{File: d.doc.file}
	if t := args.MatchType(pongo2.TokenNumber); t != nil {
		pos.Line, _ = strconv.Atoi(t.Val)
	}
	if t := args.MatchType(pongo2.TokenNumber); t != nil {
		pos.Col, _ = strconv.Atoi(t.Val)
	}
	src := ""
	if t := args.MatchType(pongo2.TokenString); t != nil {
		src, _ = strconv.Unquote(t.Val)
	}
	return text{src: src, pos: pos, block: true}
}

// tagNode is a tag in pongo2's tree.
type tagNode struct {
	run stmt
	at  source.Pos
}

var _ pongo2.INodeTag = (*tagNode)(nil)

// Execute runs the tag; the writer is always a frame.
func (n *tagNode) Execute(ctx *pongo2.ExecutionContext, w pongo2.TemplateWriter) *pongo2.Error {
	f, ok := w.(*frame)
	if !ok {
		f = ctx.Public[frameKey].(*frame)
	}
	f.pongo = ctx
	err := f.step(1)
	if err == nil {
		err = n.run(f)
	}
	if err == nil {
		err = f.out.check()
	}
	switch {
	case err == nil:
		return nil
	case err == errBreak || err == errContinue:
	default:
		err = locate(err, n.at)
	}
	return &pongo2.Error{Sender: "play", OrigError: err}
}

// body is what stands between a tag and its end.
type body struct{ nodes *pongo2.NodeWrapper }

func (b *body) run(f *frame) error {
	if err := b.nodes.Execute(f.pongo, f); err != nil {
		return err.OrigError
	}
	return nil
}

// body parses up to one of the ends and tells which one it was.
func (t *tag) body(ends ...string) (b *body, end string, args text, err error) {
	for i, e := range ends {
		ends[i] = tagPrefix + e
	}
	nodes, p, perr := t.parser.WrapUntilTag(ends...)
	if perr != nil {
		return nil, "", text{}, unwrapPongo(perr)
	}
	return &body{nodes}, strings.TrimPrefix(nodes.Endtag, tagPrefix), t.argument(p), nil
}

// compiler compiles expressions in this tag's text.
func (t *tag) compiler() *compiler {
	return &compiler{env: t.env, text: t.text, use: t.use}
}
