package inventory

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"play/engine/source"
	"play/modules/value"
)

// tomlReader reads one TOML inventory.
type tomlReader struct {
	inv  *Inventory
	path string
}

// loadTOML reads an inventory in TOML form: a table for each group, with the
// tables vars and hosts and the list children.
func (inv *Inventory) loadTOML(path string, data []byte) error {
	tree, err := decodeTOML(path, string(data))
	if err != nil {
		return err
	}
	r := &tomlReader{inv: inv, path: path}
	if tree.Len() == 0 {
		return r.fail("cannot read inventory %q: the TOML file is empty", path)
	}
	if p, _ := tree.Get("plugin"); value.Truth(p) {
		return r.fail("cannot read inventory %q: it configures a plugin, which only a YAML file can", path)
	}
	for name, table := range tree.All() {
		if err := r.group(value.Str(name), table); err != nil {
			return err
		}
	}
	return nil
}

func (r *tomlReader) fail(format string, args ...any) error {
	return source.Errorf(source.Pos{File: r.path}, format, args...)
}

func (r *tomlReader) group(name string, v any) error {
	table, ok := v.(*value.Dict)
	if !ok {
		r.inv.warn("Skipping '%s' as this is not a valid group definition", name)
		return nil
	}
	g := r.inv.groupCalled(name)
	for key, part := range table.All() {
		if err := r.part(g, value.Str(key), part); err != nil {
			return err
		}
	}
	return nil
}

// part reads one section of a group.
func (r *tomlReader) part(g *Group, key string, v any) error {
	table, isTable := v.(*value.Dict)
	list, isList := v.(*value.List)
	switch {
	case key != "vars" && key != "children" && key != "hosts":
		r.inv.warn(`Skipping unexpected key "%s" in group "%s", only "vars", "children" and "hosts" are valid`, key, g.Name)
	case key == "children" && !isList:
		return r.fail("cannot read %q of group %q: expected a list, found %s", key, g.Name, value.Repr(v))
	case key == "children":
		return r.children(g, list)
	case !isTable:
		return r.fail("cannot read %q of group %q: expected a table, found %s", key, g.Name, value.Repr(v))
	case key == "vars":
		if err := g.setVars(r.vars(table), source.Pos{File: r.path}, nil); err != nil {
			return r.fail("%s", err)
		}
	case key == "hosts":
		return r.hosts(g, table)
	}
	return nil
}

func (r *tomlReader) children(g *Group, names *value.List) error {
	for _, n := range names.Items {
		name, ok := n.(string)
		if !ok {
			return r.fail("cannot use %s as the name of a group: it must be a string", value.Repr(n))
		}
		if err := g.addChild(r.inv.groupCalled(name)); err != nil {
			return r.fail("%s", err)
		}
	}
	return nil
}

func (r *tomlReader) hosts(g *Group, table *value.Dict) error {
	for key, v := range table.All() {
		entry := value.Str(key)
		vars, ok := v.(*value.Dict)
		if !ok {
			return r.fail("cannot read the variables of host %q: expected a table, found %s", entry, value.Repr(v))
		}
		names, port, err := expandHosts(entry)
		if err != nil {
			return r.fail("%s", err)
		}
		vars = r.vars(vars)
		for _, n := range names {
			h := r.inv.host(n, port)
			h.setVars(vars, source.Pos{File: r.path})
			g.addHost(h)
		}
	}
	return nil
}

// vars compiles the templates in a table: the inventory is the operator's own.
func (r *tomlReader) vars(table *value.Dict) *value.Dict {
	out := value.NewDict()
	for k, v := range table.All() {
		r.inv.compiler().set(out, value.Str(k), v, source.Pos{File: r.path})
	}
	return out
}

// decodeTOML reads TOML text into dicts that keep the order of the file.
func decodeTOML(path, text string) (*value.Dict, error) {
	var tree map[string]any
	meta, err := toml.Decode(text, &tree)
	var at toml.ParseError
	switch {
	case errors.As(err, &at):
		return nil, source.Errorf(source.Pos{File: path, Line: at.Position.Line, Col: at.Position.Col}, "cannot read this as TOML: %s", at.Message)
	case err != nil:
		return nil, source.Errorf(source.Pos{File: path}, "cannot read this as TOML: %w", err)
	}
	places := map[string]int{}
	for i, key := range meta.Keys() {
		// A table is met where its first key is, which may be before its header.
		for n := range key {
			if name := strings.Join(key[:n+1], "\x00"); places[name] == 0 {
				places[name] = i + 1
			}
		}
	}
	return tomlDict(tree, "", places), nil
}

// tomlDict orders a table by where its keys stand. Below is the path of the
// table; tables in a list share one.
func tomlDict(table map[string]any, below string, places map[string]int) *value.Dict {
	names := make([]string, 0, len(table))
	for name := range table {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if pa, pb := places[below+a], places[below+b]; pa != pb {
			return pa - pb
		}
		return strings.Compare(a, b)
	})
	d := value.NewDict()
	for _, name := range names {
		d.Set(name, tomlValue(table[name], below+name+"\x00", places))
	}
	return d
}

func tomlValue(v any, below string, places map[string]int) any {
	switch v := v.(type) {
	case map[string]any:
		return tomlDict(v, below, places)
	case []map[string]any:
		l := value.NewList()
		for _, item := range v {
			l.Append(tomlDict(item, below, places))
		}
		return l
	case []any:
		l := value.NewList()
		for _, item := range v {
			l.Append(tomlValue(item, below, places))
		}
		return l
	case int64:
		return int(v)
	case time.Time:
		return tomlTime(v)
	}
	return v
}

// tomlTime is a date or time as Python prints it, which is what templates and
// listings show of one.
func tomlTime(t time.Time) string {
	zone := t.Location().String()
	switch {
	case strings.HasSuffix(zone, "date-local"):
		return t.Format("2006-01-02")
	case strings.HasSuffix(zone, "datetime-local"):
		return t.Format("2006-01-02 15:04:05.999999")
	case strings.HasSuffix(zone, "time-local"):
		return t.Format("15:04:05.999999")
	}
	return t.Format("2006-01-02 15:04:05.999999-07:00")
}
