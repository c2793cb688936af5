package jinja

import (
	"errors"
	"sort"
	"strings"
	"unicode/utf8"

	"play/modules/value"
)

// pprintWidth is the line length that pprint keeps to.
const pprintWidth = 80

func filterPprint(c *Call) (any, error) {
	v, err := sortedCopy(c.Value, 0)
	if err != nil {
		return nil, err
	}
	p := printer{}
	p.format(v, 0, 0, 0)
	return p.out.String(), nil
}

// maxPprintDepth bounds the nesting, and ends values that hold themselves.
const maxPprintDepth = 100

// sortedCopy orders the keys of dicts at every depth, as pprint prints them.
func sortedCopy(v any, depth int) (any, error) {
	if depth > maxPprintDepth {
		return nil, errors.New("cannot print a value that is nested too deeply")
	}
	switch v := v.(type) {
	case *value.List:
		items, err := sortedItems(v.Items, depth)
		return value.NewList(items...), err
	case value.Tuple:
		items, err := sortedItems(v, depth)
		return value.Tuple(items), err
	case *value.Dict:
		return sortedDict(v, depth)
	}
	return v, nil
}

func sortedItems(items []any, depth int) ([]any, error) {
	out := make([]any, len(items))
	for i, item := range items {
		var err error
		if out[i], err = sortedCopy(item, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func sortedDict(d *value.Dict, depth int) (any, error) {
	keys := d.Keys()
	sort.SliceStable(keys, func(i, j int) bool {
		n, err := value.Compare(keys[i], keys[j], "<")
		if err != nil {
			return value.TypeName(keys[i]) < value.TypeName(keys[j])
		}
		return n < 0
	})
	out := value.NewDict()
	for _, k := range keys {
		item, _ := d.GetKey(k)
		item, err := sortedCopy(item, depth+1)
		if err != nil {
			return nil, err
		}
		_ = out.SetKey(k, item) // k is a key already
	}
	return out, nil
}

// printer writes values as Python's pprint does. Indent is the column that a
// value begins at, allowance the room to leave for what closes behind it.
type printer struct{ out strings.Builder }

func (p *printer) format(v any, indent, allowance, level int) {
	rep := value.Repr(v)
	if utf8.RuneCountInString(rep) <= pprintWidth-indent-allowance {
		p.out.WriteString(rep)
		return
	}
	switch v := v.(type) {
	case *value.Dict:
		p.dict(v, indent, allowance+1, level+1)
	case *value.List:
		p.items("[", v.Items, "]", indent, allowance, level+1)
	case value.Tuple:
		closing := ")"
		if len(v) == 1 {
			closing = ",)"
		}
		p.items("(", v, closing, indent, allowance, level+1)
	case string:
		p.text(v, indent, allowance, level+1)
	default:
		p.out.WriteString(rep)
	}
}

func (p *printer) newline(indent int) { p.out.WriteString("\n" + strings.Repeat(" ", indent)) }

func (p *printer) dict(d *value.Dict, indent, allowance, level int) {
	p.out.WriteByte('{')
	indent++
	for i := range d.Len() {
		k, v := d.At(i)
		if i > 0 {
			p.out.WriteByte(',')
			p.newline(indent)
		}
		rep := value.Repr(k)
		p.out.WriteString(rep + ": ")
		room := 1
		if i == d.Len()-1 {
			room = allowance
		}
		p.format(v, indent+utf8.RuneCountInString(rep)+2, room, level)
	}
	p.out.WriteByte('}')
}

func (p *printer) items(opening string, items []any, closing string, indent, allowance, level int) {
	p.out.WriteString(opening)
	indent++
	for i, item := range items {
		if i > 0 {
			p.out.WriteByte(',')
			p.newline(indent)
		}
		room := 1
		if i == len(items)-1 {
			room = allowance + len(closing)
		}
		p.format(item, indent, room, level)
	}
	p.out.WriteString(closing)
}

// text writes a long text as several literals, one a line.
func (p *printer) text(s string, indent, allowance, level int) {
	if level == 1 {
		indent++
		allowance++
	}
	chunks := textChunks(s, pprintWidth-indent, allowance)
	if len(chunks) == 1 {
		p.out.WriteString(chunks[0])
		return
	}
	if level == 1 {
		p.out.WriteByte('(')
	}
	for i, chunk := range chunks {
		if i > 0 {
			p.newline(indent)
		}
		p.out.WriteString(chunk)
	}
	if level == 1 {
		p.out.WriteByte(')')
	}
}

// textChunks splits at line ends, and long lines behind blanks.
func textChunks(s string, width, allowance int) []string {
	var chunks []string
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		room := width
		if i == len(lines)-1 {
			room -= allowance
		}
		if rep := value.Repr(line); utf8.RuneCountInString(rep) <= room {
			chunks = append(chunks, rep)
			continue
		}
		chunks = append(chunks, wordChunks(line, width, room)...)
	}
	return chunks
}

// wordChunks fills literals with words; only the last word has the lesser room.
func wordChunks(line string, width, room int) []string {
	var chunks []string
	current := ""
	for line != "" {
		word := strings.TrimLeftFunc(line, func(r rune) bool { return !isPySpace(r) })
		rest := strings.TrimLeftFunc(word, isPySpace)
		part := line[:len(line)-len(rest)]
		if line = rest; line == "" {
			width = room
		}
		if utf8.RuneCountInString(value.Repr(current+part)) > width {
			if current != "" {
				chunks = append(chunks, value.Repr(current))
			}
			current = part
		} else {
			current += part
		}
	}
	if current != "" {
		chunks = append(chunks, value.Repr(current))
	}
	return chunks
}
