package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"play/engine/source"
)

// iniFile is an ansible.cfg: entries in the order of the file.
type iniFile struct {
	path    string
	entries []iniEntry
}

type iniEntry struct {
	section, key, value string
	pos                 source.Pos
}

// get finds an entry by "section.key".
func (f *iniFile) get(place string) (iniEntry, bool) {
	section, key, _ := strings.Cut(place, ".")
	i := slices.IndexFunc(f.entries, func(e iniEntry) bool { return e.section == section && e.key == strings.ToLower(key) })
	if i < 0 {
		return iniEntry{}, false
	}
	return f.entries[i], true
}

// iniComment starts a comment behind a value.
var iniComment = regexp.MustCompile(`\s;`)

// readINI reads a file as Python's configparser does: "key = value" or
// "key: value" in sections, full-line comments with # and ;, comments behind
// values with ;, deeper indented lines go on with the value above.
func readINI(path string) (*iniFile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		var about *fs.PathError
		if errors.As(err, &about) {
			err = about.Err
		}
		return nil, source.Errorf(source.Pos{File: path}, "cannot read configuration file %q: %w", path, err)
	}
	if !utf8.Valid(data) {
		return nil, source.Errorf(source.Pos{File: path}, "cannot read configuration file %q: it is not UTF-8 text", path)
	}
	p := iniParser{file: &iniFile{path: path}, seen: map[string]bool{}}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for line := range strings.Lines(string(data)) {
		p.line++
		if err := p.read(strings.TrimRight(line, "\r\n")); err != nil {
			return nil, err
		}
	}
	p.trim()
	return p.file, nil
}

type iniParser struct {
	file    *iniFile
	line    int
	section string
	indent  int  // of the last key
	open    bool // an entry can be continued
	seen    map[string]bool
}

func (p *iniParser) pos(line string) source.Pos {
	return source.Pos{File: p.file.path, Line: p.line, Col: len(line) - len(strings.TrimLeft(line, " \t")) + 1}
}

func (p *iniParser) read(line string) error {
	text := strings.TrimSpace(line)
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	if text == "" || text[0] == '#' || text[0] == ';' {
		return nil
	}
	if at := iniComment.FindStringIndex(line); at != nil {
		text = strings.TrimSpace(line[:at[0]])
	}
	if p.open && indent > p.indent {
		last := &p.file.entries[len(p.file.entries)-1]
		last.value += "\n" + text
		return nil
	}
	if text[0] == '[' {
		return p.header(line, text)
	}
	if p.section == "" {
		return source.Errorf(p.pos(line), "cannot read configuration: %q stands before any section", text).
			WithHint("begin the file with [defaults]")
	}
	return p.entry(line, text, indent)
}

func (p *iniParser) header(line, text string) error {
	name, _, ok := strings.Cut(text[1:], "]")
	if !ok || name == "" {
		return source.Errorf(p.pos(line), "cannot read configuration: %q is not a section", text).WithHint("a section is [name]")
	}
	if p.seen["["+name] {
		return source.Errorf(p.pos(line), "cannot read configuration: section %q is there twice", name)
	}
	p.seen["["+name] = true
	p.section, p.open = name, false
	return nil
}

func (p *iniParser) entry(line, text string, indent int) error {
	at := strings.IndexAny(text, "=:")
	if at <= 0 {
		return source.Errorf(p.pos(line), "cannot read configuration: %q is not key = value", text)
	}
	key := strings.ToLower(strings.TrimSpace(text[:at]))
	if p.seen[p.section+"."+key] {
		return source.Errorf(p.pos(line), "cannot read configuration: %q is there twice in [%s]", key, p.section)
	}
	p.seen[p.section+"."+key] = true
	p.file.entries = append(p.file.entries, iniEntry{p.section, key, strings.TrimSpace(text[at+1:]), p.pos(line)})
	p.indent, p.open = indent, true
	return nil
}

// trim takes blank lines off the ends of values.
func (p *iniParser) trim() {
	for i, e := range p.file.entries {
		p.file.entries[i].value = strings.TrimSpace(e.value)
	}
}
