package live_test

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"play/engine/output"
)

// vt is a model of a terminal: what it was told, as the lines that have
// scrolled out at the top and those on the screen.
type vt struct {
	cols, rows int
	past       []string // scrolled out; a line that was wrapped is several
	lines      [][]rune // on the screen; a wide character takes two places, the second is 0
	x, y       int
	rest       []byte // of a sequence that has not ended
}

func newVT(cols, rows int) *vt { return &vt{cols: cols, rows: rows, lines: make([][]rune, rows)} }

// Write takes text and the sequences that painters use; it panics at others,
// so that a test sees them.
func (t *vt) Write(p []byte) (int, error) {
	data := append(t.rest, p...)
	t.rest = nil
	for len(data) > 0 {
		if data[0] == 0x1b {
			n := t.escape(data)
			if n == 0 {
				t.rest = append([]byte(nil), data...)
				break
			}
			data = data[n:]
			continue
		}
		r, size := utf8.DecodeRune(data)
		t.put(r)
		data = data[size:]
	}
	return len(p), nil
}

func (t *vt) put(r rune) {
	switch r {
	case '\r':
		t.x = 0
		return
	case '\n':
		t.x = 0 // the line discipline adds the carriage return
		t.down()
		return
	case '\t':
		t.x = min(t.cols-1, (t.x/8+1)*8)
		return
	}
	width := output.Columns(string(r))
	if width == 0 {
		return
	}
	if t.x+width > t.cols {
		t.x = 0
		t.down()
	}
	line := t.lines[t.y]
	for len(line) < t.x+width {
		line = append(line, ' ')
	}
	line[t.x] = r
	if width == 2 {
		line[t.x+1] = 0
	}
	t.lines[t.y] = line
	t.x += width
}

func (t *vt) down() {
	if t.y < t.rows-1 {
		t.y++
		return
	}
	t.past = append(t.past, shown(t.lines[0]))
	copy(t.lines, t.lines[1:])
	t.lines[t.rows-1] = nil
}

// escape carries out one sequence and returns its length; 0 when it has not
// ended.
func (t *vt) escape(data []byte) int {
	if len(data) < 3 {
		return 0
	}
	end := 2
	for end < len(data) && (data[end] < 0x40 || data[end] > 0x7e) {
		end++
	}
	if end == len(data) {
		return 0
	}
	n, _ := strconv.Atoi(string(data[2:end]))
	switch data[end] {
	case 'm':
	case 'A':
		t.y = max(0, t.y-max(1, n))
	case 'K':
		t.clearLine()
	case 'J':
		t.clearLine()
		for y := t.y + 1; y < t.rows; y++ {
			t.lines[y] = nil
		}
	default:
		panic("the terminal was sent " + strconv.Quote(string(data[:end+1])))
	}
	return end + 1
}

func (t *vt) clearLine() {
	if t.x < len(t.lines[t.y]) {
		t.lines[t.y] = t.lines[t.y][:t.x]
	}
}

// resize changes the size as terminals without reflow do: rows go at the top,
// columns at the right.
func (t *vt) resize(cols, rows int) {
	for len(t.lines) > rows {
		if t.y < len(t.lines)-1 && len(t.lines[len(t.lines)-1]) == 0 {
			t.lines = t.lines[:len(t.lines)-1]
			continue
		}
		t.past = append(t.past, shown(t.lines[0]))
		t.lines, t.y = t.lines[1:], max(0, t.y-1)
	}
	for len(t.lines) < rows {
		t.lines = append(t.lines, nil)
	}
	for i, line := range t.lines {
		if len(line) > cols {
			t.lines[i] = line[:cols]
		}
	}
	t.cols, t.rows, t.x = cols, rows, min(t.x, cols-1)
}

// screen is what is on the screen, without empty lines at its end.
func (t *vt) screen() string {
	var lines []string
	for _, line := range t.lines {
		lines = append(lines, shown(line))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// all is everything that was ever shown and not cleared.
func (t *vt) all() string {
	return strings.TrimRight(strings.Join(append(append([]string(nil), t.past...), t.screen()), "\n"), "\n")
}

func shown(line []rune) string {
	var b strings.Builder
	for _, r := range line {
		if r != 0 {
			b.WriteRune(r)
		}
	}
	return strings.TrimRight(b.String(), " ")
}
