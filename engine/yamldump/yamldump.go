// Package yamldump prints values as YAML 1.1, byte for byte as PyYAML with
// libyaml does. Flowing in: values of package value and options; flowing out:
// text. The to_yaml filters and the outputs call it. It never reads YAML, and
// evaluates nothing.
package yamldump

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"

	"play/modules/value"
)

// maxDepth bounds the nesting that is followed.
const maxDepth = 500

// Flow says which collections are printed in brackets.
type Flow int

// The values of Flow.
const (
	FlowLeaves Flow = iota // those that hold nothing but plain scalars
	FlowNever
	FlowAlways
)

// Options choose the form, as the parameters of yaml.dump. The zero value
// prints as yaml.dump(v, default_flow_style=None, allow_unicode=True).
type Options struct {
	Indent       int // 2 to 9; anything else means 2
	Width        int // preferred line length; too small a one means 80
	Flow         Flow
	KeepOrder    bool   // do not sort the keys
	ASCII        bool   // escape all other characters
	ExplicitHead bool   // begin with "---"
	ExplicitEnd  bool   // end with "..."
	Style        string // of all scalars: "", `"`, "'", "|" or ">"
	// Literal is asked for each string: the text to print instead and whether
	// that is wanted as a literal block; nil leaves all as they are.
	Literal func(text string) (string, bool)
}

// Dump prints one document. It is an error if v holds something YAML has no
// form for.
func Dump(v any, o Options) (string, error) {
	r := represent{Options: o, seen: map[any]*node{}}
	root, err := r.node(v, 0)
	if err != nil {
		return "", err
	}
	e := newEmitter(o)
	e.anchors(root)
	e.document(root)
	return e.out.String(), nil
}

type kind int

const (
	scalar kind = iota
	sequence
	mapping
)

// node is a value as YAML sees it.
type node struct {
	kind     kind
	tag      string // "str", "int", …
	text     string
	style    byte
	flow     bool
	children []*node // of a mapping: keys and values in turn
	anchor   string
	met      bool
}

// represent turns values into nodes; a list or dict met twice is one node.
type represent struct {
	Options
	seen map[any]*node
}

func (r *represent) node(v any, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errors.New("cannot print as YAML: nested too deeply")
	}
	switch v := v.(type) {
	case *value.List:
		return r.sequence(v, v.Items, depth)
	case value.Tuple:
		if len(v) == 0 {
			return r.sequence(nil, v, depth)
		}
		return r.sequence(&v[0], v, depth)
	case *value.Dict:
		return r.mapping(v, depth)
	case value.JSONValuer:
		plain, err := v.JSONValue()
		if err != nil {
			return nil, err
		}
		return r.node(plain, depth+1)
	case value.Mapping:
		return r.mapping(dictOf(v), depth)
	}
	return r.scalar(v)
}

func dictOf(m value.Mapping) *value.Dict {
	d := value.NewDict()
	for _, k := range m.Keys() {
		if v, ok, err := m.Get(k); ok && err == nil {
			_ = d.SetKey(k, v) // a mapping's keys are hashable
		}
	}
	return d
}

func (r *represent) scalar(v any) (*node, error) {
	n := &node{}
	if r.Style != "" {
		n.style = r.Style[0]
	}
	switch v := v.(type) {
	case nil:
		n.tag, n.text = "null", "null"
	case bool:
		n.tag, n.text = "bool", strconv.FormatBool(v)
	case int:
		n.tag, n.text = "int", strconv.Itoa(v)
	case *big.Int:
		n.tag, n.text = "int", v.String()
	case float64:
		n.tag, n.text = "float", floatText(v)
	case string:
		n.tag, n.text = "str", v
		if r.Literal != nil {
			r.literal(n)
		}
	case value.Bytes:
		n.tag, n.style = "binary", '|'
		n.text = wrapBase64(base64.StdEncoding.EncodeToString([]byte(v)))
	default:
		return nil, fmt.Errorf("cannot represent an object: %s", value.Repr(v))
	}
	return n, nil
}

func (r *represent) literal(n *node) {
	text, ok := r.Literal(n.text)
	if ok {
		n.text, n.style = text, '|'
	}
}

// wrapBase64 puts a newline after every 76 characters and at the end.
func wrapBase64(s string) string {
	var b strings.Builder
	for ; len(s) > 76; s = s[76:] {
		b.WriteString(s[:76] + "\n")
	}
	b.WriteString(s + "\n")
	return b.String()
}

func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	s := value.FloatRepr(f)
	if !strings.Contains(s, ".") {
		s = strings.Replace(s, "e", ".0e", 1)
	}
	return s
}

func (r *represent) sequence(id any, items []any, depth int) (*node, error) {
	if n, ok := r.seen[id]; ok && id != nil {
		return n, nil
	}
	n := &node{kind: sequence, tag: "seq"}
	if id != nil {
		r.seen[id] = n
	}
	for _, item := range items {
		child, err := r.node(item, depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	n.flow = r.inBrackets(n)
	return n, nil
}

func (r *represent) mapping(d *value.Dict, depth int) (*node, error) {
	if n, ok := r.seen[d]; ok {
		return n, nil
	}
	n := &node{kind: mapping, tag: "map"}
	r.seen[d] = n
	for _, i := range r.order(d) {
		k, v := d.At(i)
		for _, part := range []any{k, v} {
			child, err := r.node(part, depth+1)
			if err != nil {
				return nil, err
			}
			n.children = append(n.children, child)
		}
	}
	n.flow = r.inBrackets(n)
	return n, nil
}

func (r *represent) inBrackets(n *node) bool {
	if r.Flow != FlowLeaves {
		return r.Flow == FlowAlways
	}
	for _, child := range n.children {
		if child.kind != scalar || child.style != 0 {
			return false
		}
	}
	return true
}

// order lists the positions of d's entries as they are printed; keys that
// cannot be compared stay as they are.
func (r *represent) order(d *value.Dict) []int {
	given := make([]int, d.Len())
	for i := range given {
		given[i] = i
	}
	if r.KeepOrder {
		return given
	}
	sorted := append([]int(nil), given...)
	failed := false
	sort.SliceStable(sorted, func(i, j int) bool {
		a, _ := d.At(sorted[i])
		b, _ := d.At(sorted[j])
		n, err := value.Compare(a, b, "<")
		failed = failed || err != nil
		return n < 0
	})
	if failed {
		return given
	}
	return sorted
}
