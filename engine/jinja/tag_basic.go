package jinja

// tagParsers are the tags that pongo2 gets, by name without the prefix.
func tagParsers() map[string]parseFn {
	return map[string]parseFn{
		"document": parseDocumentTag, "text": parseText, "print": parsePrint, "printraw": parsePrintRaw, "printall": parsePrintAll, "do": parseDo,
		"if": parseIf, "for": parseFor, "break": parseBreak, "continue": parseContinue,
		"set": parseSet, "setblock": parseSetBlock, "with": parseWith, "filter": parseFilterBlock, "autoescape": parseAutoescape,
		"macro": parseMacro, "call": parseCall,
		"include": parseInclude, "import": parseImport, "from": parseFrom,
		"extends": parseExtends, "block": parseBlock,
	}
}

// parseDocumentTag is the tag around everything: it puts the frame in place of
// pongo2's writer.
func parseDocumentTag(t *tag) (stmt, error) {
	b, _, _, err := t.body("enddocument")
	if err != nil {
		return nil, err
	}
	return b.run, nil
}

// parseText is plain text that pongo2 would have read as tags.
func parseText(t *tag) (stmt, error) {
	s := t.text.src
	return func(f *frame) error {
		_, err := f.WriteString(s)
		return err
	}, nil
}

// whole parses the tag's text as one expression.
func (t *tag) whole(rule tupleRule) (exprFn, error) {
	p := newParser(t.text)
	n := p.tuple(rule)
	if err := p.end(); err != nil {
		return nil, err
	}
	return t.compiler().expr(n), nil
}

func parsePrint(t *tag) (stmt, error) {
	t.text.block = false
	fn, err := t.whole(tupleRule{cond: true})
	if err != nil {
		return nil, err
	}
	return func(f *frame) error { return f.print(fn) }, nil
}

// parsePrintRaw is a print tag in which backslashes mean themselves.
func parsePrintRaw(t *tag) (stmt, error) {
	t.text.raw = true
	return parsePrint(t)
}

// print writes the value of an expression.
func (f *frame) print(fn exprFn) error {
	if f.out.mute {
		return nil
	}
	v, err := fn(f)
	if err != nil {
		return err
	}
	return f.printValue(v)
}

func (f *frame) printValue(v any) error {
	s, err := printed(v, f.sizeLimit())
	if err != nil {
		return err
	}
	_, err = f.WriteString(s)
	return err
}

// parsePrintAll is "print a, b".
func parsePrintAll(t *tag) (stmt, error) {
	p := newParser(t.text)
	var nodes []node
	for p.err == nil && p.peek().kind != kEOF {
		if len(nodes) > 0 {
			p.expectOp(",")
		}
		nodes = append(nodes, p.expr())
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	fns := t.compiler().exprs(nodes)
	return func(f *frame) error {
		for _, fn := range fns {
			if err := f.print(fn); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func parseDo(t *tag) (stmt, error) {
	fn, err := t.whole(tupleRule{cond: true})
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		_, err := fn(f)
		return err
	}, nil
}

// branch is one arm of an if: test is nil for else.
type branch struct {
	test exprFn
	body *body
}

func parseIf(t *tag) (stmt, error) {
	var arms []branch
	for end, args := "elif", t.text; end != "endif"; {
		b := branch{}
		var err error
		if end == "elif" {
			arm := *t
			arm.text = args
			if b.test, err = arm.whole(tupleRule{}); err != nil {
				return nil, err
			}
		}
		if b.body, end, args, err = t.body("elif", "else", "endif"); err != nil {
			return nil, err
		}
		arms = append(arms, b)
	}
	return func(f *frame) error { return runBranches(f, arms) }, nil
}

func runBranches(f *frame, arms []branch) error {
	for _, arm := range arms {
		if arm.test == nil {
			return arm.body.run(f)
		}
		v, err := arm.test(f)
		if err != nil {
			return err
		}
		ok, err := truth(v)
		if err != nil {
			return err
		}
		if ok {
			return arm.body.run(f)
		}
	}
	return nil
}

// parseFilterBlock is "filter upper | indent(2)".
func parseFilterBlock(t *tag) (stmt, error) {
	p := newParser(t.text)
	var n node = nameNode{name: blockText}
	n = p.filter(at(0), n)
	n = p.filters(n)
	if err := p.end(); err != nil {
		return nil, err
	}
	fn := t.compiler().expr(n)
	b, _, _, err := t.body("endfilter")
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		s, err := f.inner().capture(b.run)
		if err != nil {
			return err
		}
		v, err := f.withText(t.env.captured(f, s), fn)
		if err != nil {
			return err
		}
		return f.printValue(v)
	}, nil
}

// blockText is the name under which a filter chain finds a block's text; no
// template can write it.
const blockText = " text"

// withText evaluates a filter chain over the text of a block.
func (f *frame) withText(s any, fn exprFn) (any, error) {
	g := f.inner()
	g.sc.set(blockText, s)
	return fn(g)
}

// inner is the frame of a block with names of its own.
func (f *frame) inner() *frame {
	g := *f
	g.sc = &scope{parent: f.sc}
	return &g
}

// parseAutoescape only opens a scope: play never escapes HTML.
func parseAutoescape(t *tag) (stmt, error) {
	if _, err := t.whole(tupleRule{cond: true}); err != nil {
		return nil, err
	}
	b, _, _, err := t.body("endautoescape")
	if err != nil {
		return nil, err
	}
	return func(f *frame) error { return b.run(f.inner()) }, nil
}

// captured is the text of a block or macro as a value: in a playbook string,
// text that reads as a list, dict or boolean is one.
func (e *Env) captured(f *frame, s string) any {
	if f.native {
		return e.nativeText(s)
	}
	return s
}
