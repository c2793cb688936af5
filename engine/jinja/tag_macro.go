package jinja

import (
	"play/modules/value"
)

// macro is a macro, or the body of a call block, as it is written.
type macro struct {
	name     string
	params   []string
	defaults []exprFn // of the last parameters
	body     *body
	varargs  bool // the body reads "varargs", and so on
	kwargs   bool
	caller   bool
	doc      *docCompiler
}

// boundMacro is a macro with the scope in which it was defined.
type boundMacro struct {
	*macro
	sc    *scope
	run   *rendering
	frame *frame // of the definition
}

func parseMacro(t *tag) (stmt, error) {
	p := newParser(t.text)
	m := &macro{name: p.expectName(), doc: t.docCompiler}
	t.use.sets[m.name] = true
	t.macroParams(p, m)
	if err := p.end(); err != nil {
		return nil, err
	}
	if err := t.macroBody(m, "endmacro"); err != nil {
		return nil, err
	}
	t.keeps++
	return func(f *frame) error {
		f.sc.set(m.name, m.bind(f))
		return nil
	}, nil
}

func (m *macro) bind(f *frame) *boundMacro {
	return &boundMacro{macro: m, sc: f.sc, run: f.run, frame: f}
}

func (t *tag) macroParams(p *parser, m *macro) {
	var defaults []node
	p.expectOp("(")
	for p.err == nil && !p.isOp(")") {
		if len(m.params) > 0 {
			p.expectOp(",")
		}
		at := p.peek().at
		name := p.expectName()
		m.params = append(m.params, name)
		t.use.sets[name] = true
		if p.op("=") {
			defaults = append(defaults, p.expr())
		} else if len(defaults) > 0 {
			p.fail(at, "non-default argument follows default argument")
		}
	}
	p.expectOp(")")
	m.defaults = t.compiler().exprs(defaults)
}

// macroBody parses the body and finds out which special names it reads.
func (t *tag) macroBody(m *macro, end string) error {
	special := []string{"varargs", "kwargs", "caller"}
	outer := map[string]bool{}
	for _, n := range special {
		outer[n] = t.use.names[n]
		t.use.names[n] = false
	}
	var err error
	m.body, _, _, err = t.body(end)
	m.varargs, m.kwargs, m.caller = t.use.names["varargs"], t.use.names["kwargs"], t.use.names["caller"]
	for i, p := range m.params {
		m.caller = m.caller && p != "caller"
		if p == "caller" && i < len(m.params)-len(m.defaults) {
			return errorText("template syntax error: When defining macros or call blocks the special \"caller\" argument must be omitted or be given a default.")
		}
	}
	for _, n := range special {
		t.use.names[n] = outer[n] || t.use.names[n]
	}
	return err
}

// Attr returns a macro's attributes.
func (m *boundMacro) Attr(name string) (any, bool) {
	switch name {
	case "name":
		if m.name == "" {
			return nil, true
		}
		return m.name, true
	case "arguments":
		names := make(value.Tuple, len(m.params))
		for i, p := range m.params {
			names[i] = p
		}
		return names, true
	case "catch_varargs":
		return m.varargs, true
	case "catch_kwargs":
		return m.kwargs, true
	case "caller":
		return m.caller, true
	}
	return nil, false
}

// TypeName is the Python type's name.
func (m *boundMacro) TypeName() string { return "Macro" }

// Repr shows the macro.
func (m *boundMacro) Repr() string {
	if m.name == "" {
		return "<Macro anonymous>"
	}
	return "<Macro '" + m.name + "'>"
}

// Call runs the macro for a filter or test that was given it.
func (m *boundMacro) Call(c *Context, args []any, kwargs *value.Dict) (any, error) {
	return m.callIn(m.frame, args, kwargs)
}

