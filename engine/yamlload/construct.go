package yamlload

import (
	"errors"
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"

	"play/engine/source"
	"play/modules/value"
)

// mode says what becomes of strings.
type mode int

const (
	asTemplates mode = iota // a string with Jinja is compiled, else an error
	asVars                  // the same, but a bad template fails when it is used
	asData                  // strings are strings
)

// Value makes a node's value. A template that cannot be compiled is an error.
func (f *File) Value(n *yaml.Node) (any, error) { return f.construct(n, asTemplates) }

// Data makes a node's value without any template.
func (f *File) Data(n *yaml.Node) (any, error) { return f.construct(n, asData) }

// Vars makes the dict of a node that holds variables; null is an empty dict. A
// template that cannot be compiled is reported to Loader.Defect and fails when
// it is used.
func (f *File) Vars(n *yaml.Node) (*value.Dict, error) {
	if f.IsNull(n) {
		return value.NewDict(), nil
	}
	v, err := f.construct(n, asVars)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, source.Errorf(f.Pos(n), "cannot use this as variables: expected a mapping of names to values, found %s", Kind(v)).
			WithHint(`write "name: value"`)
	}
	return d, nil
}

// VarsValue makes the value of one variable.
func (f *File) VarsValue(n *yaml.Node) (any, error) { return f.construct(n, asVars) }

func (f *File) construct(n *yaml.Node, m mode) (any, error) {
	if n == nil {
		return nil, nil
	}
	if f.loader.Env == nil {
		m = asData
	}
	c := constructor{f: f, mode: m}
	v, _, err := c.value(n)
	return v, err
}

// Entries returns a mapping's entries with merge keys applied: merged keys
// stand first and give way to the mapping's own. A repeated key is warned of,
// keeps its first place and its last value.
func (f *File) Entries(n *yaml.Node) ([]Entry, error) {
	n = Follow(n)
	c := constructor{f: f, mode: asData}
	return c.entries(n)
}

// constructor makes the values of one document.
type constructor struct {
	f      *File
	mode   mode
	unsafe int                  // inside how many !unsafe nodes
	shared map[*yaml.Node]built // values of anchored nodes
}

type built struct {
	v    any
	lazy bool
}

// value makes a node's value and tells whether something in it is to be
// evaluated later.
func (c *constructor) value(n *yaml.Node) (any, bool, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Anchor == "" {
		return c.make(n)
	}
	if b, ok := c.shared[n]; ok {
		return b.v, b.lazy, nil
	}
	v, lazy, err := c.make(n)
	if c.shared == nil {
		c.shared = map[*yaml.Node]built{}
	}
	c.shared[n] = built{v, lazy}
	return v, lazy, err
}

func (c *constructor) make(n *yaml.Node) (any, bool, error) {
	if n.Style&yaml.TaggedStyle != 0 {
		return c.tagged(n)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return c.dict(n)
	case yaml.SequenceNode:
		return c.list(n)
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return c.text(n)
	}
	v, err := c.plain(n)
	if err != nil {
		return nil, false, err
	}
	if _, ok := v.(string); ok && c.mode != asData {
		return c.textOf(n, v.(string))
	}
	return v, false, nil
}

// plain resolves an unquoted scalar.
func (c *constructor) plain(n *yaml.Node) (any, error) {
	if c.f.json {
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && !isInt(n.Value) && n.Value[0] <= '9' {
			return v, nil
		}
	}
	v, err := plain(n.Value)
	if err != nil {
		return nil, source.Errorf(c.f.Pos(n), "cannot read %q: %w", short(n.Value), err).
			WithHint("quote it if it is meant as text")
	}
	return v, nil
}

func (c *constructor) text(n *yaml.Node) (any, bool, error) { return c.textOf(n, n.Value) }

// textOf makes a string or the template in it.
func (c *constructor) textOf(n *yaml.Node, s string) (any, bool, error) {
	if c.mode == asData || c.unsafe > 0 {
		return s, false, nil
	}
	var v any
	var err error
	if c.mode == asVars {
		v, err = c.f.compile(s, c.f.TextPos(n), true)
	} else {
		v, err = c.f.Load(s, c.f.TextPos(n))
	}
	_, isText := v.(string)
	return v, err == nil && !isText, err
}

func (c *constructor) list(n *yaml.Node) (any, bool, error) {
	l := &value.List{Items: make([]any, 0, len(n.Content))}
	for _, child := range n.Content {
		v, lazy, err := c.value(child)
		if err != nil {
			return nil, false, err
		}
		l.Items = append(l.Items, v)
		l.Lazy = l.Lazy || lazy
	}
	return l, l.Lazy, nil
}

func (c *constructor) dict(n *yaml.Node) (any, bool, error) {
	entries, err := c.entries(n)
	if err != nil {
		return nil, false, err
	}
	d := value.NewDict()
	for _, e := range entries {
		v, lazy, err := c.value(e.Node)
		if err != nil {
			return nil, false, err
		}
		if err := d.SetKey(e.Key, v); err != nil {
			return nil, false, c.badKey(e.KeyNode)
		}
		d.Lazy = d.Lazy || lazy
	}
	return d, d.Lazy, nil
}

