package jinja

// output collects the text of a rendering.
type output struct {
	buf   []byte
	limit int
	full  bool // the limit was reached: what came after is lost
	mute  bool // what is printed is not wanted: a child template outside its blocks
}

// Write takes text from pongo2.
func (f *frame) Write(b []byte) (int, error) {
	return f.WriteString(string(b))
}

// WriteString takes text from pongo2, which looks at no error: the next tag
// reports a full output.
func (f *frame) WriteString(s string) (int, error) {
	o := f.out
	if o.mute {
		return len(s), nil
	}
	if len(o.buf)+len(s) > o.limit {
		o.full = true
		return len(s), nil
	}
	o.buf = append(o.buf, s...)
	return len(s), nil
}

// check reports a full output.
func (o *output) check() error {
	if o.full {
		return errorText("the template makes too much text")
	}
	return nil
}

// capture runs something with an output of its own and returns the text.
func (f *frame) capture(run func(f *frame) error) (string, error) {
	g := *f
	g.out = &output{limit: f.out.limit}
	if err := run(&g); err != nil {
		return "", err
	}
	return string(g.out.buf), g.out.check()
}
