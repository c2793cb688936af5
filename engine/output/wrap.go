package output

import (
	"strings"
	"unicode"
)

// wrap breaks text into lines of at most width characters as Python's
// textwrap.wrap does: between words, after hyphens inside words, and inside a
// word that is longer than a line. trim is its drop_whitespace: spaces at the
// ends of lines go.
func wrap(text string, width int, trim bool) []string {
	var lines []string
	rest := wrapChunks(expandTabs(text))
	for len(rest) > 0 {
		if trim && len(lines) > 0 && isBlank(rest[0]) {
			rest = rest[1:]
			if len(rest) == 0 {
				break
			}
		}
		var line [][]rune
		line, rest = fillLine(rest, width)
		if n := len(line); trim && n > 0 && isBlank(line[n-1]) {
			line = line[:n-1]
		}
		if len(line) > 0 {
			lines = append(lines, joinRunes(line))
		}
	}
	return lines
}

// fillLine takes as many chunks as fit into one line; of one that is too long
// for any line it takes a part.
func fillLine(chunks [][]rune, width int) (line, rest [][]rune) {
	n := 0
	for len(chunks) > 0 && n+len(chunks[0]) <= width {
		n += len(chunks[0])
		line = append(line, chunks[0])
		chunks = chunks[1:]
	}
	if len(chunks) > 0 && len(chunks[0]) > width {
		// With no space left this adds an empty part, which keeps a space
		// before it from being trimmed, as in Python.
		at := cutLong(chunks[0], width-n)
		line = append(line, chunks[0][:at])
		chunks = append([][]rune{chunks[0][at:]}, chunks[1:]...)
	}
	return line, chunks
}

// cutLong returns where a long chunk is cut when only space is left: after its
// last hyphen in that space, else at its end.
func cutLong(chunk []rune, space int) int {
	for i := space - 1; i > 0; i-- {
		if chunk[i] == '-' {
			if strings.Trim(string(chunk[:i]), "-") != "" {
				return i + 1
			}
			break
		}
	}
	return space
}

// expandTabs replaces tabs by spaces up to the next multiple of eight and
// other white space by one space.
func expandTabs(text string) []rune {
	out := make([]rune, 0, len(text))
	column := 0
	for _, r := range text {
		switch r {
		case '\t':
			for n := 8 - column%8; n > 0; n-- {
				out = append(out, ' ')
				column++
			}
			continue
		case '\n', '\r':
			column = -1
			r = ' '
		case '\v', '\f':
			r = ' '
		}
		out = append(out, r)
		column++
	}
	return out
}

// wrapChunks splits text into what may not be broken: runs of spaces, words,
// parts of words up to a hyphen, dashes between words.
func wrapChunks(text []rune) [][]rune {
	var chunks [][]rune
	for start := 0; start < len(text); {
		end := start + 1
		switch dash := dashAt(text, start); {
		case text[start] == ' ':
			for end < len(text) && text[end] == ' ' {
				end++
			}
		case dash > start:
			end = dash
		default:
			for !chunkEnds(text, start, end) {
				end++
			}
		}
		chunks = append(chunks, text[start:end])
		start = end
	}
	return chunks
}

// chunkEnds reports whether a word's chunk from start may end before i.
func chunkEnds(text []rune, start, i int) bool {
	if i == len(text) || text[i] == ' ' || dashAt(text, i) > i {
		return true
	}
	if i-start < 2 || text[i-1] != '-' {
		return false
	}
	if !isLetter(text, i) || !isLetter(text, i+1) && !(at(text, i+1) == '-' && isLetter(text, i+2)) {
		return false
	}
	return isLetter(text, i-2) && isLetter(text, i-3) ||
		isWordPunct(at(text, i-2)) && at(text, i-3) == '-' && isLetter(text, i-4)
}

// dashAt returns the end of a dash ("--" or longer between words) at i, or i.
func dashAt(text []rune, i int) int {
	if !isWordPunct(at(text, i-1)) {
		return i
	}
	end := i
	for at(text, end) == '-' {
		end++
	}
	if end-i < 2 || !isWord(at(text, end)) {
		return i
	}
	return end
}

// at returns the i-th rune, or a space outside the text.
func at(text []rune, i int) rune {
	if i < 0 || i >= len(text) {
		return ' '
	}
	return text[i]
}

func isLetter(text []rune, i int) bool {
	r := at(text, i)
	return isWord(r) && !unicode.IsDigit(r)
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

func isWordPunct(r rune) bool { return isWord(r) || strings.ContainsRune(`!"'&.,?`, r) }

func isBlank(chunk []rune) bool { return strings.TrimSpace(string(chunk)) == "" }

func joinRunes(parts [][]rune) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(string(p))
	}
	return b.String()
}