// entries lists what a mapping holds; see File.Entries.
func (c *constructor) entries(n *yaml.Node) ([]Entry, error) {
	t := table{c: c, seen: map[any]int{}, own: map[any]bool{}}
	if len(n.Content) > 16 {
		t.list = make([]Entry, 0, len(n.Content)/2)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			if err := t.merge(n.Content[i+1], 0); err != nil {
				return nil, err
			}
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			continue
		}
		if err := t.add(n, n.Content[i], n.Content[i+1], true); err != nil {
			return nil, err
		}
	}
	return t.list, nil
}

func isMerge(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" &&
		n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 &&
		(n.Tag == "!!merge" || n.Style&yaml.TaggedStyle == 0)
}

// table collects the entries of one mapping.
type table struct {
	c    *constructor
	list []Entry
	seen map[any]int  // key to place in list
	own  map[any]bool // keys that the mapping itself holds
}

func (t *table) add(mapping, keyNode, node *yaml.Node, own bool) error {
	key, err := t.c.key(keyNode)
	if err != nil {
		return err
	}
	e := Entry{Key: key, KeyNode: keyNode, Node: Follow(node)}
	e.Name, _ = key.(string)
	hash, err := hashable(key)
	if err != nil {
		return t.c.badKey(keyNode)
	}
	at, repeated := t.seen[hash]
	if repeated {
		e.Key, e.Name = t.list[at].Key, t.list[at].Name // as in Python, the first of equal keys stays
		t.list[at] = e
	} else {
		t.seen[hash] = len(t.list)
		t.list = append(t.list, e)
	}
	if own {
		if t.own[hash] {
			if err := t.c.repeated(mapping, keyNode, key); err != nil {
				return err
			}
		}
		t.own[hash] = true
	}
	return nil
}

// repeated judges a key that a mapping has twice, as the loader says.
func (c *constructor) repeated(mapping, keyNode *yaml.Node, key any) error {
	pos := c.f.Pos(keyNode)
	text := fmt.Sprintf("While constructing a mapping from %s, line %d, column %d, found a duplicate dict key (%v).", pos.File, mapping.Line, mapping.Column, key)
	switch c.f.loader.Repeated {
	case "error":
		return source.Errorf(pos, "%s", text).WithHint("duplicate_dict_key is set to error: remove one of them")
	case "ignore":
		return nil
	}
	if c.f.memo.firstWarning(keyNode) {
		c.f.loader.warn(pos, "%s Using last defined value only.", text)
	}
	return nil
}

// merge adds what "<<" names: a mapping, or a list of mappings of which an
// earlier one wins.
func (t *table) merge(n *yaml.Node, depth int) error {
	n = Follow(n)
	switch {
	case n.Kind == yaml.MappingNode:
		merged, err := t.c.entries(n)
		if err != nil {
			return err
		}
		for _, e := range merged {
			if err := t.add(n, e.KeyNode, e.Node, false); err != nil {
				return err
			}
		}
		return nil
	case n.Kind == yaml.SequenceNode && depth == 0:
		for i := len(n.Content) - 1; i >= 0; i-- {
			if err := t.merge(n.Content[i], 1); err != nil {
				return err
			}
		}
		return nil
	}
	return source.Errorf(t.c.f.Pos(n), `cannot merge this: "<<" takes a mapping or a list of mappings`)
}

// key makes a key's value: never a template.
func (c *constructor) key(n *yaml.Node) (any, error) {
	if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle == 0 && n.Style != 0 {
		return n.Value, nil
	}
	data := constructor{f: c.f, mode: asData, shared: nil}
	v, _, err := data.value(n)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case *value.List, *value.Dict:
		return nil, c.badKey(n)
	}
	return v, nil
}

// badKey is the error about a list or dict used as a key, which is nearly
// always an unquoted template.
func (c *constructor) badKey(n *yaml.Node) error {
	err := source.Errorf(c.f.Pos(n), "cannot use a list or dict as a key")
	if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 {
		return source.Errorf(c.f.Pos(n), "cannot read this value: unquoted \"{{\" begins a dict").
			WithHint(`%s`, quoteBraces)
	}
	return err
}

// hashable is a map key that is equal for keys that Python calls equal.
func hashable(key any) (any, error) {
	switch key.(type) {
	case string, int:
		return key, nil
	}
	probe := value.NewDict()
	if err := probe.SetKey(key, nil); err != nil {
		return nil, err
	}
	return probeHash(key), nil
}

// probeHash folds True and 1.0 into 1 as Python's dicts do.
func probeHash(key any) any {
	switch k := key.(type) {
	case bool:
		if k {
			return 1
		}
		return 0
	case float64:
		if k == float64(int(k)) {
			return int(k)
		}
		return k
	case nil:
		return nil
	}
	return fmt.Sprintf("%T %v", key, key)
}

// Kind names the kind of a loaded value for messages: "a list", "a string"…
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case int, float64:
		return "a number"
	case *value.List, value.Tuple:
		return "a list"
	case *value.Dict:
		return "a dict"
	case *Encrypted:
		return "a vault"
	}
	return "a template"
}

// short cuts a text for a message.
func short(s string) string {
	r := []rune(s)
	if len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

var errNotBase64 = errors.New("it is not base64")
