package inventory

import (
	"cmp"
	"fmt"
	"slices"

	"play/engine/jinja"
	"play/engine/yamlload"
	"play/modules/value"
)

// Render shows an inventory as ansible-inventory does.
type Render struct {
	Inventory   *Inventory
	PlaybookDir string      // whose group_vars and host_vars count as well; "" for none
	Extra       *value.Dict // extra vars, shown with each host unless Export is set
	Export      bool        // keep variables with the group or host that has them
	Merge       bool        // hash_behaviour=merge

	unsorted bool // variables as they were set, not by name
}

// internalNames are variables that are never shown: play sets them itself.
var internalNames = []string{
	"ansible_diff_mode", "ansible_config_file", "ansible_facts", "ansible_forks", "ansible_inventory_sources",
	"ansible_limit", "ansible_playbook_python", "ansible_run_tags", "ansible_skip_tags", "ansible_verbosity",
	"ansible_version", "inventory_dir", "inventory_file", "inventory_hostname", "inventory_hostname_short",
	"groups", "group_names", "omit", "playbook_dir",
}

// List returns what --list prints, ready to be encoded with sorted keys.
func (r *Render) List() (*value.Dict, error) {
	out := value.NewDict()
	hostvars := value.NewDict()
	out.Set("_meta", value.DictOf("hostvars", hostvars))
	for _, h := range r.Inventory.Hosts() {
		vars, err := r.hostVars(h)
		if err != nil {
			return nil, err
		}
		if vars.Len() > 0 {
			hostvars.Set(h.Name, vars)
		}
	}
	for _, g := range r.Inventory.Groups() {
		shown, err := r.listGroup(g)
		if err != nil {
			return nil, err
		}
		if shown.Len() > 0 {
			out.Set(g.Name, shown)
		}
	}
	return out, nil
}

func (r *Render) listGroup(g *Group) (*value.Dict, error) {
	d := value.NewDict()
	if hosts := g.DirectHosts(); g.Name != "all" && len(hosts) > 0 {
		d.Set("hosts", stringList(hostNames(hosts)))
	}
	names := value.NewList()
	for _, c := range g.Children() {
		names.Append(c.Name)
	}
	if names.Len() > 0 {
		d.Set("children", names)
	}
	if r.Export {
		vars, err := r.groupVars(g)
		if err != nil {
			return nil, err
		}
		if vars.Len() > 0 {
			d.Set("vars", vars)
		}
	}
	return d, nil
}

func stringList(names []string) *value.List {
	l := value.NewList()
	for _, n := range names {
		l.Append(n)
	}
	return l
}

// Host returns what --host prints.
func (r *Render) Host(name string) (*value.Dict, error) {
	h, ok := r.Inventory.Host(name)
	if !ok {
		return nil, fmt.Errorf("cannot find host %q in the inventory", name)
	}
	return r.hostVars(h)
}

// hostVars merges what is shown of a host's variables, sorted by name.
func (r *Render) hostVars(h *Host) (*value.Dict, error) {
	var layers []*Layer
	var err error
	if r.Export {
		layers, err = r.Inventory.ownLayers(h, r.PlaybookDir)
	} else {
		layers, err = r.Inventory.listedLayers(h, r.PlaybookDir)
	}
	if err != nil {
		return nil, err
	}
	if !r.Export {
		layers = append(slices.Clone(layers), &Layer{Vars: r.Extra})
	}
	return r.shown(layers), nil
}

func (r *Render) groupVars(g *Group) (*value.Dict, error) {
	layers, err := r.Inventory.groupLayers(g, r.PlaybookDir)
	if err != nil {
		return nil, err
	}
	if g.priority != 1 {
		layers = append(layers, &Layer{Vars: value.DictOf("ansible_group_priority", g.priority)})
	}
	return r.shown(layers), nil
}

// shown merges layers, leaves out internal names and sorts unless r is unsorted.
func (r *Render) shown(layers []*Layer) *value.Dict {
	merged := value.NewDict()
	for _, l := range layers {
		if r.Merge {
			merged = value.Combine(merged, l.Vars)
			continue
		}
		merged.Update(l.Vars)
	}
	for _, name := range internalNames {
		merged.Delete(name)
	}
	keys := merged.Keys()
	if !r.unsorted {
		slices.SortFunc(keys, func(a, b any) int { return cmp.Compare(value.Str(a), value.Str(b)) })
	}
	sorted := value.NewDict()
	for _, k := range keys {
		v, _ := merged.GetKey(k)
		_ = sorted.SetKey(k, written(v)) // the key came from a dict
	}
	return sorted
}

// written turns loaded values back into what their file says: templates into
// their text, encrypted values into their vault text.
func written(v any) any {
	switch v := v.(type) {
	case *jinja.Template:
		return v.Source
	case *yamlload.Encrypted:
		return value.DictOf("__ansible_vault", v.Text)
	case *value.List:
		if !v.Lazy {
			return v
		}
		l := value.NewList()
		for _, item := range v.Items {
			l.Append(written(item))
		}
		return l
	case *value.Dict:
		if !v.Lazy {
			return v
		}
		d := value.NewDict()
		for k, item := range v.All() {
			_ = d.SetKey(k, written(item)) // the key came from a dict
		}
		return d
	}
	return v
}
