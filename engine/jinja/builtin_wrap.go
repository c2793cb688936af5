package jinja

import (
	"fmt"
	"strings"

	"play/modules/pyre"
	"play/modules/value"
)

// wrapper breaks lines as Python's textwrap does.
type wrapper struct {
	width              int
	breakWords, hyphen bool
	pieces             *pyre.Regexp
}

// Pieces that stay together: runs of blanks, dashes, words, and words up to a
// hyphen between letters.
const (
	wrapPieces = `[ \t\n\v\f\r]+|(?<=[\w!"'&.,?])-{2,}(?=\w)` +
		`|[^ \t\n\v\f\r](?:(?:(?<=[^\d\W]{2}-)|(?<=[^\d\W]-[^\d\W]-))(?=[^\d\W]-?[^\d\W])|(?=[ \t\n\v\f\r]|\Z)|(?<=[\w!"'&.,?])(?=-{2,}\w)|[^ \t\n\v\f\r])*?` +
		`(?:(?:(?<=[^\d\W]{2}-)|(?<=[^\d\W]-[^\d\W]-))(?=[^\d\W]-?[^\d\W])|(?=[ \t\n\v\f\r]|\Z)|(?<=[\w!"'&.,?])(?=-{2,}\w))`
	wrapWords = `[ \t\n\v\f\r]+|[^ \t\n\v\f\r]+`
)

func filterWordwrap(c *Call) (any, error) {
	width, err := wantInt(c.Args[0])
	if err != nil {
		return nil, err
	}
	newline := "\n"
	if c.Args[2] != nil {
		newline = value.Str(c.Args[2])
	}
	pattern := wrapWords
	if value.Truth(c.Args[3]) {
		pattern = wrapPieces
	}
	re, err := pyre.Compile(pattern, 0)
	if err != nil {
		return nil, err
	}
	s, ok := c.Value.(string)
	if !ok {
		return nil, fmt.Errorf("'%s' object has no attribute 'splitlines'", value.TypeName(c.Value))
	}
	w := wrapper{width: width, breakWords: value.Truth(c.Args[1]), hyphen: value.Truth(c.Args[3]), pieces: re}
	var out []string
	for _, line := range splitLines(s) {
		wrapped, err := w.wrap(line)
		if err != nil {
			return nil, err
		}
		out = append(out, strings.Join(wrapped, newline))
	}
	return strings.Join(out, newline), nil
}

func (w *wrapper) wrap(line string) ([]string, error) {
	if w.width <= 0 {
		return nil, fmt.Errorf("invalid width %d (must be > 0)", w.width)
	}
	matches, err := w.pieces.FindAll(line)
	if err != nil {
		return nil, err
	}
	var chunks [][]rune
	for _, m := range matches {
		if m.Text() != "" {
			chunks = append(chunks, []rune(m.Text()))
		}
	}
	var lines []string
	for len(chunks) > 0 {
		if isPySpace(chunks[0][0]) && len(lines) > 0 {
			chunks = chunks[1:]
			continue
		}
		var current [][]rune
		current, chunks = w.take(chunks)
		if n := len(current); n > 0 && isPySpace(current[n-1][0]) {
			current = current[:n-1]
		}
		if len(current) > 0 {
			lines = append(lines, joinRunes(current))
		}
	}
	return lines, nil
}

func joinRunes(parts [][]rune) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(string(p))
	}
	return b.String()
}

// take fills one line and returns the chunks that are left. It uses their
// slice: a chunk that is broken leaves its rest in place.
func (w *wrapper) take(chunks [][]rune) (line, rest [][]rune) {
	used := 0
	for len(chunks) > 0 && used+len(chunks[0]) <= w.width {
		line = append(line, chunks[0])
		used += len(chunks[0])
		chunks = chunks[1:]
	}
	if len(chunks) == 0 || len(chunks[0]) <= w.width {
		return line, chunks
	}
	// A word that is too long for any line.
	switch {
	case w.breakWords:
		at := w.breakAt(chunks[0], max(w.width-used, 1))
		line = append(line, chunks[0][:at])
		chunks[0] = chunks[0][at:]
	case len(line) == 0:
		return chunks[:1:1], chunks[1:]
	}
	return line, chunks
}

// breakAt tells where to cut a word: behind a hyphen if there is one in reach.
func (w *wrapper) breakAt(word []rune, room int) int {
	if !w.hyphen {
		return room
	}
	for i := room - 1; i > 0; i-- {
		if word[i] == '-' && strings.Trim(string(word[:i]), "-") != "" {
			return i + 1
		}
	}
	return room
}
