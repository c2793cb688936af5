package inventory

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// yamlReader reads one YAML inventory.
type yamlReader struct {
	inv *Inventory
	f   *yamlload.File
}

// loadYAML reads an inventory in YAML or static JSON form.
func (inv *Inventory) loadYAML(path string, data []byte) error {
	f, err := inv.loader.Parse(path, data)
	if err != nil {
		return err
	}
	r := &yamlReader{inv: inv, f: f}
	if f.IsNull(f.Root) {
		return source.Errorf(source.Pos{File: path}, "cannot read inventory %q: the YAML file is empty", path)
	}
	entries, err := r.mapping(f.Root, "an inventory")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name == "plugin" {
			return inv.loadPlugin(f, entries)
		}
	}
	for _, e := range entries {
		if err := r.topGroup(e); err != nil {
			return err
		}
	}
	return nil
}

// topGroup reads a group that is written at the top.
func (r *yamlReader) topGroup(e yamlload.Entry) error {
	if n := yamlload.Follow(e.Node); !r.f.IsNull(n) && n.Kind != yaml.MappingNode {
		r.inv.warn("Skipping '%v' as this is not a valid group definition", e.Key)
		return nil
	}
	return r.group(nil, e)
}

// mapping returns the entries of a node that must be a mapping.
func (r *yamlReader) mapping(n *yaml.Node, what string) ([]yamlload.Entry, error) {
	if m := yamlload.Follow(n); m == nil || m.Kind != yaml.MappingNode {
		return nil, source.Errorf(r.f.Pos(n), "cannot read this as %s: expected a dictionary, found %s", what, nodeKind(m))
	}
	return r.f.Entries(n)
}

func nodeKind(n *yaml.Node) string {
	switch {
	case n == nil:
		return "nothing"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a dictionary"
	}
	return fmt.Sprintf("%q", n.Value)
}

// name is the text of a key that names a group or host; numbers are taken as
// they were written.
func (r *yamlReader) name(e yamlload.Entry) (string, error) {
	if e.Name != "" {
		return e.Name, nil
	}
	if k := yamlload.Follow(e.KeyNode); k != nil && k.Kind == yaml.ScalarNode && k.Value != "" {
		return "", source.Errorf(r.f.Pos(k), "cannot use %q as the name of a host or group: YAML does not read it as a string", k.Value).
			WithHint("quote it: %q", k.Value)
	}
	return "", source.Errorf(r.f.Pos(e.KeyNode), "cannot use this as the name of a host or group: it must be a string")
}

// group reads one entry "name: {vars, children, hosts}"; parent is nil at the
// top.
func (r *yamlReader) group(parent *Group, e yamlload.Entry) error {
	name, err := r.name(e)
	if err != nil {
		return err
	}
	g := r.inv.groupCalled(name)
	if parent != nil {
		if err := parent.addChild(g); err != nil {
			return source.Errorf(r.f.Pos(e.KeyNode), "%s", err)
		}
	}
	if r.f.IsNull(e.Node) {
		return nil
	}
	parts, err := r.mapping(e.Node, `group "`+name+`"`)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := r.part(g, part); err != nil {
			return err
		}
	}
	return nil
}

// part reads one section of a group.
func (r *yamlReader) part(g *Group, e yamlload.Entry) error {
	switch e.Name {
	case "vars":
		return r.groupVars(g, e)
	case "children", "hosts":
		return r.members(g, e)
	}
	if n := yamlload.Follow(e.Node); n.Kind != yaml.MappingNode && !r.f.IsNull(n) {
		r.inv.warn("Skipping key (%v) in group (%s) as it is not a mapping, it is a <class '%s'>", e.Key, g.Name, r.className(n))
		return nil
	}
	r.inv.warn(`Skipping unexpected key (%v) in group (%s), only "vars", "children" and "hosts" are valid`, e.Key, g.Name)
	return nil
}

// className is what Python calls the class of a node's value.
func (r *yamlReader) className(n *yaml.Node) string {
	v, err := r.f.Data(n)
	if err != nil {
		return "?"
	}
	switch v.(type) {
	case string:
		return "ansible.parsing.yaml.objects.AnsibleUnicode"
	case *value.List:
		return "ansible.parsing.yaml.objects.AnsibleSequence"
	}
	return value.TypeName(v)
}

func (r *yamlReader) groupVars(g *Group, e yamlload.Entry) error {
	if r.f.IsNull(e.Node) {
		return nil
	}
	entries, err := r.mapping(e.Node, `"vars" of group "`+g.Name+`"`)
	if err != nil {
		return err
	}
	vars, err := r.f.Vars(e.Node)
	if err != nil {
		return err
	}
	places := make(map[string]source.Pos, len(entries))
	for _, v := range entries {
		places[v.Name] = r.f.Pos(v.KeyNode)
	}
	if err := g.setVars(vars, r.f.Pos(e.Node), places); err != nil {
		return source.Errorf(places["ansible_group_priority"], "%s", err)
	}
	return nil
}

// members reads a group's children or hosts: a mapping, or the name of one.
func (r *yamlReader) members(g *Group, e yamlload.Entry) error {
	if r.f.IsNull(e.Node) {
		return nil
	}
	if n := yamlload.Follow(e.Node); n.Kind == yaml.ScalarNode {
		return r.member(g, e.Name, yamlload.Entry{Name: n.Value, Key: n.Value, KeyNode: n})
	}
	entries, err := r.mapping(e.Node, `"`+e.Name+`" of group "`+g.Name+`"`)
	if err != nil {
		return err
	}
	for _, m := range entries {
		if err := r.member(g, e.Name, m); err != nil {
			return err
		}
	}
	return nil
}

func (r *yamlReader) member(g *Group, section string, e yamlload.Entry) error {
	if section == "hosts" {
		return r.host(g, e)
	}
	return r.group(g, e)
}

// host reads one entry "pattern: {name: value…}".
func (r *yamlReader) host(g *Group, e yamlload.Entry) error {
	entry, err := r.name(e)
	if err != nil {
		return err
	}
	pos := r.f.Pos(e.KeyNode)
	names, port, err := expandHosts(entry)
	if err != nil {
		return source.Errorf(pos, "%s", err)
	}
	vars := value.NewDict()
	if !r.f.IsNull(e.Node) {
		if _, err := r.mapping(e.Node, `the variables of host "`+entry+`"`); err != nil {
			return err
		}
		if vars, err = r.f.Vars(e.Node); err != nil {
			return err
		}
	}
	for _, n := range names {
		h := r.inv.host(n, port)
		h.setVars(vars, pos)
		g.addHost(h)
	}
	return nil
}
