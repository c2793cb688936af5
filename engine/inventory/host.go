package inventory

import (
	"slices"
	"sync"

	"play/engine/source"
	"play/modules/value"
)

// Host is one host of the inventory. Its name never changes; groups and
// variables may grow at run time through the Inventory.
type Host struct {
	Name     string
	Port     int  // of the entry "host:port" that made the host; 0: none
	Implicit bool // the localhost that no source names

	inv    *Inventory
	origin *Layer   // inventory_file and inventory_dir; nil for the implicit localhost
	groups []*Group // direct ones, in order of appearance
	vars   []*Layer // of the sources, in the order in which they were read

	cacheMu sync.Mutex
	cache   map[string]cachedLayers // by playbook folder
}

// Groups returns the groups that the host is directly in, in order of
// appearance.
func (h *Host) Groups() []*Group {
	h.inv.mu.RLock()
	defer h.inv.mu.RUnlock()
	return slices.Clone(h.groups)
}

// Vars returns the variables that the sources and AddHost set on the host
// itself, merged by replacement.
func (h *Host) Vars() *value.Dict {
	h.inv.mu.RLock()
	defer h.inv.mu.RUnlock()
	d := value.NewDict()
	if h.Port != 0 {
		d.Set("ansible_port", h.Port)
	}
	for _, l := range h.vars {
		d.Update(l.Vars)
	}
	return d
}

// originLayer holds the magic variables that name a host's source: the file
// and its folder, or nil.
func originLayer(file, dir any) *Layer {
	return &Layer{Name: "inventory source", Vars: value.DictOf("inventory_file", file, "inventory_dir", dir)}
}

// setVars adds what one entry of a source says of the host.
func (h *Host) setVars(vars *value.Dict, pos source.Pos) {
	if vars.Len() > 0 {
		h.vars = append(h.vars, &Layer{Name: "inventory host " + h.Name, Source: pos, Vars: vars})
	}
}

// allGroups returns the host's groups and all their ancestors, once each. The
// caller holds the inventory's lock.
func (h *Host) allGroups() []*Group {
	var found []*Group
	var add func(g *Group)
	add = func(g *Group) {
		if slices.Contains(found, g) {
			return
		}
		found = append(found, g)
		for _, p := range g.parents {
			add(p)
		}
	}
	for _, g := range h.groups {
		add(g)
	}
	return found
}

// GroupNames returns the sorted names of the host's groups and their
// ancestors, without all: the variable group_names.
func (inv *Inventory) GroupNames(host string) []string {
	inv.mu.RLock()
	defer inv.mu.RUnlock()
	h, ok := inv.lookup(host)
	if !ok {
		return nil
	}
	var names []string
	for _, g := range h.allGroups() {
		if g.Name != "all" {
			names = append(names, g.Name)
		}
	}
	slices.Sort(names)
	return names
}
