package inventory

import (
	"fmt"
	"slices"
	"strings"

	"play/modules/value"
)

// settle makes the whole consistent after loading or a change: every group
// hangs under all, a host without groups is in ungrouped and no other is, and
// depths are right.
func (inv *Inventory) settle() error {
	all, ungrouped := inv.groups["all"], inv.groups["ungrouped"]
	for _, g := range inv.groupList {
		if g != all && len(g.parents) == 0 {
			if err := all.addChild(g); err != nil {
				return err
			}
		}
	}
	inv.settleUngrouped(all, ungrouped)
	setDepths(inv.groupList)
	for _, g := range inv.groupList {
		if _, ok := inv.hosts[g.Name]; ok && !inv.sameNames[g.Name] {
			inv.sameNames[g.Name] = true
			inv.warn("Found both group and host with same name: %s", g.Name)
		}
	}
	inv.changes++
	return nil
}

func (inv *Inventory) settleUngrouped(all, ungrouped *Group) {
	stale := false
	for _, h := range inv.hostList {
		real := slices.ContainsFunc(h.groups, func(g *Group) bool { return g != all && g != ungrouped })
		in := slices.Contains(h.groups, ungrouped)
		switch {
		case real && in:
			h.groups = slices.DeleteFunc(h.groups, func(o *Group) bool { return o == ungrouped })
			stale = true
		case !real && !in:
			ungrouped.addHost(h)
		}
	}
	if stale {
		ungrouped.hosts = slices.DeleteFunc(ungrouped.hosts, func(h *Host) bool {
			return !slices.Contains(h.groups, ungrouped)
		})
	}
}

// setDepths computes the longest way from all to each group. The groups have
// no loop.
func setDepths(groups []*Group) {
	known := make(map[*Group]int, len(groups))
	var depth func(g *Group) int
	depth = func(g *Group) int {
		if d, ok := known[g]; ok {
			return d
		}
		d := 0
		for _, p := range g.parents {
			d = max(d, depth(p)+1)
		}
		known[g] = d
		return d
	}
	for _, g := range groups {
		g.depth = depth(g)
	}
}

// AddHost makes a host or adds to an existing one, as add_host does: it joins
// the groups, which are made when they are new, and its variables are set. It
// reports whether anything changed.
func (inv *Inventory) AddHost(name string, groups []string, vars *value.Dict) (changed bool, err error) {
	if name == "" {
		return false, fmt.Errorf("cannot add a host without a name")
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	hosts, count := len(inv.hostList), len(inv.groupList)
	_, known := inv.lookup(name)
	h := inv.host(name, 0)
	joined := inv.join(h, groups)
	if !known {
		inv.group("all").addHost(h) // ansible-core lists added hosts first
	}
	old := value.NewDict()
	for _, l := range h.vars {
		old.Update(l.Vars)
	}
	for k, v := range vars.All() {
		if before, ok := old.GetKey(k); !ok || before != v {
			joined = true
		}
	}
	if vars.Len() > 0 {
		// A new slice: others may still read the old one.
		h.vars = append(slices.Clone(h.vars), &Layer{Name: "add_host " + name, Vars: vars.Clone()})
	}
	if err := inv.settle(); err != nil {
		return false, err
	}
	return joined || len(inv.hostList) != hosts || len(inv.groupList) != count, nil
}

// AddToGroup puts a host into a group under the given parents, as group_by
// does; groups are made when they are new. It reports whether anything changed.
func (inv *Inventory) AddToGroup(host, group string, parents []string) (changed bool, err error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	h, ok := inv.lookup(host)
	if !ok {
		return false, fmt.Errorf("cannot add %q to group %q: no such host", host, group)
	}
	count := len(inv.groupList)
	g := inv.group(group)
	for _, name := range parents {
		p := inv.group(name)
		changed = changed || !slices.Contains(p.children, g)
		if err := p.addChild(g); err != nil {
			return false, err
		}
	}
	joined := inv.join(h, []string{group})
	if err := inv.settle(); err != nil {
		return false, err
	}
	return changed || joined || len(inv.groupList) != count, nil
}

// join puts a host into groups and reports whether it was not yet in one.
func (inv *Inventory) join(h *Host, groups []string) bool {
	changed := false
	for _, name := range groups {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		g := inv.group(name)
		if !slices.Contains(h.groups, g) {
			changed = true
			g.addHost(h)
		}
	}
	return changed
}
