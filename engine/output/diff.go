package output

import (
	"strconv"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"play/modules/value"
)

// diffText shows a result's "diff": one diff or a list of them, each a dict
// with before and after (texts or dicts), or prepared, or the reason why there
// is none. It is "" when nothing differs.
func (s *screen) diffText(diff any) string {
	var b strings.Builder
	for _, d := range diffList(diff) {
		if d, ok := d.(*value.Dict); ok {
			s.oneDiff(&b, d)
		}
	}
	return b.String()
}

func diffList(diff any) []any {
	if l, ok := diff.(*value.List); ok {
		return l.Items
	}
	return []any{diff}
}

func (s *screen) oneDiff(b *strings.Builder, d *value.Dict) {
	for _, end := range []struct{ key, name string }{{"dst", "destination"}, {"src", "source"}} {
		if _, ok := d.Get(end.key + "_binary"); ok {
			b.WriteString("diff skipped: " + end.name + " file appears to be binary\n")
		}
	}
	for _, end := range []struct{ key, name string }{{"dst", "destination"}, {"src", "source"}} {
		if size, ok := d.Get(end.key + "_larger"); ok {
			n, _ := size.(int)
			b.WriteString("diff skipped: " + end.name + " file size is greater than " + strconv.Itoa(n) + "\n")
		}
	}
	before, hasBefore := d.Get("before")
	after, hasAfter := d.Get("after")
	if hasBefore && hasAfter {
		s.unified(b, side{before, header(d, "before")}, side{after, header(d, "after")})
	}
	if text := textOf(d, "prepared"); text != "" {
		b.WriteString(visible(text))
	}
}

func header(d *value.Dict, key string) string {
	if name, ok := d.Get(key + "_header"); ok {
		text, _ := name.(string)
		return key + ": " + printable(text)
	}
	return key
}

// side is one side of a diff.
type side struct {
	content any
	header  string
}

// unified writes both sides' difference in unified form, as Python's difflib
// words it, and an empty line after it.
func (s *screen) unified(b *strings.Builder, before, after side) {
	var lines strings.Builder
	// Writing to a strings.Builder cannot fail.
	_ = difflib.WriteUnifiedDiff(&lines, difflib.UnifiedDiff{
		A: before.lines(), FromFile: before.header,
		B: after.lines(), ToFile: after.header,
		Context: s.diffContext(),
	})
	if lines.Len() == 0 {
		return
	}
	for _, line := range diffLines(lines.String()) {
		b.WriteString(s.paintDiff(line))
	}
	b.WriteString("\n")
}

func (s *screen) paintDiff(line string) string {
	if !s.Color {
		return line
	}
	switch {
	case strings.HasPrefix(line, "+"):
		return paint(line, s.Colors.DiffAdd)
	case strings.HasPrefix(line, "-"):
		return paint(line, s.Colors.DiffRemove)
	case strings.HasPrefix(line, "@@"):
		return paint(line, s.Colors.DiffLines)
	}
	return line
}

// lines splits a side into lines that keep their ends; a last line without one
// is told of as diff does.
func (d side) lines() []string {
	lines := splitLines(d.text())
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n\\ No newline at end of file\n"
	}
	return lines
}

func (d side) text() string {
	switch content := d.content.(type) {
	case nil:
		return ""
	case string:
		return visible(content)
	}
	return toJSON(d.content, 4) + "\n"
}

// diffLines splits a diff into its lines; what it tells of a missing newline
// belongs to the line before.
func diffLines(text string) []string {
	var lines []string
	for _, line := range splitLines(text) {
		if n := len(lines); strings.HasPrefix(line, "\\") && n > 0 {
			lines[n-1] += line
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// splitLines splits text after each newline.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
