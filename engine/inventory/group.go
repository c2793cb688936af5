package inventory

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// Group is a named set of hosts and of other groups.
type Group struct {
	Name string

	inv      *Inventory
	hosts    []*Host
	children []*Group
	parents  []*Group
	vars     []*Layer
	priority int // ansible_group_priority
	depth    int // the longest way from all
}

// Priority is the group's ansible_group_priority, 1 unless set.
func (g *Group) Priority() int { return g.priority }

// Hosts returns the hosts of the group and of its descendants: the group's
// own first, then level by level.
func (g *Group) Hosts() []*Host {
	g.inv.mu.RLock()
	defer g.inv.mu.RUnlock()
	return g.allHosts()
}

// DirectHosts returns the hosts that are in the group itself.
func (g *Group) DirectHosts() []*Host {
	g.inv.mu.RLock()
	defer g.inv.mu.RUnlock()
	return slices.Clone(g.hosts)
}

// Children returns the group's direct subgroups in order.
func (g *Group) Children() []*Group {
	g.inv.mu.RLock()
	defer g.inv.mu.RUnlock()
	return slices.Clone(g.children)
}

func (g *Group) allHosts() []*Host {
	var hosts []*Host
	seen := map[*Host]struct{}{}
	for _, d := range g.family() {
		for _, h := range d.hosts {
			if _, dup := seen[h]; !dup {
				seen[h] = struct{}{}
				hosts = append(hosts, h)
			}
		}
	}
	return hosts
}

// family returns the group and its descendants, level by level.
func (g *Group) family() []*Group {
	found := []*Group{g}
	seen := map[*Group]bool{g: true}
	for i := 0; i < len(found); i++ {
		for _, c := range found[i].children {
			if !seen[c] {
				seen[c] = true
				found = append(found, c)
			}
		}
	}
	return found
}

// addHost puts a host into the group itself.
func (g *Group) addHost(h *Host) {
	if slices.Contains(h.groups, g) {
		return
	}
	g.hosts = append(g.hosts, h)
	h.groups = append(h.groups, g)
}

// addChild makes another group a direct subgroup. A loop is an error.
func (g *Group) addChild(child *Group) error {
	if g == child {
		return fmt.Errorf("cannot add group %q to itself", g.Name)
	}
	if slices.Contains(g.children, child) {
		return nil
	}
	if slices.Contains(child.family(), g) {
		return fmt.Errorf("cannot add group %q as child to %q: that makes a loop of groups", child.Name, g.Name)
	}
	g.children = append(g.children, child)
	child.parents = append(child.parents, g)
	return nil
}

// setVars adds what one place of a source says of the group. The priority is
// taken out, as it is no variable.
func (g *Group) setVars(vars *value.Dict, pos source.Pos, places map[string]source.Pos) error {
	if p, ok := vars.Get("ansible_group_priority"); ok {
		n, err := priority(p)
		if err != nil {
			return err
		}
		g.priority = n
		vars.Delete("ansible_group_priority")
	}
	if vars.Len() > 0 {
		g.vars = append(g.vars, &Layer{Name: "inventory group " + g.Name, Source: pos, Vars: vars, places: places})
	}
	return nil
}

func priority(v any) (int, error) {
	switch n := v.(type) {
	case int:
		return n, nil
	case bool:
		if n {
			return 1, nil
		}
		return 0, nil
	case float64:
		return int(n), nil
	case string:
		if d, ok := literal(strings.TrimSpace(n)); ok {
			if i, ok := d.(int); ok {
				return i, nil
			}
		}
	}
	return 0, fmt.Errorf("cannot use %q as ansible_group_priority: it must be a number", fmt.Sprint(v))
}

var (
	groupName       = regexp.MustCompile(`^[\pL_][\pL\pN_]*$`)
	notInGroupName  = regexp.MustCompile(`^[\d\W]|[^\pL\pN_]`)
	leadingNonAlpha = regexp.MustCompile(`^[^\pL_]`)
)

// groupCalled makes a group as a source names it, after the rules for names
// that are no identifiers.
func (inv *Inventory) groupCalled(name string) *Group {
	if groupName.MatchString(name) {
		return inv.group(name)
	}
	switch inv.opts.InvalidGroupChars {
	case "always", "silently":
		name = notInGroupName.ReplaceAllString(leadingNonAlpha.ReplaceAllString(name, "_"), "_")
	}
	if o := inv.opts.InvalidGroupChars; o != "ignore" && o != "silently" && !inv.badNames {
		inv.badNames = true
		if o == "always" {
			inv.warn("Invalid characters were found in group names and automatically replaced, use -vvvv to see details")
		} else {
			inv.warn("Invalid characters were found in group names but not replaced, use -vvvv to see details")
		}
	}
	return inv.group(name)
}
