package lint

import (
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/jinja"
	"play/engine/source"
	"play/engine/yamlload"
)

// texts checks every template below a node.
func (f *file) texts(n *yaml.Node) {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!str" && jinja.IsTemplate(n.Value) {
			f.text(n, false)
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			f.texts(yamlload.Follow(c))
		}
	case yaml.MappingNode:
		for _, p := range pairs(n) {
			f.texts(p.value)
		}
	}
}

// text checks one template or condition.
func (f *file) text(n *yaml.Node, bare bool) {
	pos := f.textPos(n)
	f.missing(n.Value, pos, bare)
	var err error
	if bare {
		_, err = f.Env.Cond(n.Value, pos)
	} else {
		_, err = f.Env.Template(n.Value, pos)
	}
	if err != nil {
		f.unreadable(err, pos)
	}
}

// missing finds filters, tests and lookups that there are not.
func (f *file) missing(text string, pos source.Pos, bare bool) {
	for _, m := range f.Env.Missing(text, pos, bare) {
		if strings.Count(m.Name, ".") >= 2 {
			continue // of a collection that may be installed where it runs
		}
		found := f.add("unknown-filter", m.Pos, "there is no %s %q", m.Kind, m.Name)
		if near := source.Nearest(m.Name, f.Env.Names(m.Kind)); near != "" {
			found.Hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
}

// unreadable finds what is wrong with a template, unless missing finds that.
func (f *file) unreadable(err error, pos source.Pos) {
	if strings.Contains(err.Error(), "No filter named") || strings.Contains(err.Error(), "No test named") {
		return
	}
	msg, hint := err.Error(), ""
	if e, ok := err.(*source.Error); ok {
		msg, hint = e.Msg, e.Hint
		if !e.Pos.IsZero() {
			pos = e.Pos
		}
	}
	f.add("template-syntax", pos, "%s", msg).Hint = hint
}

// textPos is where a scalar's content begins.
func (f *file) textPos(n *yaml.Node) source.Pos {
	pos := f.pos(n)
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		pos.Line++
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		pos.Col++
	}
	return pos
}

// conditions checks a condition or a list of them.
func (f *file) conditions(n *yaml.Node) {
	if n == nil {
		return
	}
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			f.conditions(yamlload.Follow(c))
		}
		return
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || strings.TrimSpace(n.Value) == "" {
		return
	}
	if jinja.IsTemplate(n.Value) {
		f.braces(n)
		f.text(n, false)
		return
	}
	f.text(n, true)
	f.loose(n)
}

var wholeBraces = regexp.MustCompile(`^\s*\{\{([^{}]*)\}\}\s*$`)

// braces finds delimiters in a condition. What stands in one pair of them can
// be taken out.
func (f *file) braces(n *yaml.Node) {
	found := f.add("when-braces", f.pos(n), "a condition is an expression already, without {{ }}")
	m := wholeBraces.FindStringSubmatch(n.Value)
	if m == nil {
		return
	}
	inner := strings.TrimSpace(m[1])
	found.Hint = "write it as: " + inner
	switch {
	case strings.ContainsAny(inner, `"\`) || inner == "":
	case n.Style == yaml.DoubleQuotedStyle:
		found.edit = &edit{n.Line, n.Column, `"` + n.Value + `"`, `"` + inner + `"`}
	case n.Style == yaml.SingleQuotedStyle && !strings.Contains(inner, "'"):
		found.edit = &edit{n.Line, n.Column, `'` + n.Value + `'`, `'` + inner + `'`}
	}
}

// logic is anything that makes a boolean.
var logic = regexp.MustCompile(`==|!=|<|>|\bis\b|\bin\b|\bnot\b|\band\b|\bor\b|\bif\b|\|\s*(bool|any|all|contains|issubset|issuperset|match|search|version|version_compare|exists|succeeded|success|failed|changed|change|skipped|selectattr_any|truthy|falsy)\b`)

// noBoolean ends an expression whose result is no boolean.
var noBoolean = regexp.MustCompile(`(\|\s*(length|count|int|float|list|string|join|trim|lower|upper|first|last|regex_search|regex_findall|regex_replace|split|unique|difference|intersect|union|select|selectattr|reject|rejectattr|map|sort|dict2items|items2dict|combine|to_json|from_json|default\(\s*(\[\]|\{\}|''|""|'[^']*'|\d+)\s*\)|d\(\s*(\[\]|\{\}|'')\s*\))(\([^()]*\))?|\.(stdout|stderr|stdout_lines|stderr_lines|rc|results|content|msg))\s*$`)

var literal = regexp.MustCompile(`^\s*('[^']*'|"[^"]*"|\d+(\.\d+)?)\s*$`)

// loose finds conditions that are surely no boolean, which newer versions
// refuse.
func (f *file) loose(n *yaml.Node) {
	if logic.MatchString(n.Value) || !noBoolean.MatchString(n.Value) && !literal.MatchString(n.Value) {
		return
	}
	f.add("loose-condition", f.pos(n), "the condition's value is no boolean, which ansible-core 2.19 refuses").Hint = "compare it: … | length > 0, … == 0, … is truthy"
}
