package jinja

import "play/engine/source"

// Expression evaluates one bare expression, as a condition is compiled but with
// its value kept, for the tests of package jinja_test.
func (e *Env) Expression(src string, ctx *Context) (any, error) {
	c := &compiler{env: e, text: text{src: src, pos: source.Pos{File: "case", Line: 1, Col: 1}}, use: newUsage()}
	n, err := parseExpr(c.text)
	if err != nil {
		return nil, err
	}
	return c.expr(n)(ctx.frame())
}
