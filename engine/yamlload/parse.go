package yamlload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"play/engine/source"
)

const (
	// maxDepth is how deep collections may nest.
	maxDepth = 400
	// maxExpansion is how many nodes aliases may add to a document.
	maxExpansion = 1_000_000
)

// surrogatePair matches the escaped halves of one character in JSON text.
var surrogatePair = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

// Parse parses a text that holds at most one document. Path names it in
// errors, which are *source.Error.
func (l *Loader) Parse(path string, data []byte) (*File, error) {
	files, err := l.ParseAll(path, data)
	if err != nil {
		return nil, err
	}
	if len(files) > 1 {
		return nil, source.Errorf(files[1].Pos(files[1].Root),
			"cannot load %q: it must hold one YAML document, and a second one begins here", path).
			WithHint(`remove the "---" in front of this line, or split the file`)
	}
	if len(files) == 0 {
		return &File{Path: path, loader: l}, nil
	}
	return files[0], nil
}

// ParseAll parses a text of any number of documents.
func (l *Loader) ParseAll(path string, data []byte) ([]*File, error) {
	if len(data) > l.maxBytes() {
		return nil, tooLarge(path, int64(len(data)), l.maxBytes())
	}
	if err := checkText(path, data); err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	isJSON := looksJSON(data)
	if isJSON {
		data = joinSurrogates(data)
	}
	roots, err := parseNodes(data)
	if err != nil {
		return nil, located(path, data, err)
	}
	lines := lineStarts(data)
	files := make([]*File, 0, len(roots))
	for _, root := range roots {
		f := &File{Path: path, Root: root, loader: l, data: data, lines: lines, json: isJSON}
		if err := f.check(); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// parseNodes returns the root node of every document.
func parseNodes(text []byte) (roots []*yaml.Node, err error) {
	data, masked := maskSlashes(acceptVersion(text))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		if err := dec.Decode(&doc); err != nil {
			if errors.Is(err, io.EOF) {
				return roots, nil
			}
			return nil, err
		}
		if masked {
			unmaskSlashes(&doc)
		}
		if len(doc.Content) == 1 {
			roots = append(roots, doc.Content[0])
		}
	}
}

// checkText finds bytes that no YAML text may hold.
func checkText(path string, data []byte) error {
	for i := 0; i < len(data); {
		c := data[i]
		if c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return source.Errorf(placeAt(path, data, i), "cannot read %q: byte 0x%02x is not valid UTF-8", path, c).
				WithHint("save the file as UTF-8")
		case r < 0x20, r == 0x7f, r > 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			return source.Errorf(placeAt(path, data, i), "cannot read %q: control character U+%04X is not allowed in YAML", path, r).
				WithHint(`write it as an escape in a double-quoted string: "\x%02x"`, r)
		}
		i += size
	}
	return nil
}

// looksJSON reports whether a text is a JSON document, which Ansible tries
// before YAML: its numbers and escapes are JSON's.
func looksJSON(data []byte) bool {
	t := bytes.TrimLeft(data, " \t\r\n")
	return len(t) > 0 && (t[0] == '{' || t[0] == '[') && json.Valid(t)
}

// joinSurrogates replaces \ud83d\ude00 by \U0001f600, which YAML can read.
func joinSurrogates(data []byte) []byte {
	return surrogatePair.ReplaceAllFunc(data, func(pair []byte) []byte {
		var s string
		if json.Unmarshal([]byte(`"`+string(pair)+`"`), &s) != nil {
			return pair
		}
		r, _ := utf8.DecodeRuneInString(s)
		return fmt.Appendf(nil, `\U%08x`, r)
	})
}

// acceptVersion lets a "%YAML 1.2" document through, as PyYAML does: it is
// read by the rules of 1.1 all the same.
func acceptVersion(data []byte) []byte {
	if bytes.HasPrefix(data, []byte("%YAML 1.2")) {
		return append([]byte("%YAML 1.1"), data[len("%YAML 1.2"):]...)
	}
	return data
}

func lineStarts(data []byte) []int {
	starts := make([]int, 1, bytes.Count(data, []byte("\n"))+1)
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// placeAt is the line and column of a byte offset.
func placeAt(path string, data []byte, offset int) source.Pos {
	before := data[:min(offset, len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return source.Pos{
		File: path,
		Line: bytes.Count(before, []byte("\n")) + 1,
		Col:  utf8.RuneCount(before[start:]) + 1,
	}
}
