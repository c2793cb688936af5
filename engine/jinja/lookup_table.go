package jinja

import (
	"errors"
	"fmt"
	"strings"

	"play/modules/pyre"
	"play/modules/value"
)

// tableLookups read single values out of files.
func tableLookups() []Builtin {
	const params = "*terms, **options"
	return []Builtin{
		{Name: "csvfile", Params: params, Doc: "a cell of a CSV file, by the first cell of its row", Fn: lookupCsvfile},
		{Name: "ini", Params: params, Doc: "values of an INI or properties file", Fn: lookupINI},
	}
}

// termOptions splits "key a=1 b=2" into the key and its options, over the
// keyword arguments.
func termOptions(c *Call, term any) (key string, options *value.Dict) {
	options = c.Kwargs.Clone()
	var words []string
	for _, word := range splitWords(value.Str(term)) {
		if k, v, ok := strings.Cut(word, "="); ok && k != "" {
			options.Set(k, v)
		} else {
			words = append(words, word)
		}
	}
	return strings.Join(words, " "), options
}

func optionText(options *value.Dict, name, fallback string) string {
	if v, ok := options.Get(name); ok {
		return value.Str(v)
	}
	return fallback
}

func optionFlag(options *value.Dict, name string) bool {
	v, _ := options.Get(name)
	return pyBool(v)
}

func lookupCsvfile(c *Call) (any, error) {
	out := value.NewList()
	for _, term := range c.Rest {
		key, options := termOptions(c, term)
		if key == "" {
			return nil, errors.New("Search key is required but was not found")
		}
		_, data, err := readFound(c, "files", optionText(options, "file", "ansible.csv"))
		if err != nil {
			return nil, fmt.Errorf("csvfile: %w", err)
		}
		column, err := wantIntText(optionText(options, "col", "1"))
		if err != nil {
			return nil, err
		}
		comma := optionText(options, "delimiter", "TAB")
		if comma == "TAB" || comma == `\t` {
			comma = "\t"
		}
		rows, err := readCSV(string(data), []rune(comma + ",")[0], false, false)
		if err != nil {
			return nil, fmt.Errorf("csvfile: %w", err)
		}
		if cell, ok := csvCell(rows, key, column); ok {
			out.Append(cell)
		} else if v, given := options.Get("default"); given {
			out.Append(v)
		}
	}
	return out, nil
}

func csvCell(rows [][]string, key string, column int) (string, bool) {
	for _, row := range rows {
		if len(row) > 0 && row[0] == key && column >= 0 && column < len(row) {
			return row[column], true
		}
	}
	return "", false
}

func lookupINI(c *Call) (any, error) {
	out := value.NewList()
	for _, term := range c.Rest {
		key, options := termOptions(c, term)
		name := optionText(options, "file", "ansible.ini")
		section := optionText(options, "section", "global")
		_, data, err := readFound(c, "files", name)
		if err != nil {
			return nil, err
		}
		text := string(data)
		if optionText(options, "type", "ini") == "properties" {
			section = "java_properties"
			text = "[java_properties]\n" + text
		}
		ini, err := parseINI(text, !optionFlag(options, "case_sensitive"))
		if err != nil {
			return nil, fmt.Errorf("cannot read %q: %w", name, err)
		}
		found, err := ini.find(section, key, name, options)
		if err != nil {
			return nil, err
		}
		out.Append(found...)
	}
	return out, nil
}

// iniFile holds the sections of an INI file: dicts of texts, or of None for
// keys without a value.
type iniFile struct {
	sections *value.Dict
	fold     bool
}

func (f *iniFile) find(section, key, name string, options *value.Dict) ([]any, error) {
	v, ok := f.sections.Get(section)
	if !ok {
		return nil, fmt.Errorf("No section '%s' in %s", section, name)
	}
	entries := v.(*value.Dict)
	if optionFlag(options, "re") {
		return matchingEntries(entries, key)
	}
	if f.fold {
		key = strings.ToLower(key)
	}
	if v, ok := entries.Get(key); ok {
		return []any{v}, nil
	}
	return []any{optionText(options, "default", "")}, nil
}

