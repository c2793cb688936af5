package yamlload

import (
	"bytes"

	"gopkg.in/yaml.v3"

	"play/engine/source"
)

// File is one parsed document. It does not change and is safe for concurrent
// use; it must not be copied.
type File struct {
	Path string
	Root *yaml.Node // nil when the text holds nothing

	loader *Loader
	data   []byte
	lines  []int // byte offset of each line
	json   bool
	memo   memo
}

// Entry is one entry of a mapping, in the order of the dict it makes.
type Entry struct {
	Name    string // the key when it is a string, else ""
	Key     any    // the key as a value
	KeyNode *yaml.Node
	Node    *yaml.Node // the value, with an alias followed
}

// Pos is a node's place; of no node, the file's beginning.
func (f *File) Pos(n *yaml.Node) source.Pos {
	if n == nil {
		return source.Pos{File: f.Path, Line: 1, Col: 1}
	}
	return source.Pos{File: f.Path, Line: n.Line, Col: n.Column}
}

// TextPos is the place of a scalar's first character of content: behind an
// opening quote, and on the first line of a block scalar.
func (f *File) TextPos(n *yaml.Node) source.Pos {
	pos := f.Pos(n)
	if n == nil || n.Kind != yaml.ScalarNode {
		return pos
	}
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return source.Pos{File: f.Path, Line: n.Line + 1, Col: f.indentFrom(n.Line) + 1}
	}
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		pos.Col += f.propertiesWidth(n)
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		pos.Col++
	}
	return pos
}

// indentFrom is the indent of the first line with content from a 0-based line
// on.
func (f *File) indentFrom(line int) int {
	for ; line < len(f.lines); line++ {
		text := f.line(line)
		if trimmed := bytes.TrimLeft(text, " "); len(bytes.TrimSpace(trimmed)) > 0 {
			return len(text) - len(trimmed)
		}
	}
	return 0
}

// propertiesWidth is the number of characters that a node's tag and anchor
// take in front of it on its line.
func (f *File) propertiesWidth(n *yaml.Node) int {
	if n.Line > len(f.lines) {
		return 0
	}
	text := []rune(string(f.line(n.Line - 1)))
	start := min(n.Column-1, len(text))
	i := start
	for i < len(text) && (text[i] == '!' || text[i] == '&') {
		for i < len(text) && text[i] != ' ' {
			i++
		}
		for i < len(text) && text[i] == ' ' {
			i++
		}
	}
	return i - start
}

// line is the text of a 0-based line without its end.
func (f *File) line(i int) []byte {
	end := len(f.data)
	if i+1 < len(f.lines) {
		end = f.lines[i+1] - 1
	}
	return f.data[f.lines[i]:end]
}

// Follow returns the node that an alias stands for, and any other node itself.
func Follow(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// IsNull reports whether a node is absent or a null.
func (f *File) IsNull(n *yaml.Node) bool {
	n = Follow(n)
	if n == nil {
		return true
	}
	if n.Kind != yaml.ScalarNode || n.Style&^yaml.FlowStyle != 0 {
		return n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle != 0 && n.Tag == "!!null"
	}
	return isNull(n.Value)
}

// check refuses what would never end or never fit: aliases to themselves,
// aliases that multiply, and collections nested too deep.
func (f *File) check() error {
	c := checker{f: f, seen: map[*yaml.Node]extent{}}
	whole, err := c.measure(f.Root, 0)
	if err != nil {
		return err
	}
	if whole.size > c.nodes+maxExpansion {
		return source.Errorf(f.Pos(f.Root), "cannot load %q: its aliases expand to more than %d values", f.Path, maxExpansion)
	}
	return nil
}

type checker struct {
	f     *File
	nodes int
	seen  map[*yaml.Node]extent // of anchored nodes; zero while inside
}

// extent is what a node amounts to with its aliases followed.
type extent struct{ size, height int }

func (c *checker) measure(n *yaml.Node, depth int) (extent, error) {
	if n.Kind == yaml.AliasNode {
		if e := c.seen[n.Alias]; e.size > 0 {
			return e, nil
		}
		return extent{}, source.Errorf(c.f.Pos(n), "cannot load %q: alias \"*%s\" stands inside the value it names", c.f.Path, n.Value)
	}
	c.nodes++
	if n.Anchor != "" {
		c.seen[n] = extent{}
	}
	e := extent{size: 1}
	for _, child := range n.Content {
		inner, err := c.measure(child, depth+1)
		if err != nil {
			return e, err
		}
		e.size = min(e.size+inner.size, 1<<40)
		e.height = max(e.height, inner.height+1)
	}
	if depth+e.height > maxDepth {
		return e, source.Errorf(c.f.Pos(n), "cannot load %q: lists and dicts nest deeper than %d levels", c.f.Path, maxDepth)
	}
	if n.Anchor != "" {
		c.seen[n] = e
	}
	return e, nil
}
