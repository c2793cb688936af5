package yamlload

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/source"
	"play/modules/value"
)

// tagged makes the value of a node with an explicit tag.
func (c *constructor) tagged(n *yaml.Node) (any, bool, error) {
	switch n.Tag {
	case "!vault", "!vault-encrypted":
		return c.vault(n)
	case "!unsafe":
		return c.unsafeValue(n)
	case "!!map", "!!seq", "!!set", "!!omap", "!!pairs":
		return c.collection(n)
	}
	if n.Kind != yaml.ScalarNode {
		return nil, false, c.unknownTag(n)
	}
	if n.Tag == "!!str" || n.Tag == "!!timestamp" {
		return c.textOf(n, timestampOf(n))
	}
	v, err := c.taggedScalar(n)
	return v, false, err
}

func timestampOf(n *yaml.Node) string {
	if n.Tag == "!!timestamp" {
		return timestamp(n.Value)
	}
	return n.Value
}

func (c *constructor) taggedScalar(n *yaml.Node) (any, error) {
	var v any
	var err error
	switch n.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		v, err = taggedBool(n.Value)
	case "!!int":
		v, err = parseInt(n.Value)
	case "!!float":
		v, err = taggedFloat(n.Value)
	case "!!binary":
		v, err = taggedBinary(n.Value)
	default:
		return nil, c.unknownTag(n)
	}
	if err != nil {
		return nil, source.Errorf(c.f.Pos(n), "cannot read %q as %s: %w", short(n.Value), n.Tag, err)
	}
	return v, nil
}

func taggedBool(s string) (any, error) {
	if b, ok := boolean(strings.ToLower(s)); ok {
		return b, nil
	}
	return nil, fmt.Errorf("it is not a boolean")
}

func taggedFloat(s string) (any, error) {
	body := strings.TrimLeft(s, "+-")
	if isFloat(s, body) {
		return parseFloat(s), nil
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil {
		return nil, fmt.Errorf("it is not a number")
	}
	return v, nil
}

func taggedBinary(s string) (any, error) {
	b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		return nil, errNotBase64
	}
	return string(b), nil
}

// vault keeps the text encrypted until it is used.
func (c *constructor) vault(n *yaml.Node) (any, bool, error) {
	if n.Kind != yaml.ScalarNode {
		return nil, false, source.Errorf(c.f.Pos(n), "cannot read this !vault value: it must be a text that starts with %q", vaultHeader)
	}
	if c.mode == asData {
		return n.Value, false, nil
	}
	return newEncrypted(n.Value, c.f.Pos(n), c.f.loader.Vault), true, nil
}

// unsafeValue makes a value in which no string is ever a template.
func (c *constructor) unsafeValue(n *yaml.Node) (any, bool, error) {
	inner := constructor{f: c.f, mode: asData}
	bare := *n
	bare.Style &^= yaml.TaggedStyle
	bare.Anchor = ""
	if n.Kind == yaml.ScalarNode {
		return n.Value, false, nil
	}
	return inner.make(&bare)
}

func (c *constructor) collection(n *yaml.Node) (any, bool, error) {
	want, name := yaml.SequenceNode, "list"
	if n.Tag == "!!map" || n.Tag == "!!set" {
		want, name = yaml.MappingNode, "mapping"
	}
	if n.Kind != want {
		return nil, false, source.Errorf(c.f.Pos(n), "cannot read this as %s: it is not a %s", n.Tag, name)
	}
	switch n.Tag {
	case "!!map":
		return c.dict(n)
	case "!!seq":
		return c.list(n)
	case "!!set":
		return c.set(n)
	}
	return c.pairs(n)
}

// set makes the list of a set's members.
func (c *constructor) set(n *yaml.Node) (any, bool, error) {
	entries, err := c.entries(n)
	if err != nil {
		return nil, false, err
	}
	l := value.NewList()
	for _, e := range entries {
		l.Append(e.Key)
	}
	return l, false, nil
}

// pairs makes a list of (key, value) from a list of one-entry mappings.
func (c *constructor) pairs(n *yaml.Node) (any, bool, error) {
	l := value.NewList()
	for _, item := range n.Content {
		item = Follow(item)
		if item.Kind != yaml.MappingNode || len(item.Content) != 2 {
			return nil, false, source.Errorf(c.f.Pos(item), "cannot read this as an item of %s: it must be one \"key: value\"", n.Tag)
		}
		key, err := c.key(item.Content[0])
		if err != nil {
			return nil, false, err
		}
		v, lazy, err := c.value(item.Content[1])
		if err != nil {
			return nil, false, err
		}
		l.Append(value.NewList(key, v))
		l.Items[len(l.Items)-1].(*value.List).Lazy = lazy
		l.Lazy = l.Lazy || lazy
	}
	return l, l.Lazy, nil
}

func (c *constructor) unknownTag(n *yaml.Node) error {
	err := source.Errorf(c.f.Pos(n), "cannot read a value with the tag %q: no such tag is known", n.Tag)
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		return err.WithHint("quote the value if it is meant to start with \"!\"; known tags are !vault and !unsafe")
	}
	return err
}
