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

// VarsFiles says when, and over what, group_vars and host_vars folders count: the
// options of the vars plugin host_group_vars. The zero value is Ansible's default.
type VarsFiles struct {
	Off bool // host_group_vars is not enabled: no folder counts
	// Stage is "inventory": those beside the inventory's sources count as a part of
	// the inventory; "task" or "": all count when variables are asked for; "all".
	Stage string
	// Own says that Stage was set for host_group_vars itself: what lists the
	// inventory then reads no folder unless it is "all".
	Own bool
	// Precedence orders the groups' variables; nil: as documented at Layers.
	Precedence []string
}

// defaultPrecedence is VARIABLE_PRECEDENCE where nobody set it.
var defaultPrecedence = []string{"all_inventory", "groups_inventory", "all_plugins_inventory", "all_plugins_play",
	"groups_plugins_inventory", "groups_plugins_play"}

func (v *VarsFiles) order() []string {
	if v.Precedence == nil {
		return defaultPrecedence
	}
	return v.Precedence
}

// Unknown lists the entries of Precedence that have no meaning.
func (v *VarsFiles) Unknown() []string {
	var names []string
	for _, name := range v.Precedence {
		if !slices.Contains(defaultPrecedence, name) && name != "plugins_by_groups" {
			names = append(names, name)
		}
	}
	return names
}

// stages tells whether the folders count early and late. Listing is for what
// shows or constructs the inventory.
func (v *VarsFiles) stages(listing bool) (early, late bool) {
	if v.Off {
		return false, false
	}
	early = v.Stage == "inventory" || v.Stage == "all"
	if listing {
		return early, !v.Own || v.Stage == "all"
	}
	return early, v.Stage != "inventory"
}

type cachedLayers struct {
	changes uint64
	layers  []*Layer
}

// Layers returns the variables of a host in Ansible's order of precedence,
// lowest first, which is (unless Options.VarsFiles says otherwise): inventory groups, group_vars/all of the inventory and of the
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
	layers, err := inv.buildLayers(h, playbookDir, false)
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
func (inv *Inventory) buildLayers(h *Host, playbookDir string, listing bool) ([]*Layer, error) {
	b := inv.layerBuilder(playbookDir, listing)
	b.all, b.groups = sortedGroups(h)
	if h.Implicit {
		b.all = inv.groups["all"] // it is in no group, but has the variables of all
	}
	for _, entry := range inv.opts.VarsFiles.order() {
		b.entry(entry)
	}
	b.own(h)
	return b.layers, b.err
}

// listedLayers does what Layers says, as it is listed.
func (inv *Inventory) listedLayers(h *Host, playbookDir string) ([]*Layer, error) {
	inv.mu.RLock()
	defer inv.mu.RUnlock()
	return inv.buildLayers(h, playbookDir, true)
}

// ownLayers returns the variables that are set for the host itself, as they are
// listed.
func (inv *Inventory) ownLayers(h *Host, playbookDir string) ([]*Layer, error) {
	inv.mu.RLock()
	defer inv.mu.RUnlock()
	b := inv.layerBuilder(playbookDir, true)
	b.own(h)
	return b.layers, b.err
}

// groupLayers returns the variables that are set for the group itself, as they
// are listed.
func (inv *Inventory) groupLayers(g *Group, playbookDir string) ([]*Layer, error) {
	inv.mu.RLock()
	defer inv.mu.RUnlock()
	b := inv.layerBuilder(playbookDir, true)
	b.group(g)
	b.inventoryFiles("group_vars", g.Name)
	b.playbookFiles("group_vars", g.Name)
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
	all         *Group // nil: the host is not in it
	groups      []*Group
	early, late bool   // vars folders count as the inventory is read, and when variables are asked for
	stage       string // for vars plugins, when variables are asked for
	layers      []*Layer
	err         error
}

func (inv *Inventory) layerBuilder(playbookDir string, listing bool) *layerBuilder {
	early, late := inv.opts.VarsFiles.stages(listing)
	b := &layerBuilder{inv: inv, playbookDir: playbookDir, early: early, late: late, stage: "task"}
	if listing {
		b.stage = "all"
	}
	return b
}

func (b *layerBuilder) add(layers ...*Layer) { b.layers = append(b.layers, layers...) }

// entry adds one entry of the order of precedence.
func (b *layerBuilder) entry(name string) {
	var all, others []string
	if b.all != nil {
		all = []string{"all"}
	}
	for _, g := range b.groups {
		others = append(others, g.Name)
	}
	switch name {
	case "all_inventory":
		if b.all != nil {
			b.group(b.all)
		}
	case "groups_inventory":
		for _, g := range b.groups {
			b.group(g)
		}
	case "all_plugins_inventory":
		b.inventoryFiles("group_vars", all...)
	case "all_plugins_play":
		b.playbookFiles("group_vars", all...)
	case "groups_plugins_inventory":
		b.inventoryFiles("group_vars", others...)
	case "groups_plugins_play":
		b.playbookFiles("group_vars", others...)
	case "plugins_by_groups":
		for _, name := range others {
			b.inventoryFiles("group_vars", name)
			b.playbookFiles("group_vars", name)
		}
	}
}

// group adds what the inventory's sources set for a group.
func (b *layerBuilder) group(g *Group) {
	b.add(g.vars...)
	b.earlyFiles("group_vars", g.Name)
}

// own adds what is set for the host itself.
func (b *layerBuilder) own(h *Host) {
	if h.origin != nil {
		b.add(h.origin)
	}
	if h.Port != 0 {
		b.add(&Layer{Name: "inventory host " + h.Name, Vars: value.DictOf("ansible_port", h.Port)})
	}
	b.add(h.vars...)
	b.earlyFiles("host_vars", h.Name)
	b.inventoryFiles("host_vars", h.Name)
	b.playbookFiles("host_vars", h.Name)
}

// earlyFiles adds what is read together with the inventory.
func (b *layerBuilder) earlyFiles(kind, name string) {
	for _, dir := range b.inv.dirs {
		b.plugins(dir, "inventory", kind, []string{name})
		b.dir(b.early, dir, kind, "the inventory", []string{name})
	}
}

// inventoryFiles adds what the vars folders of the inventory hold for the named
// groups or host.
func (b *layerBuilder) inventoryFiles(kind string, names ...string) {
	for _, dir := range b.inv.dirs {
		b.plugins(dir, b.stage, kind, names)
		b.dir(b.late, dir, kind, "the inventory", names)
	}
}

// playbookFiles is inventoryFiles for the folders beside the playbook.
func (b *layerBuilder) playbookFiles(kind string, names ...string) {
	if b.playbookDir != "" {
		b.plugins(b.playbookDir, b.stage, kind, names)
		b.dir(b.late, b.playbookDir, kind, "the playbook", names)
	}
}

func (b *layerBuilder) dir(counts bool, dir, kind, owner string, names []string) {
	for _, name := range names {
		if b.err != nil || !counts {
			return
		}
		var found []*Layer
		found, b.err = b.inv.files.layers(dir, kind, name, owner)
		b.add(found...)
	}
}
