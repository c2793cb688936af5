package inventory

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"play/engine/source"
	"play/modules/value"
)

var iniSection = regexp.MustCompile(`^\[([^:\]\s]+)(?::(\w+))?\]\s*(?:#.*)?$`)

// iniReader reads one INI inventory, line by line.
type iniReader struct {
	inv     *Inventory
	compile compiler
	path    string
	line    int
	raw     string // the line as it stands in the file
	group   *Group
	name    string      // of the section's group
	kind    string      // hosts, vars or children
	vars    *value.Dict // of the vars section being read
	places  map[string]source.Pos
	begin   source.Pos // of that section
	known   map[string]bool
	pending []pendingGroup
}

// pendingGroup is a group that must be declared further on.
type pendingGroup struct {
	name, section, kind string
	pos                 source.Pos
}

// loadINI reads an inventory in INI form.
func (inv *Inventory) loadINI(path string, data []byte) error {
	if at := invalidUTF8(data); at >= 0 {
		line := bytes.Count(data[:at], []byte("\n")) + 1
		return source.Errorf(source.Pos{File: path, Line: line}, "cannot read inventory %q: it is not UTF-8 text", path).
			WithHint("save the file in UTF-8")
	}
	r := &iniReader{inv: inv, compile: inv.compiler(), path: path, kind: "hosts", name: "ungrouped",
		group: inv.group("ungrouped"), known: map[string]bool{"all": true, "ungrouped": true}}
	text := strings.TrimPrefix(string(data), "\ufeff")
	for len(text) > 0 {
		r.raw, text, _ = strings.Cut(text, "\n")
		r.line++
		if err := r.read(strings.TrimSpace(r.raw)); err != nil {
			return err
		}
	}
	if err := r.endVars(); err != nil {
		return err
	}
	return r.checkPending()
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func (r *iniReader) read(line string) error {
	switch {
	case line == "" || line[0] == '#' || line[0] == ';':
		return nil
	case line[0] == '[':
		if m := iniSection.FindStringSubmatch(line); m != nil {
			return r.section(m[1], m[2])
		}
		if !strings.Contains(line, "]") {
			return r.fail(line, "cannot read section %q: no closing bracket", line).WithHint("close it: %s]", strings.TrimRight(line, " :"))
		}
		if strings.HasSuffix(line, "]") {
			return r.fail(line, "cannot read section %q", line).
				WithHint(`a section is "[name]", "[name:vars]" or "[name:children]", without spaces`)
		}
	}
	switch r.kind {
	case "vars":
		return r.variable(line)
	case "children":
		return r.child(line)
	}
	return r.host(line)
}

// fail makes an error at the first place of part in the current line.
func (r *iniReader) fail(part, format string, args ...any) *source.Error {
	return source.Errorf(r.pos(part), format, args...)
}

func (r *iniReader) pos(part string) source.Pos {
	at := max(strings.Index(r.raw, part), 0)
	return source.Pos{File: r.path, Line: r.line, Col: utf8.RuneCountInString(r.raw[:at]) + 1}
}

func (r *iniReader) section(name, kind string) error {
	if err := r.endVars(); err != nil {
		return err
	}
	r.name, r.kind = name, kind
	switch kind {
	case "", "hosts":
		r.kind = "hosts"
		return r.declare(name)
	case "children":
		return r.declare(name)
	case "vars":
		if !r.known[name] {
			r.pending = append(r.pending, pendingGroup{name, name, "vars", r.pos("[")})
		}
		r.group = r.inv.groupCalled(name)
		r.vars, r.places, r.begin = value.NewDict(), map[string]source.Pos{}, r.pos("[")
	default:
		return r.fail(":"+kind, "cannot read section \"[%s:%s]\": unknown type %q", name, kind, kind).
			WithHint("the types are hosts, vars and children")
	}
	return nil
}

// declare makes a group, and the child of those that have named it before.
func (r *iniReader) declare(name string) error {
	r.group = r.inv.groupCalled(name)
	if r.known[name] {
		return nil
	}
	r.known[name] = true
	for _, p := range r.pending {
		if p.name != name || p.kind != "children" {
			continue
		}
		if err := r.inv.groupCalled(p.section).addChild(r.group); err != nil {
			return source.Errorf(p.pos, "%s", err)
		}
	}
	return nil
}

// endVars hands the variables of a finished [group:vars] section to its group.
func (r *iniReader) endVars() error {
	if r.vars == nil {
		return nil
	}
	vars, places := r.vars, r.places
	r.vars, r.places = nil, nil
	if err := r.group.setVars(vars, r.begin, places); err != nil {
		return source.Errorf(places["ansible_group_priority"], "%s", err)
	}
	return nil
}

func (r *iniReader) variable(line string) error {
	name, text, ok := strings.Cut(line, "=")
	if !ok {
		return r.fail(line, "cannot read %q: expected key=value", line).WithHint("lines of [%s:vars] are name=value", r.name)
	}
	name, text = strings.TrimSpace(name), strings.TrimSpace(text)
	r.places[name] = r.pos(line)
	r.assign(r.vars, name, text, r.pos(line))
	return nil
}

// assign stores an INI value with the type that it spells.
func (r *iniReader) assign(d *value.Dict, name, text string, pos source.Pos) {
	v, ok := literal(text)
	if !ok {
		v = text
	}
	r.compile.set(d, name, v, pos)
}

func (r *iniReader) child(line string) error {
	name, _, _ := strings.Cut(line, " #")
	name, _, _ = strings.Cut(name, "\t#")
	name = strings.TrimSpace(name)
	if strings.ContainsAny(name, " \t") {
		return r.fail(line, "cannot read %q: expected the name of a group", line)
	}
	if _, declared := r.inv.groups[name]; !declared && !r.known[name] {
		r.pending = append(r.pending, pendingGroup{name, r.name, "children", r.pos(line)})
		return nil
	}
	if err := r.group.addChild(r.inv.groupCalled(name)); err != nil {
		return r.fail(line, "%s", err)
	}
	return nil
}

func (r *iniReader) checkPending() error {
	for _, p := range r.pending {
		switch {
		case r.known[p.name]:
		case p.kind == "vars":
			return source.Errorf(p.pos, "cannot set variables of undefined group %q", p.name).
				WithHint("declare it by a section [%s]", p.name)
		default:
			return source.Errorf(p.pos, "cannot include undefined group %q in [%s:children]", p.name, p.section).
				WithHint("declare it by a section [%s]", p.name)
		}
	}
	return nil
}

// host reads "pattern key=value…".
func (r *iniReader) host(line string) error {
	words, err := splitWords(line)
	if err != nil {
		e := r.fail(line, "cannot read host entry %q: %w", line, err)
		if errors.Is(err, errNoQuote) {
			return e.WithHint("a quote is opened and not closed")
		}
		return e
	}
	if len(words) == 0 {
		return nil
	}
	names, port, err := expandHosts(words[0])
	if err != nil {
		return r.fail(words[0], "%s", err)
	}
	vars := value.NewDict()
	for _, w := range words[1:] {
		name, text, ok := strings.Cut(w, "=")
		if !ok {
			return r.fail(w, "cannot read %q: expected key=value after a host", w).
				WithHint("write one host per line; quote a value that has spaces: %s='…'", "name")
		}
		r.assign(vars, name, text, r.pos(name+"="))
	}
	pos := r.pos(words[0])
	for _, n := range names {
		h := r.inv.host(n, port)
		h.setVars(vars, pos)
		r.group.addHost(h)
	}
	return nil
}
