package jinja

import (
	"fmt"
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// Cond is a compiled condition (when, changed_when, until, assert that…).
type Cond struct {
	Source string
	Pos    source.Pos

	env      *Env
	fn       exprFn
	mutates  bool
	constant any
	whole    *Template // the old form: all of it inside "{{ }}"
}

// Cond compiles a condition: a bool, a string with a bare expression, or a
// *Template (the old "{{ }}" form, with a deprecation when it is evaluated).
// None and an empty string hold.
func (e *Env) Cond(v any, pos source.Pos) (*Cond, error) {
	k := &Cond{Source: value.Str(v), Pos: pos, env: e, constant: v}
	switch v := v.(type) {
	case nil:
		k.constant = true
	case *Template:
		return k.template(v)
	case string:
		if strings.TrimSpace(v) == "" {
			k.constant = true
			return k, nil
		}
		if IsTemplate(v) {
			t, err := e.Template(v, pos)
			if err != nil {
				return nil, err
			}
			return k.template(t)
		}
		return k, k.compile(text{src: v, pos: pos, block: true})
	}
	return k, nil
}

func (k *Cond) compile(src text) error {
	c := &compiler{env: k.env, text: src, use: newUsage()}
	n, err := parseExpr(src)
	if err != nil {
		return err
	}
	k.fn, k.mutates = c.expr(n), c.use.mutates
	return nil
}

// template compiles a condition with delimiters in it. Text around them is
// read as an expression in which each "{{ x }}" stands for the value of x.
func (k *Cond) template(t *Template) (*Cond, error) {
	k.Source = t.Source
	if t.err != nil {
		return nil, t.err
	}
	if t.expr != nil {
		k.whole = t
		return k, nil
	}
	src, err := bareCondition(text{src: t.Source, pos: t.Pos})
	if err != nil {
		return nil, err
	}
	if src == "" {
		k.whole = t
		return k, nil
	}
	k.whole = nil
	return k, k.compile(text{src: src, pos: t.Pos, block: true})
}

// bareCondition rewrites `{{ a }} == "{{ b }}c"` to `(a) == (""~(b)~"c")`: the
// values are never read as an expression. It is empty for a text with statements.
func bareCondition(t text) (string, error) {
	pieces, err := scan(t, defaultDelims())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var quote byte
	for _, p := range pieces {
		switch {
		case p.kind == pieceTag:
			return "", nil
		case p.kind == pieceText:
			quote = quoteAfter(p.text.src, quote)
			b.WriteString(p.text.src)
		case quote != 0:
			fmt.Fprintf(&b, "%c~(%s)~%c", quote, p.text.src, quote)
		default:
			b.WriteString("(" + p.text.src + ")")
		}
	}
	return b.String(), nil
}

// quoteAfter tells which string literal is open after a piece of text.
func quoteAfter(s string, quote byte) byte {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return quote
}

// Eval evaluates the condition. A value that is no boolean is judged by its
// truth.
func (k *Cond) Eval(c *Context) (bool, error) {
	if k.whole != nil {
		return k.old(c)
	}
	if k.fn == nil {
		return value.Truth(k.constant), nil
	}
	f := c.frame()
	if err := f.begin(k.env); err != nil {
		return false, k.at(err)
	}
	if k.mutates {
		f = &frame{ctx: c, pins: &scope{}}
	}
	v, err := k.fn(f)
	if err != nil {
		return false, err
	}
	t, err := truth(v)
	return t, k.at(err)
}

// old evaluates a condition written inside delimiters. Text that it yields is
// a boolean or a number as written, and nothing else: it is never evaluated.
func (k *Cond) old(c *Context) (bool, error) {
	if c.Warn != nil {
		c.Warn("conditional statements should not include jinja2 templating delimiters such as {{ }} or {% %}. Found: " + k.Source)
	}
	v, err := k.whole.Value(c)
	if err != nil {
		return false, err
	}
	s, ok := v.(string)
	if !ok {
		t, err := truth(v)
		return t, k.at(err)
	}
	switch strings.TrimSpace(s) {
	case "", "False", "false", "None", "none", "0":
		return false, nil
	case "True", "true":
		return true, nil
	}
	if v, err := parseLiteral(strings.TrimSpace(s)); err == nil {
		return value.Truth(v), nil
	}
	return false, source.Errorf(k.Pos, "cannot judge the condition %q: it yields the text %q", k.Source, s).
		WithHint("Write the expression without {{ }}: text that a template yields is data and is not evaluated again.")
}

func (k *Cond) at(err error) error { return locate(err, k.Pos) }
