package jinja

import (
	"errors"
	"io"

	"github.com/flosch/pongo2/v6"
)

// document is a template with statements or several parts, held by pongo2.
type document struct {
	env     *Env
	file    string
	tpl     *pongo2.Template
	blocks  map[string]*blockTag
	outside []string // the variables that it reads
	self    bool     // it reads the name self
	mutates bool     // it calls a method that changes its object, or runs other files
}

// rendering is one run of a document, with what it includes or extends.
type rendering struct {
	doc    *document
	blocks map[string][]*blockTag // innermost child first
	parent *document              // what the running template extends, once known
	root   *scope
	file   string // the file where the rendering began: others are found beside it
}

// frameKey is the one name in pongo2's context: the frame.
const frameKey = "play"

// render runs the document over the variables of a context; native tells that
// its text will become a value.
func (d *document) render(c *Context, native bool) (string, error) {
	f := &frame{ctx: c, sc: &scope{}, native: native, out: &output{limit: d.env.maxOutput}}
	if d.mutates {
		f.pins = &scope{}
	}
	if err := d.run(f, d.file); err != nil {
		return "", err
	}
	return string(f.out.buf), f.out.check()
}

// run executes the document in a frame whose scope is its top level, and then
// what it extends.
func (d *document) run(f *frame, file string) error {
	r := &rendering{doc: d, blocks: map[string][]*blockTag{}, root: f.sc, file: file}
	f.run = r
	if d.self {
		f.sc.set("self", &selfBlocks{f: f})
		f.sc.hide("self")
	}
	for next := d; next != nil; next = r.parent {
		r.doc, r.parent = next, nil
		for name, b := range next.blocks {
			r.blocks[name] = append(r.blocks[name], b)
		}
		mute := f.out.mute
		err := next.execute(f)
		f.out.mute = mute
		if err != nil {
			return err
		}
		if err := f.enter(); err != nil {
			return err
		}
		defer f.leave()
	}
	return f.out.check()
}

func (d *document) execute(f *frame) error {
	err := d.tpl.ExecuteWriterUnbuffered(pongo2.Context{frameKey: f}, io.Discard)
	return unwrapPongo(err)
}

// unwrapPongo takes the error of a tag out of pongo2's.
func unwrapPongo(err error) error {
	var p *pongo2.Error
	if errors.As(err, &p) && p.OrigError != nil {
		return p.OrigError
	}
	return err
}