// callIn runs the macro and returns its text.
func (m *boundMacro) callIn(f *frame, args []any, kwargs *value.Dict) (any, error) {
	if err := f.enter(); err != nil {
		return nil, err
	}
	defer f.leave()
	g := *m.frame
	g.ctx, g.sc = f.ctx, &scope{parent: m.sc}
	if err := m.bindArgs(&g, args, kwargs.Clone()); err != nil {
		return nil, err
	}
	g.out = &output{limit: m.doc.env.maxOutput}
	if err := m.body.run(&g); err != nil {
		return nil, err
	}
	return m.doc.env.captured(f, string(g.out.buf)), g.out.check()
}

// bindArgs sets the parameters in the macro's scope; kwargs is its own.
func (m *boundMacro) bindArgs(g *frame, args []any, kwargs *value.Dict) error {
	given := len(args)
	for i, name := range m.params {
		if i < len(args) {
			g.sc.set(name, args[i])
			continue
		}
		if v, ok := kwargs.Get(name); ok {
			kwargs.Delete(name)
			g.sc.set(name, v)
			continue
		}
		if err := m.fillIn(g, i); err != nil {
			return err
		}
	}
	if m.caller {
		m.takeCaller(g, kwargs)
	}
	return m.extraArgs(g, args[min(given, len(m.params)):], kwargs)
}

// fillIn gives a parameter its default, or Undefined.
func (m *boundMacro) fillIn(g *frame, i int) error {
	name := m.params[i]
	d := i - (len(m.params) - len(m.defaults))
	if d < 0 {
		g.sc.set(name, &Undefined{Name: name, Msg: "parameter '" + name + "' was not provided"})
		return nil
	}
	v, err := m.defaults[d](g)
	if err != nil {
		return err
	}
	g.sc.set(name, v)
	return nil
}

func (m *boundMacro) takeCaller(g *frame, kwargs *value.Dict) {
	if c, ok := kwargs.Get("caller"); ok {
		kwargs.Delete("caller")
		g.sc.set("caller", c)
		return
	}
	g.sc.set("caller", &Undefined{Name: "caller", Msg: "No caller defined"})
}

// extraArgs stores or refuses what the parameters did not take.
func (m *boundMacro) extraArgs(g *frame, args []any, kwargs *value.Dict) error {
	if m.kwargs {
		g.sc.set("kwargs", kwargs)
	} else if kwargs.Len() > 0 {
		if _, ok := kwargs.Get("caller"); ok {
			return errorText("macro " + value.Repr(m.name) + " was invoked with two values for the special caller argument. This is most likely a bug.")
		}
		k, _ := kwargs.At(0)
		return errorText("macro " + value.Repr(m.name) + " takes no keyword argument " + value.Repr(k))
	}
	if m.varargs {
		g.sc.set("varargs", value.Tuple(args))
	} else if len(args) > 0 {
		return errorText("macro " + value.Repr(m.name) + " takes not more than " + itoa(len(m.params)) + " argument(s)")
	}
	return nil
}

// parseCall is "call(user) dump(list)": the body becomes the macro's caller.
func parseCall(t *tag) (stmt, error) {
	p := newParser(t.text)
	m := &macro{name: "caller", doc: t.docCompiler}
	if p.isOp("(") {
		t.macroParams(p, m)
	}
	start := p.peek().at
	n, ok := p.expr().(callNode)
	if !ok {
		p.fail(start, "expected call")
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	n.args.names = append(n.args.names, "caller")
	n.args.named = append(n.args.named, nameNode{name: callerName})
	fn := t.compiler().expr(n)
	if err := t.macroBody(m, "endcall"); err != nil {
		return nil, err
	}
	t.keeps++
	return func(f *frame) error {
		g := f.inner()
		g.sc.set(callerName, m.bind(f))
		v, err := fn(g)
		if err != nil {
			return err
		}
		return f.printValue(v)
	}, nil
}

// callerName is where a call block's own macro stands; no template can write it.
const callerName = " caller"
