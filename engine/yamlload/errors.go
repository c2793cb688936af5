package yamlload

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/source"
)

// maxLocate is the size up to which a broken text is parsed again, to find the
// column of its mistake.
const maxLocate = 1 << 20

var linePrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)

// located turns a yaml.v3 error into one that knows its place. Yaml.v3 tells at
// most the line on which the enclosing collection begins, so the text is parsed
// again through a reader that notes how far the parser had come.
func located(path string, data []byte, err error) error {
	problem := problemOf(err)
	offset := problemOffset(data, err)
	m := mistake{data: data, offset: offset, problem: problem}
	m.line = lineAround(data, offset)
	m.previous = previousLine(data, offset)
	pos := placeAt(path, data, offset)
	e := source.Errorf(pos, "cannot read %q: %s", path, m.message())
	if hint := m.hint(); hint != "" {
		return e.WithHint("%s", hint)
	}
	return e
}

// byteReader hands out one byte at a time and counts them.
type byteReader struct {
	data []byte
	n    int
}

func (r *byteReader) Read(p []byte) (int, error) {
	if r.n >= len(r.data) || len(p) == 0 {
		return 0, io.EOF
	}
	p[0] = r.data[r.n]
	r.n++
	return 1, nil
}

// problemOffset is the byte offset of the mistake.
func problemOffset(data []byte, err error) int {
	if open := unclosed(data, err); open >= 0 {
		return open
	}
	text, _ := maskSlashes(acceptVersion(data))
	r := &byteReader{data: text}
	dec := yaml.NewDecoder(r)
	for drained := error(nil); drained == nil; {
		var doc yaml.Node
		drained = decodeSafely(dec, &doc)
	}
	read := bytes.TrimRight(data[:min(r.n, len(data))], "\r\n\t ")
	start := bytes.LastIndexByte(read, '\n') + 1
	if len(data) > maxLocate {
		return start
	}
	want := problemOf(err)
	if !strings.Contains(want, "expected ','") { // else any shorter text fails in the same way
		above := bytes.TrimRight(read[:start], "\r\n\t ")
		if fails(data[:len(above)], want) {
			read = above
		}
		start = bytes.LastIndexByte(above, '\n') + 1
	}
	// The shortest text that fails in the same way ends with the mistake.
	at := start + sort.Search(len(read)-start, func(i int) bool {
		return fails(data[:start+i+1], want)
	})
	return tokenStart(data, min(at, max(len(data)-1, 0)), want)
}

func fails(data []byte, problem string) bool {
	_, err := parseNodes(data)
	return err != nil && problemOf(err) == problem
}

// problemOf is a yaml.v3 error without its line.
func problemOf(err error) string { return linePrefix.ReplaceAllString(err.Error(), "") }

// tokenStart goes back to the beginning of the word whose end was found.
func tokenStart(data []byte, at int, problem string) int {
	line := bytes.LastIndexByte(data[:at], '\n') + 1
	switch {
	case strings.HasPrefix(problem, "unknown anchor"):
		return max(line, bytes.LastIndexByte(data[:at+1], '*'))
	case strings.HasPrefix(problem, "did not find expected"), strings.HasPrefix(problem, "could not find expected"):
		for line < at && data[line] == ' ' {
			line++
		}
		if only(string(data[line:at]), wordBytes) {
			return line
		}
	}
	return at
}

const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.="

func decodeSafely(dec *yaml.Decoder, doc *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("panic")
		}
	}()
	return dec.Decode(doc)
}

// unclosed returns where a quoted text that never ends begins, or -1.
func unclosed(data []byte, err error) int {
	if !strings.Contains(err.Error(), "unexpected end of stream") && !strings.Contains(err.Error(), "unexpected document indicator") || len(data) > maxLocate {
		return -1
	}
	lines := lineStarts(data)
	// The text up to the line before the opening quote is sound.
	n := sort.Search(len(lines), func(i int) bool {
		end := len(data)
		if i+1 < len(lines) {
			end = lines[i+1]
		}
		_, err := parseNodes(data[:end])
		return err != nil && strings.Contains(err.Error(), "unexpected end of stream")
	})
	if n == len(lines) {
		return -1
	}
	line := data[lines[n]:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	i := openQuote(line)
	if i < 0 {
		return -1
	}
	return lines[n] + i
}

var quoteStart = regexp.MustCompile(`(?:^|[:\-,\[{] *|\s)(["'])`)

// openQuote finds the quote in a line that has no partner.
func openQuote(line []byte) int {
	at := 0
	for {
		m := quoteStart.FindSubmatchIndex(line[at:])
		if m == nil {
			return -1
		}
		open := at + m[2]
		end := bytes.IndexByte(line[open+1:], line[open])
		if end < 0 {
			return open
		}
		at = open + 1 + end + 1
	}
}

func lineAround(data []byte, offset int) string {
	start := bytes.LastIndexByte(data[:min(offset, len(data))], '\n') + 1
	line := data[start:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return string(line)
}

// previousLine is the last line with content before the one at offset.
func previousLine(data []byte, offset int) string {
	start := bytes.LastIndexByte(data[:min(offset, len(data))], '\n') + 1
	before := bytes.TrimRight(data[:start], "\r\n\t ")
	return string(before[bytes.LastIndexByte(before, '\n')+1:])
}
