package inventory

import (
	"cmp"
	"fmt"
	"slices"

	"play/engine/source"
	"play/modules/value"
)

// Layer is one source of a host's variables. Layers are shared between hosts:
// neither they nor their dicts may be changed.
type Layer struct {
	Name   string     // for explanations: "inventory group web", "group_vars/web of the playbook"
	Source source.Pos // the file, and the place in it where that is one place
	Vars   *value.Dict

	places map[string]source.Pos // of single variables, where known
	locate func(name string) (source.Pos, bool)
}

// Where returns the place at which the layer sets a variable, as exactly as it
// is known. It may read the layer's file again.
func (l *Layer) Where(name string) source.Pos {
	if p, ok := l.places[name]; ok {
		return p
	}
	if l.locate != nil {
		if p, ok := l.locate(name); ok {
			return p
		}
	}
	return l.Source
}

type cachedLayers struct {
	changes uint64
	layers  []*Layer
}

// Layers returns the variables of a host in Ansible's order of precedence,
// lowest first: inventory groups, group_vars/all of the inventory and of the
// playbook, other group_vars of both, then the host's own from the inventory,
// host_vars of the inventory and of the playbook. Groups come by depth,
// priority and name. playbookDir is the playbook's folder, or "". Vars files
// are read when a host first needs them, once per run.
func (inv *Inventory) Layers(host, playbookDir string) ([]*Layer, error) {
	h, ok := inv.Host(host)
	if !ok {
		return nil, fmt.Errorf("cannot find host %q in the inventory", host)
	}
	inv.mu.RLock()
	defer inv.mu.RUnlock()
	h.cacheMu.Lock()
	defer h.cacheMu.Unlock()
	if c, ok := h.cache[playbookDir]; ok && c.changes == inv.changes {
		return c.layers, nil
	}
	layers, err := inv.buildLayers(h, playbookDir)
	if err != nil {
		return nil, err
	}
	if h.cache == nil {
		h.cache = map[string]cachedLayers{}
	}
	h.cache[playbookDir] = cachedLayers{inv.changes, layers}
	return layers, nil
}

// buildLayers does what Layers says, without a cache.
func (inv *Inventory) buildLayers(h *Host, playbookDir string) ([]*Layer, error) {
	all, groups := sortedGroups(h)
	if h.Implicit {
		all = inv.groups["all"] // it is in no group, but has the variables of all
	}
	b := layerBuilder{inv: inv, playbookDir: playbookDir}
	if all != nil {
		b.add(all.vars...)
	}
	for _, g := range groups {
		b.add(g.vars...)
	}
	if all != nil {
		b.files("group_vars", "all")
	}
	var names []string
	for _, g := range groups {
		names = append(names, g.Name)
	}
	b.files("group_vars", names...)
	b.own(h)
	return b.layers, b.err
}

// ownLayers returns the variables that are set for the host itself.
func (inv *Inventory) ownLayers(h *Host, playbookDir string) ([]*Layer, error) {
	inv.mu.RLock()
	defer inv.mu.RUnlock()
	b := layerBuilder{inv: inv, playbookDir: playbookDir}
	b.own(h)
	return b.layers, b.err
}

// groupLayers returns the variables that are set for the group itself.
func (inv *Inventory) groupLayers(g *Group, playbookDir string) ([]*Layer, error) {
	inv.mu.RLock()
	defer inv.mu.RUnlock()
	b := layerBuilder{inv: inv, playbookDir: playbookDir}
	b.add(g.vars...)
	b.files("group_vars", g.Name)
	return b.layers, b.err
}

// sortedGroups returns the group all, or nil, and the host's other groups in
// the order of their precedence, lowest first.
func sortedGroups(h *Host) (all *Group, others []*Group) {
	for _, g := range h.allGroups() {
		if g.Name == "all" {
			all = g
		} else {
			others = append(others, g)
		}
	}
	slices.SortStableFunc(others, compareGroups)
	return all, others
}

func compareGroups(a, b *Group) int {
	return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.priority, b.priority), cmp.Compare(a.Name, b.Name))
}

type layerBuilder struct {
	inv         *Inventory
	playbookDir string
	layers      []*Layer
	err         error
}

func (b *layerBuilder) add(layers ...*Layer) { b.layers = append(b.layers, layers...) }

func (b *layerBuilder) own(h *Host) {
	if h.origin != nil {
		b.add(h.origin)
	}
	if h.Port != 0 {
		b.add(&Layer{Name: "inventory host " + h.Name, Vars: value.DictOf("ansible_port", h.Port)})
	}
	b.add(h.vars...)
	b.files("host_vars", h.Name)
}

// files adds what the vars folders of the inventory, then of the playbook,
// hold for the named groups or host.
func (b *layerBuilder) files(kind string, names ...string) {
	for _, dir := range b.inv.dirs {
		b.dir(dir, kind, "the inventory", names)
	}
	if b.playbookDir != "" {
		b.dir(b.playbookDir, kind, "the playbook", names)
	}
}

func (b *layerBuilder) dir(dir, kind, owner string, names []string) {
	for _, name := range names {
		if b.err != nil {
			return
		}
		var found []*Layer
		found, b.err = b.inv.files.layers(dir, kind, name, owner)
		b.add(found...)
	}
}
