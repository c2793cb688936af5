package inventory

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"play/modules/value"
)

// TOMLText returns the text of --list --toml: a TOML inventory, laid out as
// ansible-inventory does. A value that TOML has no form for is an error.
func (r *Render) TOMLText() (string, error) {
	all, _ := r.Inventory.Group("all")
	ordered := *r
	ordered.unsorted = true
	b := tomlBuilder{tree: treeBuilder{r: &ordered, seen: map[*Host]bool{}}, groups: value.NewDict()}
	if err := b.group(all); err != nil {
		return "", err
	}
	for i := b.groups.Len() - 1; i >= 0; i-- {
		if name, g := b.groups.At(i); g.(*value.Dict).Len() == 0 {
			b.groups.Delete(name)
		}
	}
	return tomlText(b.groups)
}

// tomlBuilder lists every group once, with the names of its children.
type tomlBuilder struct {
	tree   treeBuilder
	groups *value.Dict
}

func (b *tomlBuilder) group(g *Group) error {
	if _, done := b.groups.Get(g.Name); done {
		return nil
	}
	shown := value.NewDict()
	b.groups.Set(g.Name, shown)
	children := value.NewList()
	for _, c := range g.Children() {
		children.Append(c.Name)
		if err := b.group(c); err != nil {
			return err
		}
	}
	if g.Name != "all" && children.Len() > 0 {
		shown.Set("children", children)
	}
	hosts, err := b.tree.hosts(g)
	if err != nil {
		return err
	}
	setUnlessEmpty(shown, "hosts", hosts)
	if !b.tree.r.Export {
		return nil
	}
	vars, err := b.tree.r.groupVars(g)
	if err == nil {
		setUnlessEmpty(shown, "vars", vars)
	}
	return err
}

// section is a table that is still to be written.
type section struct {
	name  string
	table *value.Dict
}

// tomlText writes tables level by level: first all those of the top, then those
// inside them.
func tomlText(top *value.Dict) (string, error) {
	var b strings.Builder
	plain, level, err := tomlTable(top, "")
	b.WriteString(plain)
	for err == nil && len(level) > 0 {
		var deeper []section
		for _, s := range level {
			plain, inner, failed := tomlTable(s.table, s.name)
			if failed != nil {
				return "", failed
			}
			if plain != "" || len(inner) == 0 {
				if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n\n") {
					b.WriteByte('\n')
				}
				b.WriteString("[" + s.name + "]\n" + plain)
			}
			deeper = append(deeper, inner...)
		}
		level = deeper
	}
	return b.String(), err
}

// tomlTable writes what a table holds itself, its lists of tables last, and
// returns the tables inside it. An entry of none is left out: TOML has no null.
func tomlTable(table *value.Dict, name string) (text string, inner []section, err error) {
	var plain, lists strings.Builder
	for k, v := range table.All() {
		key := tomlKey(value.Str(k))
		full := strings.TrimPrefix(name+"."+key, ".")
		switch v := v.(type) {
		case nil:
			continue
		case *value.Dict:
			inner = append(inner, section{full, v})
			continue
		case *value.List:
			if holdsTables(v) {
				if err := tomlTables(&lists, full, v); err != nil {
					return "", nil, err
				}
				continue
			}
		}
		one, err := tomlWritten(v)
		if err != nil {
			return "", nil, fmt.Errorf("cannot write %q as TOML: %w", full, err)
		}
		plain.WriteString(key + " = " + one + "\n")
	}
	return plain.String() + lists.String(), inner, nil
}

func holdsTables(l *value.List) bool {
	for _, item := range l.Items {
		if _, ok := item.(*value.Dict); ok {
			return true
		}
	}
	return false
}

// tomlTables writes a list of tables.
func tomlTables(b *strings.Builder, name string, list *value.List) error {
	for _, item := range list.Items {
		table, ok := item.(*value.Dict)
		if !ok {
			return fmt.Errorf("cannot write %q as TOML: the list holds tables and other values", name)
		}
		plain, level, err := tomlTable(table, name)
		if err != nil {
			return err
		}
		before, lists := plain, ""
		if strings.HasPrefix(plain, "[") {
			before, lists = "", plain
		}
		fmt.Fprintf(b, "[[%s]]\n%s\n%s", name, before, lists)
		for ; len(level) > 0; level = level[1:] {
			plain, inner, err := tomlTable(level[0].table, level[0].name)
			if err != nil {
				return err
			}
			if plain != "" || len(inner) == 0 {
				fmt.Fprintf(b, "[%s]\n%s", level[0].name, plain)
			}
			level = append(level, inner...)
		}
	}
	return nil
}

// tomlWritten writes a value that is no table.
func tomlWritten(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return tomlString(v), nil
	case bool:
		return strings.ToLower(value.Str(v)), nil
	case *value.List:
		var b strings.Builder
		for _, item := range v.Items {
			one, err := tomlWritten(item)
			if err != nil {
				return "", err
			}
			b.WriteString(" " + one + ",")
		}
		if b.Len() == 0 {
			return "[]", nil
		}
		return "[" + b.String() + "]", nil
	case *value.Dict, nil:
		return "", errors.New("a list in a list holds a table or nothing")
	}
	return value.Str(v), nil
}

var bareTOMLKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(key string) string {
	if bareTOMLKey.MatchString(key) {
		return key
	}
	return tomlString(key)
}

// tomlString writes a text in quotes.
func tomlString(s string) string {
	var b strings.Builder
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\t': `\t`, '\r': `\r`, '\b': `\b`, '\f': `\f`}
	for _, c := range s {
		switch {
		case short[c] != "":
			b.WriteString(short[c])
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return `"` + b.String() + `"`
}
