package jinja

import (
	"errors"
	"strings"

	"play/modules/value"
)

// reference is what include, import and from say about the other file.
type reference struct {
	name    exprFn
	ignore  bool
	context bool
}

// runsFiles notes that the document runs other files: they may change what it
// hands to them.
func (t *tag) runsFiles() { t.doc.mutates = true }

func parseInclude(t *tag) (stmt, error) {
	t.runsFiles()
	p := newParser(t.text)
	n := p.expr()
	r := &reference{context: true}
	if p.isName("ignore") && p.look(1).text == "missing" {
		p.next()
		p.next()
		r.ignore = true
	}
	p.contextWords(r)
	if err := p.end(); err != nil {
		return nil, err
	}
	r.name = t.compiler().expr(n)
	return func(f *frame) error { return r.include(t.env, f) }, nil
}

// contextWords parses "with context" and "without context".
func (p *parser) contextWords(r *reference) bool {
	if !p.isName("with") && !p.isName("without") || p.look(1).text != "context" {
		return false
	}
	r.context = p.next().text == "with"
	p.next()
	return true
}

// load finds the file that the name, or the first of several names, means.
func (r *reference) load(e *Env, f *frame) (*Template, error) {
	var v any
	fromHost, err := f.ctx.Traced(func() (err error) {
		v, err = r.name(f)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := defined(v); err != nil {
		return nil, err
	}
	names := []any{v}
	if _, isStr := v.(string); !isStr {
		if names, err = iterate(v); err != nil {
			return nil, err
		}
	}
	for _, n := range names {
		t, err := e.find(f, value.Str(n), fromHost)
		if err == nil || !errors.Is(err, errMissing) {
			return t, err
		}
	}
	if len(names) > 1 {
		return nil, notFound("none of the templates given were found: " + joinNames(names))
	}
	return nil, notFound(joinNames(names))
}

func joinNames(names []any) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = value.Str(n)
	}
	return strings.Join(parts, ", ")
}

// errMissing is wrapped by the error about a template file that is not there.
var errMissing = errors.New("template not found")

type missingError struct{ msg string }

func notFound(msg string) error { return &missingError{msg} }

// Error gives the message.
func (e *missingError) Error() string { return e.msg }

// Is makes it an errMissing.
func (e *missingError) Is(target error) bool { return target == errMissing }

func (r *reference) include(e *Env, f *frame) error {
	if f.out.mute {
		return nil
	}
	t, err := r.load(e, f)
	if err != nil {
		if r.ignore && errors.Is(err, errMissing) {
			return nil
		}
		return err
	}
	return t.runIn(r.outside(f), f.run.file)
}

// outside is the frame for another file: with the names in reach, or without
// names and variables.
func (r *reference) outside(f *frame) *frame {
	g := *f
	g.sc = &scope{sealed: !r.context}
	if r.context {
		g.sc.parent = f.sc
	}
	return &g
}

// runIn runs a file's document in a frame.
func (t *Template) runIn(f *frame, file string) error {
	if err := f.enter(); err != nil {
		return err
	}
	defer f.leave()
	return t.doc.run(f, file)
}

// module is an imported file: its macros and top-level names.
type module struct {
	name string
	sc   *scope
	text string
}

// Attr returns a name that the module exports.
func (m *module) Attr(name string) (any, bool) {
	i := m.sc.find(name)
	if i < 0 || strings.HasPrefix(name, "_") || m.sc.hidden[name] {
		return nil, false
	}
	return m.sc.vals[i], true
}

// TypeName is the Python type's name.
func (m *module) TypeName() string { return "TemplateModule" }

// Repr is the module's own text.
func (m *module) Repr() string { return m.text }

func (r *reference) importModule(e *Env, f *frame) (*module, error) {
	t, err := r.load(e, f)
	if err != nil {
		return nil, err
	}
	g := r.outside(f)
	g.out = &output{limit: e.maxOutput}
	if err := t.runIn(g, f.run.file); err != nil {
		return nil, err
	}
	return &module{name: t.name, sc: g.sc, text: string(g.out.buf)}, nil
}

// parseImport is "import 'file' as name".
func parseImport(t *tag) (stmt, error) {
	t.runsFiles()
	t.keeps++
	p := newParser(t.text)
	n := p.expr()
	p.expectWord("as")
	name := p.expectName()
	t.use.sets[name] = true
	r := &reference{}
	p.contextWords(r)
	if err := p.end(); err != nil {
		return nil, err
	}
	r.name = t.compiler().expr(n)
	return func(f *frame) error {
		m, err := r.importModule(t.env, f)
		if err != nil {
			return err
		}
		f.sc.set(name, m)
		f.sc.hide(name)
		return nil
	}, nil
}

// parseFrom is "from 'file' import a, b as c".
func parseFrom(t *tag) (stmt, error) {
	t.runsFiles()
	t.keeps++
	p := newParser(t.text)
	n := p.expr()
	p.expectWord("import")
	r := &reference{}
	var names [][2]string
	for p.err == nil {
		if len(names) > 0 && !p.op(",") || p.contextWords(r) {
			break
		}
		at := p.peek().at
		name := p.expectName()
		if strings.HasPrefix(name, "_") {
			p.fail(at, "names starting with an underline can not be imported")
		}
		as := name
		if p.word("as") {
			as = p.expectName()
		}
		names = append(names, [2]string{name, as})
		t.use.sets[as] = true
		if p.contextWords(r) {
			break
		}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	r.name = t.compiler().expr(n)
	return func(f *frame) error { return r.importNames(t, f, names) }, nil
}

func (r *reference) importNames(t *tag, f *frame, names [][2]string) error {
	m, err := r.importModule(t.env, f)
	if err != nil {
		return err
	}
	for _, n := range names {
		v, ok := m.Attr(n[0])
		if !ok {
			v = &Undefined{Name: n[0], Msg: "the template " + value.Repr(m.name) +
				" (imported on line " + itoa(t.text.pos.Line) + ") does not export the requested name " + value.Repr(n[0])}
		}
		f.sc.set(n[1], v)
		f.sc.hide(n[1])
	}
	return nil
}
