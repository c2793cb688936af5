package jinja

import (
	"play/engine/source"
	"play/modules/value"
)

// blockTag is a block of a template that others can extend.
type blockTag struct {
	name     string
	scoped   bool
	required bool
	body     *body
}

func parseExtends(t *tag) (stmt, error) {
	t.runsFiles()
	fn, err := t.whole(tupleRule{cond: true})
	if err != nil {
		return nil, err
	}
	r := &reference{name: fn}
	return func(f *frame) error {
		if f.run.parent != nil {
			return errorText("extended multiple times")
		}
		parent, err := r.load(t.env, f)
		if err != nil {
			return err
		}
		f.run.parent = parent.doc
		f.out.mute = true
		return nil
	}, nil
}

func parseBlock(t *tag) (stmt, error) {
	p := newParser(t.text)
	b := &blockTag{name: p.expectName()}
	b.scoped = p.word("scoped")
	b.required = p.word("required")
	if p.isOp("-") {
		p.fail(p.peek().at, "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.")
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if t.doc.blocks[b.name] != nil {
		return nil, source.Errorf(t.text.pos, "%w", errorText("template syntax error: block '"+b.name+"' defined twice"))
	}
	t.doc.blocks[b.name] = b
	loop := t.use.names["loop"]
	end := text{}
	var err error
	if b.body, _, end, err = t.body("endblock"); err != nil {
		return nil, err
	}
	t.use.names["loop"] = loop || b.scoped
	t.keeps++
	return b.show, b.checkEnd(end)
}

// checkEnd checks the name that may follow endblock.
func (b *blockTag) checkEnd(args text) error {
	p := newParser(args)
	if p.peek().kind == kName && p.peek().text != b.name {
		p.expected(p.text.end())
	}
	p.next()
	return p.end()
}

// show prints the innermost child's version of the block, where the block stands.
func (b *blockTag) show(f *frame) error {
	if f.out.mute || f.run.parent != nil {
		return nil
	}
	versions := f.run.blocks[b.name]
	if b.required && len(versions) == 1 {
		return errorText("Required block " + value.Repr(b.name) + " not found")
	}
	outer := f.run.root
	if b.scoped {
		outer = f.sc
	}
	return runBlock(f, outer, versions, 0)
}

// runBlock runs the i-th version of a block; those after it are its parents.
func runBlock(f *frame, outer *scope, versions []*blockTag, i int) error {
	if err := f.enter(); err != nil {
		return err
	}
	defer f.leave()
	g := *f
	g.sc = &scope{parent: outer}
	g.sc.set("super", &superBlock{f: f, outer: outer, versions: versions, i: i + 1, name: versions[i].name})
	g.sc.set("self", &selfBlocks{f: f})
	return versions[i].body.run(&g)
}

// superBlock is super() inside a block.
type superBlock struct {
	f        *frame
	outer    *scope
	versions []*blockTag
	i        int
	name     string
}

func (s *superBlock) missing() bool { return s.i >= len(s.versions) }

// TypeName is the Python type's name.
func (s *superBlock) TypeName() string { return "BlockReference" }

// Repr shows the reference.
func (s *superBlock) Repr() string { return "<BlockReference " + value.Repr(s.name) + ">" }

// Attr gives super.super.
func (s *superBlock) Attr(name string) (any, bool) {
	if name != "super" {
		return nil, false
	}
	up := *s
	up.i++
	return &up, true
}

// Call returns the text of the parent's version.
func (s *superBlock) Call(_ *Context, args []any, kwargs *value.Dict) (any, error) {
	if len(args) > 0 || kwargs.Len() > 0 {
		return nil, errorText("super() takes no arguments")
	}
	if s.missing() {
		return nil, &UndefinedError{Msg: "there is no parent block called " + value.Repr(s.name) + "."}
	}
	t, err := s.f.capture(func(g *frame) error { return runBlock(g, s.outer, s.versions, s.i) })
	return s.f.run.doc.env.captured(s.f, t), err
}

// selfBlocks is the name self: self.title() prints a block again.
type selfBlocks struct{ f *frame }

// TypeName is the Python type's name.
func (s *selfBlocks) TypeName() string { return "TemplateReference" }

// Repr shows the reference.
func (s *selfBlocks) Repr() string { return "<TemplateReference " + value.Repr(s.f.run.file) + ">" }

// Attr gives the block of that name.
func (s *selfBlocks) Attr(name string) (any, bool) {
	versions := s.f.run.blocks[name]
	if len(versions) == 0 {
		return nil, false
	}
	return &superBlock{f: s.f, outer: s.f.run.root, versions: versions, name: name}, true
}
