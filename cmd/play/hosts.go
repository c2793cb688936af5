package main

import (
	"slices"
	"sync"
	"sync/atomic"

	"play/engine/inventory"
	"play/engine/vars"
	"play/modules/value"
)

// hosts is the inventory as scopes and strategies ask it.
type hosts struct {
	inv   atomic.Pointer[inventory.Inventory] // a refresh puts another in its place while workers read
	dir   string                              // the playbook's folder: group_vars and host_vars beside it
	limit string
	load  func() (*inventory.Inventory, error)
	added []func(*inventory.Inventory) (bool, error) // what add_host and group_by did

	mu     sync.Mutex
	groups *value.Dict // magic variable groups; nil after a change
}

var _ vars.Inventory = (*hosts)(nil)

// HostLayers are the host's variables, the strongest layer first.
func (h *hosts) HostLayers(host string) ([]vars.Layer, error) {
	if !h.inv.Load().HasHost(host) {
		return implicit(host), nil
	}
	layers, err := h.inv.Load().Layers(host, h.dir)
	if err != nil {
		return nil, err
	}
	out := make([]vars.Layer, 0, len(layers))
	for _, l := range slices.Backward(layers) {
		out = append(out, vars.Layer{Name: l.Name, Dict: l.Vars, Where: l.Where})
	}
	return out, nil
}

// implicit are the variables of a host that no inventory knows: this machine
// under one of its names is worked on directly.
func implicit(host string) []vars.Layer {
	switch host {
	case "localhost", "127.0.0.1", "::1":
		return []vars.Layer{{Name: "implicit localhost", Dict: value.DictOf("ansible_connection", "local")}}
	}
	return nil
}

// own are the variables that the inventory's sources set on the host itself, and
// where these sources are.
func (h *hosts) own(host string) *value.Dict {
	found, ok := h.inv.Load().Host(host)
	if !ok {
		return nil
	}
	vars := found.Vars()
	layers, err := h.inv.Load().Layers(host, h.dir)
	if err != nil {
		return vars
	}
	for _, l := range layers {
		for _, name := range []string{"inventory_file", "inventory_dir"} {
			if v, ok := l.Vars.Get(name); ok {
				vars.Set(name, v)
			}
		}
	}
	return vars
}

// GroupNames lists the host's groups.
func (h *hosts) GroupNames(host string) []string { return h.inv.Load().GroupNames(host) }

// Groups is the magic variable groups.
func (h *hosts) Groups() *value.Dict {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.groups == nil {
		h.groups = value.NewDict()
		for _, g := range h.inv.Load().Groups() {
			members := value.NewList()
			for _, host := range g.Hosts() {
				members.Append(host.Name)
			}
			h.groups.Set(g.Name, members)
		}
	}
	return h.groups
}

// HostNames lists every host.
func (h *hosts) HostNames() []string { return h.inv.Load().HostNames() }

// HasHost reports whether a host is known.
func (h *hosts) HasHost(name string) bool { return h.inv.Load().HasHost(name) }

// Match lists the hosts of a pattern, within the limit.
func (h *hosts) Match(pattern string) ([]string, error) { return h.match(pattern, h.limit) }

// matchAll lists the hosts of a pattern, whatever the limit.
func (h *hosts) matchAll(pattern string) ([]string, error) { return h.match(pattern, "") }

func (h *hosts) match(pattern, limit string) ([]string, error) {
	found, err := h.inv.Load().Match(pattern, limit)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.Name
	}
	return names, nil
}

// AddHost is add_host.
func (h *hosts) AddHost(name string, groups []string, hostVars *value.Dict) (bool, error) {
	return h.add(func(inv *inventory.Inventory) (bool, error) { return inv.AddHost(name, groups, hostVars) })
}

// AddToGroup is group_by.
func (h *hosts) AddToGroup(host, group string, parents []string) (bool, error) {
	return h.add(func(inv *inventory.Inventory) (bool, error) { return inv.AddToGroup(host, group, parents) })
}

// add changes the inventory now and again after a refresh.
func (h *hosts) add(change func(*inventory.Inventory) (bool, error)) (bool, error) {
	defer h.changed()
	changed, err := change(h.inv.Load())
	if err == nil && changed {
		h.added = append(h.added, change)
	}
	return changed, err
}

func (h *hosts) changed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.groups = nil
}

// Refresh reads the sources again.
func (h *hosts) Refresh() error {
	inv, err := h.load()
	if err != nil {
		return err
	}
	for _, change := range h.added {
		if _, err := change(inv); err != nil {
			return err
		}
	}
	h.inv.Store(inv)
	h.changed()
	return nil
}
