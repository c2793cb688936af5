package source

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxExcerpt is the width in characters at which quoted lines are cut.
const maxExcerpt = 120

// Formatter writes errors for people: the place, the lines around it with a
// caret, the chain of causes, and the hint. It keeps the files that it quoted,
// and is safe for concurrent use. The zero Formatter reads files from disk and
// uses no colours.
type Formatter struct {
	// Colour is asked for every part: "error", "place", "caret", "hint". It
	// wraps the text in escape codes; nil leaves it plain.
	Colour func(part, text string) string
	// ReadFile reads a file to quote; nil means os.ReadFile.
	ReadFile func(path string) ([]byte, error)
	// Hide reports whether a file must not be quoted (it was encrypted); nil:
	// none is hidden.
	Hide func(path string) bool

	mu    sync.Mutex
	files map[string][]string
}

// Format is Formatter.Format without colours.
func Format(err error) string { return (&Formatter{}).Format(err) }

// several is an error made of others, such as a list of all mistakes found.
type several interface{ Unwrap() []error }

// Format returns the text of an error, in lines without a final line end. An
// error that consists of several is given one after the other.
func (f *Formatter) Format(err error) string {
	var b strings.Builder
	f.write(&b, err, map[Pos]bool{})
	return strings.TrimRight(b.String(), "\n")
}

func (f *Formatter) write(b *strings.Builder, err error, shown map[Pos]bool) {
	if list, ok := err.(several); ok {
		for i, one := range list.Unwrap() {
			if i > 0 {
				b.WriteString("\n")
			}
			f.write(b, one, shown)
		}
		return
	}
	var e *Error
	if !errors.As(err, &e) {
		fmt.Fprintln(b, f.paint("error", Printable(err.Error())))
		return
	}
	fmt.Fprintln(b, f.paint("error", Printable(e.Msg)))
	f.excerpt(b, e.Pos, shown)
	f.causes(b, e, shown)
	if e.Hint != "" {
		fmt.Fprintln(b, f.paint("hint", "hint: "+Printable(e.Hint)))
	}
}

// causes writes the errors below e that know a place of their own.
func (f *Formatter) causes(b *strings.Builder, e *Error, shown map[Pos]bool) {
	var cause *Error
	if e.Err == nil || !errors.As(e.Err, &cause) {
		return
	}
	if !cause.Pos.IsZero() && !shown[cause.Pos] {
		fmt.Fprintln(b, "caused by: "+Printable(cause.Msg))
		f.excerpt(b, cause.Pos, shown)
	}
	f.causes(b, cause, shown)
	if cause.Hint != "" && e.Hint == "" {
		fmt.Fprintln(b, f.paint("hint", "hint: "+Printable(cause.Hint)))
	}
}

// excerpt writes a place and the lines around it: one before, the line itself
// with a caret below, one after.
func (f *Formatter) excerpt(b *strings.Builder, pos Pos, shown map[Pos]bool) {
	if pos.IsZero() || shown[pos] {
		return
	}
	shown[pos] = true
	fmt.Fprintln(b, "  "+f.paint("place", Printable(pos.String())))
	lines := f.lines(pos.File)
	if pos.Line < 1 || pos.Line > len(lines) {
		return
	}
	width := len(fmt.Sprint(pos.Line + 1))
	for n := max(1, pos.Line-1); n <= min(len(lines), pos.Line+1); n++ {
		line, caret := cut(lines[n-1], pos.Col)
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("  %*d | %s", width, n, line), " "))
		if n == pos.Line && pos.Col > 0 {
			fmt.Fprintf(b, "  %*s | %s%s\n", width, "", strings.Repeat(" ", caret), f.paint("caret", "^"))
		}
	}
}

// cut makes a line printable and short enough, keeping the given 1-based column
// in view; caret is the width of what stands before that column.
func cut(line string, col int) (text string, caret int) {
	r := []rune(line)
	start := 0
	if len(r) > maxExcerpt && col > maxExcerpt*3/4 {
		start = min(col-maxExcerpt/2, len(r)-maxExcerpt/2)
	}
	end := min(len(r), start+maxExcerpt)
	before := min(max(col-1, start), end)
	text = Printable(string(r[start:end]))
	caret = utf8.RuneCountInString(Printable(string(r[start:before])))
	if start > 0 {
		text = "…" + text
		caret++
	}
	if end < len(r) {
		text += "…"
	}
	return text, caret
}

// lines are the lines of a file; a file that cannot be quoted has none.
func (f *Formatter) lines(path string) []string {
	if f.Hide != nil && f.Hide(path) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if lines, ok := f.files[path]; ok {
		return lines
	}
	read := f.ReadFile
	if read == nil {
		read = readRegular
	}
	data, err := read(path)
	var lines []string
	if err == nil && !strings.HasPrefix(string(data), "$ANSIBLE_VAULT;") {
		lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	if f.files == nil {
		f.files = map[string][]string{}
	}
	f.files[path] = lines
	return lines
}

// readRegular reads a plain file: a pipe would wait, or be gone.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a plain file", path)
	}
	return os.ReadFile(path)
}

func (f *Formatter) paint(part, text string) string {
	if f.Colour == nil {
		return text
	}
	return f.Colour(part, text)
}

// Printable replaces what could change a terminal's state or hide text: control
// characters show as \x1b, invalid bytes as \xff, tabs as spaces, and marks
// that change the writing direction as \u202e. Line ends stay.
func Printable(s string) string {
	if !strings.ContainsFunc(s, unprintable) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t':
			b.WriteString("    ")
		case r == '\r' && (i+1 == len(s) || s[i+1] == '\n'):
		case unprintable(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unprintable(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

func unprintable(r rune) bool {
	return r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}