func matchingEntries(entries *value.Dict, pattern string) ([]any, error) {
	re, err := pyre.Compile(pattern, 0)
	if err != nil {
		return nil, err
	}
	var found []any
	for k, v := range entries.All() {
		m, err := re.Match(value.Str(k))
		if err != nil {
			return nil, err
		}
		if m != nil {
			found = append(found, v)
		}
	}
	return found, nil
}

// parseINI reads the format of Python's configparser, without interpolation.
func parseINI(text string, fold bool) (*iniFile, error) {
	f := &iniFile{sections: value.NewDict(), fold: fold}
	p := iniParser{file: f, defaults: value.NewDict()}
	for i, line := range splitLines(text) {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for _, v := range f.sections.All() {
		section := v.(*value.Dict)
		for k, d := range p.defaults.All() {
			if _, ok := section.GetKey(k); !ok {
				_ = section.SetKey(k, d) // a text is hashable
			}
		}
	}
	return f, nil
}

type iniParser struct {
	file              *iniFile
	defaults, current *value.Dict
	key               string // the last one, for lines that go on
}

func (p *iniParser) line(line string) error {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		return nil
	case line[0] == ' ' || line[0] == '\t':
		if p.current != nil && p.key != "" {
			before, _ := p.current.Get(p.key)
			p.current.Set(p.key, value.Str(before)+"\n"+trimmed)
			return nil
		}
	case trimmed[0] == '[' && strings.Contains(trimmed, "]"):
		p.section(trimmed[1:strings.IndexByte(trimmed, ']')])
		return nil
	}
	if p.current == nil {
		return errors.New("File contains no section headers.")
	}
	i := strings.IndexAny(trimmed, "=:")
	if i < 0 {
		p.key = p.fold(trimmed)
		p.current.Set(p.key, nil)
		return nil
	}
	p.key = p.fold(strings.TrimSpace(trimmed[:i]))
	p.current.Set(p.key, strings.TrimSpace(trimmed[i+1:]))
	return nil
}

func (p *iniParser) fold(key string) string {
	if p.file.fold {
		return strings.ToLower(key)
	}
	return key
}

func (p *iniParser) section(name string) {
	p.key = ""
	if name == "DEFAULT" {
		p.current = p.defaults
		return
	}
	if v, ok := p.file.sections.Get(name); ok {
		p.current = v.(*value.Dict)
		return
	}
	p.current = value.NewDict()
	p.file.sections.Set(name, p.current)
}

// iniFilters read and write INI.
func iniFilters() []Builtin {
	return []Builtin{
		{Name: "from_ini", Doc: "read INI into a dict of dicts", Fn: func(c *Call) (any, error) {
			s, ok := c.Value.(string)
			if !ok {
				return nil, fmt.Errorf("from_ini requires a str, got <class '%s'>", value.TypeName(c.Value))
			}
			f, err := parseINI(s, false)
			if err != nil {
				return nil, fmt.Errorf("from_ini failed to parse given string: %w", err)
			}
			return f.sections, nil
		}},
		{Name: "to_ini", Doc: "write a dict of dicts as INI", Fn: filterToINI},
	}
}

func filterToINI(c *Call) (any, error) {
	d, ok := asDict(c.Value)
	if !ok {
		return nil, fmt.Errorf("to_ini requires a dict, got <class '%s'>", value.TypeName(c.Value))
	}
	if d.Len() == 0 {
		return nil, errors.New("to_ini received an empty dict. An empty dict cannot be converted.")
	}
	var b strings.Builder
	for name, v := range d.All() {
		section, ok := asDict(v)
		if !ok {
			return nil, fmt.Errorf("to_ini failed to parse given dict: the section %s is no dict", value.Repr(name))
		}
		b.WriteString("[" + value.Str(name) + "]\n")
		for k, item := range section.All() {
			b.WriteString(value.Str(k))
			if item != nil {
				b.WriteString(" = " + strings.ReplaceAll(value.Str(item), "\n", "\n\t"))
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}
