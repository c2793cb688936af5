package inventory

import (
	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

// generatorRun makes a host for each combination of the layers' values.
type generatorRun struct {
	*pluginFile
	env   *jinja.Env
	hosts *value.Dict // the "hosts" option
}

func (p *pluginFile) generator() error {
	if err := p.unknown("hosts", "layers"); err != nil {
		return err
	}
	hosts, err := p.dict("hosts")
	if err != nil {
		return err
	}
	layers, err := p.dict("layers")
	if err != nil {
		return err
	}
	g := &generatorRun{p, p.env(), hosts}
	combinations, err := g.combinations(layers)
	if err != nil {
		return err
	}
	for _, c := range combinations {
		if err := g.host(c); err != nil {
			return err
		}
	}
	return nil
}

// combinations lists the product of the layers; the last one changes fastest.
func (g *generatorRun) combinations(layers *value.Dict) ([]*value.Dict, error) {
	all := []*value.Dict{value.NewDict()}
	for name, v := range layers.All() {
		items, ok := v.(*value.List)
		if !ok {
			return nil, g.fail("layers", "cannot use layer %q of inventory %q: it must be a list", value.Str(name), g.path)
		}
		if len(all)*items.Len() > maxHosts {
			return nil, g.fail("layers", "cannot use inventory %q: its layers give more than %d hosts", g.path, maxHosts)
		}
		var next []*value.Dict
		for _, c := range all {
			for _, item := range items.Items {
				d := c.Clone()
				d.Set(value.Str(name), item)
				next = append(next, d)
			}
		}
		all = next
	}
	return all, nil
}

func (g *generatorRun) host(vars *value.Dict) error {
	text, ok := g.hosts.Get("name")
	if !ok {
		return g.fail("hosts", "cannot use inventory %q: \"hosts\" has no \"name\"", g.path)
	}
	name, err := g.textOf(g.env, text, "hosts", vars)
	if err != nil {
		return g.located(err)
	}
	h := g.inv.host(name, 0)
	return g.parents(g.hosts, vars, func(group *Group) error { group.addHost(h); return nil })
}

// located gives an error about an expression a place in the file.
func (g *generatorRun) located(err error) error {
	if _, ok := err.(*source.Error); ok {
		return err
	}
	return g.fail("hosts", "%w", err)
}

// parents makes the parent groups that of names, hands each to join, and goes
// on with their own parents.
func (g *generatorRun) parents(of *value.Dict, vars *value.Dict, join func(*Group) error) error {
	v, _ := of.Get("parents")
	if v == nil {
		return nil
	}
	list, ok := v.(*value.List)
	if !ok {
		return g.fail("hosts", "cannot use \"parents\" in inventory %q: it must be a list", g.path)
	}
	for _, item := range list.Items {
		d, ok := item.(*value.Dict)
		if !ok {
			return g.fail("hosts", "cannot use a parent in inventory %q: it must be a dictionary", g.path)
		}
		if err := g.parent(d, vars, join); err != nil {
			return err
		}
	}
	return nil
}

func (g *generatorRun) parent(d, vars *value.Dict, join func(*Group) error) error {
	text, ok := d.Get("name")
	if !ok {
		return g.fail("hosts", "cannot use a parent in inventory %q: it has no \"name\"", g.path)
	}
	name, err := g.textOf(g.env, text, "hosts", vars)
	if err != nil {
		return g.located(err)
	}
	group := g.inv.groupCalled(name)
	if err := g.groupVars(group, d, vars); err != nil {
		return err
	}
	if err := join(group); err != nil {
		return g.fail("hosts", "%w", err)
	}
	return g.parents(d, vars, func(parent *Group) error { return parent.addChild(group) })
}

func (g *generatorRun) groupVars(group *Group, d, vars *value.Dict) error {
	v, _ := d.Get("vars")
	texts, ok := v.(*value.Dict)
	if !ok {
		return nil
	}
	set := value.NewDict()
	for name, text := range texts.All() {
		s, err := g.textOf(g.env, text, "hosts", vars)
		if err != nil {
			return g.located(err)
		}
		set.Set(value.Str(name), s)
	}
	if err := group.setVars(set, g.layerPos(), nil); err != nil {
		return g.fail("hosts", "%w", err)
	}
	return nil
}
