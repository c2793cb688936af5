package yamlload

import (
	"sync"

	"gopkg.in/yaml.v3"

	"play/engine/jinja"
	"play/engine/source"
)

// memo keeps what a file's texts were compiled to, and what was warned of. A file of tasks that is
// included in a loop is decoded once for each round, and compiled once.
type memo struct {
	mu        sync.Mutex
	templates map[compiledText]any
	conds     map[compiledText]*jinja.Cond
	warned    map[*yaml.Node]bool
}

// firstWarning reports whether a node was not warned of before.
func (m *memo) firstWarning(n *yaml.Node) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.warned[n] {
		return false
	}
	if m.warned == nil {
		m.warned = map[*yaml.Node]bool{}
	}
	m.warned[n] = true
	return true
}

type compiledText struct {
	text string
	pos  source.Pos
}

// Load compiles a text of the file as Env.Load does, once for each place. A
// text that cannot be compiled is an error unless the Loader is lenient.
func (f *File) Load(text string, pos source.Pos) (any, error) {
	if f.loader.Env == nil || !jinja.IsTemplate(text) {
		return text, nil
	}
	key := compiledText{text, pos}
	f.memo.mu.Lock()
	defer f.memo.mu.Unlock()
	if v, ok := f.memo.templates[key]; ok {
		return v, nil
	}
	v, err := f.compile(text, pos, false)
	if err != nil {
		return nil, err
	}
	if f.memo.templates == nil {
		f.memo.templates = map[compiledText]any{}
	}
	f.memo.templates[key] = v
	return v, nil
}

// Cond compiles a condition of the file as Env.Cond does, once for each place.
func (f *File) Cond(v any, pos source.Pos) (*jinja.Cond, error) {
	text, ok := v.(string)
	if !ok {
		return f.loader.Env.Cond(v, pos)
	}
	key := compiledText{text, pos}
	f.memo.mu.Lock()
	defer f.memo.mu.Unlock()
	if c := f.memo.conds[key]; c != nil {
		return c, nil
	}
	f.loader.see(text, pos, true)
	c, err := f.loader.Env.Cond(text, pos)
	if err != nil {
		return nil, err
	}
	if f.memo.conds == nil {
		f.memo.conds = map[compiledText]*jinja.Cond{}
	}
	f.memo.conds[key] = c
	return c, nil
}

// compile makes the template of a text. In variables a template that cannot be
// compiled is only reported.
func (f *File) compile(text string, pos source.Pos, inVars bool) (any, error) {
	f.loader.see(text, pos, false)
	v, err := f.loader.Env.Load(text, pos)
	if err != nil {
		return nil, err
	}
	t, ok := v.(*jinja.Template)
	if !ok || t.Err() == nil {
		return v, nil
	}
	if !inVars && !f.loader.Lenient {
		return nil, t.Err()
	}
	if report := f.loader.Defect; report != nil {
		report(t.Err())
	}
	return v, nil
}

func (l *Loader) see(text string, pos source.Pos, bare bool) {
	if l.Seen != nil && (bare || jinja.IsTemplate(text)) {
		l.Seen(text, pos, bare)
	}
}
