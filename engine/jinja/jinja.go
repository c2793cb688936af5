// Package jinja is Jinja2 as playbooks use it, hosted on pongo2: templates and
// expressions are compiled once, when a file is loaded, and evaluated against a
// Scope. Only loaded text is ever compiled; values made at run time are data and
// pass through untouched. It knows no hosts and no SSH.
package jinja

import (
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// Options set up an Env.
type Options struct {
	// Compat is "" (the default rules), "2.18" or "2.19".
	Compat string
	// MaxSteps bounds the loop steps, calls and tags of one evaluation; 0
	// means 100 million.
	MaxSteps int64
	// MaxOutput bounds the text of one template in bytes; 0 means 256 MiB.
	MaxOutput int
	// ReadYAML reads the documents of a YAML text as data, for from_yaml; nil
	// makes it fail. The package that reads YAML makes templates of what it
	// loads, so this one cannot import it.
	ReadYAML func(text []byte) ([]any, error)
	// Vaults open and close vault texts, for filters and lookups.
	Vaults Vaults
	// Extra builtins, over the standard ones.
	Filters, Tests, Lookups, Globals []Builtin
	// Plugin finds the operator's own; nil: there are none.
	Plugin PluginFunc
}

const (
	defaultMaxSteps  = 100_000_000
	defaultMaxOutput = 256 << 20
)

// Env holds the filters, tests, lookups and globals and the cache of compiled
// templates. It is safe for concurrent use.
type Env struct {
	compat                           string
	maxSteps                         int64
	maxOutput                        int
	filters, tests, lookups, globals registry
	functions                        map[string]any // globals as values
	files                            fileCache
	readYAML                         func(text []byte) ([]any, error)
	vaults                           Vaults
	plugin                           PluginFunc
	regexes                          regexCache
}

// NewEnv makes an environment with every standard builtin.
func NewEnv(o Options) *Env {
	e := &Env{
		compat:    o.Compat,
		maxSteps:  o.MaxSteps,
		maxOutput: o.MaxOutput,
		readYAML:  o.ReadYAML,
		vaults:    o.Vaults,
		plugin:    o.Plugin,
		filters:   newRegistry(filterBuiltins(), o.Filters),
		tests:     newRegistry(testBuiltins(), o.Tests),
		lookups:   newRegistry(lookupBuiltins(), o.Lookups),
		globals:   newRegistry(globalBuiltins(), o.Globals),
	}
	if e.maxSteps == 0 {
		e.maxSteps = defaultMaxSteps
	}
	if e.maxOutput == 0 {
		e.maxOutput = defaultMaxOutput
	}
	e.functions = map[string]any{"omit": Omit}
	for name, b := range e.globals {
		e.functions[name] = &global{env: e, b: b}
	}
	return e
}

// Template is a compiled text with at least one Jinja tag. Stored in a loaded
// value tree it stands for the value it will yield. It may be evaluated by many
// goroutines at once, each with its own Context.
type Template struct {
	Source string
	Pos    source.Pos

	env     *Env
	err     error     // the text cannot be compiled
	expr    exprFn    // of a text that is one "{{ }}" and nothing else
	bare    string    // of a text that is one name inside "{{ }}": the name
	asText  bool      // expr ends with a filter whose text 2.18 leaves alone
	mutates bool      // expr calls a method that changes its object
	outside []string  // the variables that expr reads
	doc     *document // of every other text
	name    string    // of a file that was included or imported
	newline string    // what the file's last line ends with, when rendering keeps it
}

// IsTemplate reports whether text holds any Jinja tag.
func IsTemplate(text string) bool {
	for i := strings.IndexByte(text, '{'); i >= 0 && i+1 < len(text); {
		switch text[i+1] {
		case '{', '%', '#':
			return true
		}
		j := strings.IndexByte(text[i+1:], '{')
		if j < 0 {
			return false
		}
		i += 1 + j
	}
	return false
}

// Load compiles text if it holds a Jinja tag and returns a *Template, else the
// text itself. Loaders call it for every string they read.
//
// A text that cannot be compiled still loads, since a playbook may hold one
// that it never uses: Template.Err tells, and evaluating it fails.
func (e *Env) Load(src string, pos source.Pos) (any, error) {
	if !IsTemplate(src) {
		return src, nil
	}
	t, err := e.Template(src, pos)
	if err != nil {
		return &Template{Source: src, Pos: pos, env: e, err: err}, nil
	}
	return t, nil
}

// Err tells why a loaded text cannot be compiled; it is nil for any other.
func (t *Template) Err() error { return t.err }

// Template compiles a text, tags or not.
func (e *Env) Template(src string, pos source.Pos) (*Template, error) {
	t := &Template{Source: src, Pos: pos, env: e}
	return t, t.compile(text{src: src, pos: pos, raw: true}, defaultDelims())
}

// Variables lists, sorted, the names that the text itself reads and neither
// sets nor finds among the globals: what it expects from outside. Names in
// files that it includes are not among them.
func (t *Template) Variables() []string {
	if t.doc != nil {
		return t.doc.outside
	}
	return t.outside
}

// compile reads the text as one expression or as a document.
func (t *Template) compile(src text, d delims) error {
	pieces, err := scan(src, d)
	if err != nil {
		return err
	}
	if len(pieces) == 1 && pieces[0].kind == piecePrint {
		c := &compiler{env: t.env, text: pieces[0].text, use: newUsage()}
		n, err := parseExpr(c.text)
		if err != nil {
			return err
		}
		t.expr = c.expr(n)
		t.describe(n, pieces[0].text.src)
		t.mutates, t.outside = c.use.mutates, c.use.outside(t.env)
		return nil
	}
	t.doc, err = t.env.compileDocument(pieces, src.pos.File)
	return err
}

// Value evaluates the template to its native value: the expression's own type
// for a single "{{ }}", else text, where the text of a list, dict or boolean
// becomes that value (see Options.Compat).
func (t *Template) Value(c *Context) (any, error) {
	if t.err != nil {
		return nil, t.err
	}
	if t.expr == nil {
		s, err := t.text(c, true)
		if err != nil {
			return nil, err
		}
		return t.env.nativeText(s), nil
	}
	if t.env.compat == compat218 {
		if v, ok := t.plain(c); ok {
			return v, nil
		}
	}
	v, err := t.single(c)
	if err != nil {
		return nil, err
	}
	v, err = t.env.nativeValue(v, t.asText)
	if s, ok := v.(string); ok {
		v = t.restored(s)
	}
	return v, t.at(err)
}

// describe notes what the rules of 2.18 need to know of the expression.
func (t *Template) describe(n node, inner string) {
	switch n := n.(type) {
	case nameNode:
		if strings.TrimSuffix(t.Source, "\n") == "{{"+inner+"}}" {
			t.bare = n.name
		}
	case filterNode:
		t.asText = keepsText(n.name)
	}
}

// plain is the one case in which 2.18 keeps a type: "{{ name }}" of a variable
// that is a number, a boolean or null as it was loaded.
func (t *Template) plain(c *Context) (any, bool) {
	if t.bare == "" {
		return nil, false
	}
	v, ok := c.raw(t.bare)
	return v, ok && (v == nil || value.IsNumber(v))
}

// Render evaluates the template to text.
func (t *Template) Render(c *Context) (string, error) {
	if t.err != nil {
		return "", t.err
	}
	if t.expr == nil {
		return t.text(c, false)
	}
	v, err := t.single(c)
	if err != nil {
		return "", err
	}
	s, err := printed(v, t.env.maxOutput)
	return t.restored(s), t.at(err)
}

// single evaluates the one expression.
func (t *Template) single(c *Context) (any, error) {
	f := c.frame()
	if err := f.begin(t.env); err != nil {
		return nil, t.at(err)
	}
	if t.mutates {
		f = &frame{ctx: c, pins: &scope{}}
	}
	return t.expr(f)
}

// text renders the document.
func (t *Template) text(c *Context, native bool) (string, error) {
	f := c.frame()
	if err := f.begin(t.env); err != nil {
		return "", t.at(err)
	}
	if err := f.enter(); err != nil {
		return "", t.at(err)
	}
	defer f.leave()
	s, err := t.doc.render(c, native)
	if err != nil {
		return "", t.at(err)
	}
	return t.restored(s), nil
}

// restored gives a text the newlines back that the source ends with: Jinja2
// drops the last one.
func (t *Template) restored(s string) string {
	want := trailingNewlines(t.Source)
	if have := trailingNewlines(s); want > have {
		nl := t.newline
		if nl == "" {
			nl = "\n"
		}
		s += strings.Repeat(nl, want-have)
	}
	return s
}

func trailingNewlines(s string) int { return len(s) - len(strings.TrimRight(s, "\n")) }

// at gives an error that has no place the template's own.
func (t *Template) at(err error) error { return locate(err, t.Pos) }
