package lint

import (
	"slices"
	"strings"
)

// edit replaces a text at a place; it is made only where the text still stands.
type edit struct {
	line, col int // 1-based, columns in characters
	old, new  string
}

// Fix makes the edits of findings in a text and returns how many could be made.
// Nothing else of the text changes.
func Fix(text []byte, found []Finding) ([]byte, int) {
	lines := strings.SplitAfter(string(text), "\n")
	edits := []*edit{}
	for _, f := range found {
		if f.edit != nil {
			edits = append(edits, f.edit)
		}
	}
	slices.SortFunc(edits, func(a, b *edit) int { return (b.line-a.line)*100000 + b.col - a.col })
	n := 0
	for i, e := range edits {
		if i > 0 && *e == *edits[i-1] || e.line < 1 || e.line > len(lines) {
			continue
		}
		if line, ok := e.apply(lines[e.line-1]); ok {
			lines[e.line-1] = line
			n++
		}
	}
	return []byte(strings.Join(lines, "")), n
}

func (e *edit) apply(line string) (string, bool) {
	runes := []rune(line)
	if e.col < 1 || e.col > len(runes) {
		return line, false
	}
	before, rest := string(runes[:e.col-1]), string(runes[e.col-1:])
	after, ok := strings.CutPrefix(rest, e.old)
	if !ok {
		return line, false
	}
	return before + e.new + after, true
}
