package inventory

import (
	"play/engine/yamldump"
	"play/modules/value"
)

// ListText returns the text of --list: JSON, or YAML in the form of a YAML
// inventory.
func (r *Render) ListText(yaml bool) (string, error) {
	if yaml {
		tree, err := r.Tree()
		if err != nil {
			return "", err
		}
		return yamlText(tree)
	}
	list, err := r.List()
	if err != nil {
		return "", err
	}
	return jsonText(list)
}

// HostText returns the text of --host.
func (r *Render) HostText(name string, yaml bool) (string, error) {
	vars, err := r.Host(name)
	if err != nil {
		return "", err
	}
	if yaml {
		return yamlText(vars)
	}
	return jsonText(vars)
}

func jsonText(v any) (string, error) {
	s, err := value.EncodeJSON(v, value.JSONOptions{Multiline: true, Indent: "    ", SortKeys: true, EscapeInvalid: true})
	return s + "\n", err
}

func yamlText(v any) (string, error) {
	return yamldump.Dump(v, yamldump.Options{Flow: yamldump.FlowNever})
}

// Tree returns the inventory as a YAML inventory would write it: every group
// inside its parents, the variables of a host where it first appears.
func (r *Render) Tree() (*value.Dict, error) {
	all, _ := r.Inventory.Group("all")
	t := treeBuilder{r: r, seen: map[*Host]bool{}}
	tree, err := t.group(all)
	if err != nil {
		return nil, err
	}
	return value.DictOf("all", tree), nil
}

type treeBuilder struct {
	r    *Render
	seen map[*Host]bool
}

func (t *treeBuilder) group(g *Group) (*value.Dict, error) {
	out, children := value.NewDict(), value.NewDict()
	for _, c := range g.Children() {
		inner, err := t.group(c)
		if err != nil {
			return nil, err
		}
		children.Set(c.Name, inner)
	}
	hosts, err := t.hosts(g)
	if err != nil {
		return nil, err
	}
	vars := value.NewDict()
	if t.r.Export {
		if vars, err = t.r.groupVars(g); err != nil {
			return nil, err
		}
	}
	setUnlessEmpty(out, "children", children)
	setUnlessEmpty(out, "hosts", hosts)
	setUnlessEmpty(out, "vars", vars)
	return out, nil
}

func setUnlessEmpty(d *value.Dict, name string, part *value.Dict) {
	if part.Len() > 0 {
		d.Set(name, part)
	}
}

func (t *treeBuilder) hosts(g *Group) (*value.Dict, error) {
	hosts := value.NewDict()
	if g.Name == "all" {
		return hosts, nil
	}
	for _, h := range g.DirectHosts() {
		vars := value.NewDict()
		if !t.seen[h] {
			t.seen[h] = true
			var err error
			if vars, err = t.r.hostVars(h); err != nil {
				return nil, err
			}
		}
		hosts.Set(h.Name, vars)
	}
	return hosts, nil
}
