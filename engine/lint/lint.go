// Package lint finds mistakes and bad habits in the files of a tree. Flowing
// in: paths and texts. Flowing out: findings with their places, and for some an
// edit that puts them right without touching anything else. The command line
// calls it. It evaluates nothing and knows no host; templates are compiled, not
// run.
package lint

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"play/engine/jinja"
	"play/engine/schema"
	"play/engine/source"
	"play/engine/yamlload"
)

// Level says how much a finding matters.
type Level string

// The levels.
const (
	Error   Level = "error"   // it will fail
	Warning Level = "warning" // it is likely to go wrong, or will with a newer version
	Note    Level = "note"    // a matter of taste
)

// Rule is a kind of finding.
type Rule struct {
	ID    string `json:"id"`
	Level Level  `json:"level"`
	Doc   string `json:"doc"`
	Fixes bool   `json:"fixes"` // --fix can put it right
}

// Rules lists all rules, sorted by name.
func Rules() []Rule {
	return []Rule{
		{"bad-choice", Error, "an option has a value that it does not take", false},
		{"bad-mode", Error, "a file mode without its leading zero and without quotes is read as a decimal number", true},
		{"bare-variable", Error, "the name of a variable where a list is wanted is taken for text", true},
		{"become-user-alone", Warning, "become_user does nothing without become", false},
		{"deprecated-include", Warning, "include is gone in ansible-core 2.16: use include_tasks or import_tasks", false},
		{"duplicate-key", Warning, "a key is there twice: the last one wins", false},
		{"loose-condition", Warning, "a condition that is no boolean is an error from ansible-core 2.19 on", false},
		{"mixed-arguments", Warning, "arguments stand as text and under args: at once", false},
		{"no-changed-when", Note, "a command says changed at every run unless changed_when, creates or removes tells otherwise", false},
		{"shell-not-needed", Note, "shell for what command can do", false},
		{"syntax", Error, "the file cannot be read as YAML", false},
		{"template-syntax", Error, "a template or condition cannot be read", false},
		{"truthy", Note, "a boolean is not written as true or false", true},
		{"unknown-filter", Error, "there is no such filter, test or lookup", false},
		{"unknown-keyword", Error, "there is no such keyword", false},
		{"unknown-module", Error, "there is no such module", false},
		{"unknown-option", Error, "a module has no such option", false},
		{"unnamed-task", Note, "a task has no name", false},
		{"when-braces", Warning, "a condition is an expression already: braces in it are an error from ansible-core 2.19 on", true},
	}
}

// Finding is something that a rule found.
type Finding struct {
	Rule  string     `json:"rule"`
	Level Level      `json:"level"`
	Msg   string     `json:"message"`
	Hint  string     `json:"hint,omitempty"`
	Pos   source.Pos `json:"-"`
	edit  *edit
}

// Fixable tells whether Fix puts it right.
func (f *Finding) Fixable() bool { return f.edit != nil }

// Linter holds what files are compared with. It is safe for concurrent use.
type Linter struct {
	Env *jinja.Env
	// Known tells whether there is a module of a name besides the native ones;
	// nil: there is none.
	Known func(name string) bool
	// Skip are the rules that are not applied.
	Skip []string

	modules map[string]*schema.Module
	names   []string
	levels  map[string]Level
}

// New returns a Linter with the native modules.
func New(env *jinja.Env) *Linter {
	l := &Linter{Env: env, modules: map[string]*schema.Module{}, levels: map[string]Level{}}
	for _, m := range schema.Modules() {
		for _, name := range m.Names {
			l.modules[name] = &m
			l.names = append(l.names, name)
		}
	}
	for _, r := range Rules() {
		l.levels[r.ID] = r.Level
	}
	return l
}

// file is the work on one file.
type file struct {
	*Linter
	path  string
	lines []string
	found []Finding
}

// File checks a text. A file that belongs to no kind that is known is only
// checked for what holds for all YAML.
func (l *Linter) File(path string, text []byte) []Finding {
	f := &file{Linter: l, path: path, lines: strings.Split(string(text), "\n")}
	if strings.HasPrefix(string(text), "$ANSIBLE_VAULT;") {
		return nil
	}
	loader := &yamlload.Loader{Warn: func(msg string, pos source.Pos) { f.add("duplicate-key", pos, "%s", msg) }}
	docs, err := loader.ParseAll(path, text)
	if err != nil {
		f.broken(err)
		return f.found
	}
	for _, doc := range docs {
		if doc.Root == nil {
			continue
		}
		_, _ = doc.Data(doc.Root) // for its warnings; what is wrong shows below
		f.document(yamlload.Follow(doc.Root))
	}
	return f.sorted()
}

// Template checks the text of a template file.
func (l *Linter) Template(path string, text []byte) []Finding {
	if !utf8.Valid(text) || strings.HasPrefix(string(text), "$ANSIBLE_VAULT;") {
		return nil
	}
	f := &file{Linter: l, path: path, lines: strings.Split(string(text), "\n")}
	pos := source.Pos{File: path, Line: 1, Col: 1}
	if !strings.HasPrefix(string(text), "#jinja2:") { // other delimiters may hide words or make them
		f.missing(string(text), pos, false)
	}
	if _, err := l.Env.TemplateFile(path, text, jinja.FileOptions{}); err != nil {
		f.unreadable(err, pos)
	}
	return f.sorted()
}

// sorted are the findings that count, each once, in the order of their places.
func (f *file) sorted() []Finding {
	f.found = slices.DeleteFunc(f.found, f.skipped)
	slices.SortStableFunc(f.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(a.Rule, b.Rule))
	})
	return slices.CompactFunc(f.found, func(a, b Finding) bool { return a.Rule == b.Rule && a.Pos == b.Pos && a.Msg == b.Msg })
}

// broken is the finding about a file that is no YAML.
func (f *file) broken(err error) {
	pos := source.Pos{File: f.path, Line: 1, Col: 1}
	var e *source.Error
	if errors.As(err, &e) {
		if !e.Pos.IsZero() {
			pos = e.Pos
		}
		f.found = append(f.found, Finding{Rule: "syntax", Level: Error, Msg: e.Msg, Hint: e.Hint, Pos: pos})
		return
	}
	f.add("syntax", pos, "%s", err.Error())
}

func (f *file) add(rule string, pos source.Pos, format string, args ...any) *Finding {
	e := source.Errorf(pos, format, args...)
	f.found = append(f.found, Finding{Rule: rule, Level: f.levels[rule], Msg: e.Msg, Pos: pos})
	return &f.found[len(f.found)-1]
}

func (f *file) pos(n *yaml.Node) source.Pos {
	return source.Pos{File: f.path, Line: n.Line, Col: n.Column}
}

var noqa = regexp.MustCompile(`#\s*noqa\b:?\s*([a-z0-9, -]*)`)

// skipped tells whether a rule is off, or off for the line of a finding.
func (f *file) skipped(one Finding) bool {
	if slices.Contains(f.Skip, one.Rule) {
		return true
	}
	if one.Pos.Line < 1 || one.Pos.Line > len(f.lines) {
		return false
	}
	m := noqa.FindStringSubmatch(f.lines[one.Pos.Line-1])
	if m == nil {
		return false
	}
	ids := strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' })
	return len(ids) == 0 || slices.Contains(ids, one.Rule)
}
