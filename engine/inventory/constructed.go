package inventory

import (
	"errors"
	"fmt"
	"slices"

	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

// constructedRun adds variables and groups to the hosts of earlier sources.
type constructedRun struct {
	*pluginFile
	env           *jinja.Env
	strict        bool // failing expressions are errors
	varsFiles     bool // group_vars and host_vars count
	extraVars     bool // extra vars count
	noLeading     bool // no separator in front of a name without prefix
	compose       *value.Dict
	groups        *value.Dict
	keyed         []*value.Dict
	constructedAt source.Pos
}

func (p *pluginFile) constructed() error {
	err := p.unknown("strict", "compose", "groups", "keyed_groups", "use_extra_vars", "use_vars_plugins", "leading_separator")
	if err != nil {
		return err
	}
	c := &constructedRun{pluginFile: p, env: p.env(), constructedAt: p.layerPos()}
	c.strict, c.varsFiles, c.noLeading = p.flag("strict", false), p.flag("use_vars_plugins", false), !p.flag("leading_separator", true)
	c.extraVars = p.flag("use_extra_vars", p.inv.opts.UseExtra)
	if c.compose, err = p.dict("compose"); err != nil {
		return err
	}
	if c.groups, err = p.dict("groups"); err != nil {
		return err
	}
	if err := c.readKeyed(); err != nil {
		return err
	}
	if err := p.inv.settle(); err != nil {
		return err
	}
	for _, h := range p.inv.hostList {
		if err := c.host(h); err != nil {
			return err
		}
	}
	return nil
}

// flag reads a boolean option.
func (p *pluginFile) flag(key string, otherwise bool) bool {
	v, ok := p.conf.Get(key)
	if !ok {
		return otherwise
	}
	b, isBool := v.(bool)
	return isBool && b
}

func (c *constructedRun) readKeyed() error {
	v, _ := c.conf.Get("keyed_groups")
	if v == nil {
		return nil
	}
	list, ok := v.(*value.List)
	if !ok {
		return c.fail("keyed_groups", "cannot use \"keyed_groups\" of inventory %q: it must be a list", c.path)
	}
	for _, item := range list.Items {
		d, ok := item.(*value.Dict)
		if !ok {
			return c.fail("keyed_groups", "cannot use \"keyed_groups\" of inventory %q: each item must be a dictionary", c.path)
		}
		if _, ok := d.Get("key"); !ok {
			return c.fail("keyed_groups", "cannot use \"keyed_groups\" of inventory %q: an item has no \"key\"", c.path)
		}
		c.keyed = append(c.keyed, d)
	}
	return nil
}

func (c *constructedRun) host(h *Host) error {
	vars, err := c.variables(h)
	if err != nil {
		return err
	}
	set := value.NewDict()
	for name, text := range c.compose.All() {
		v, err := c.expression(value.Str(text), "compose", vars)
		if err == nil {
			set.Set(value.Str(name), v)
		} else if c.strict {
			return c.fail("compose", "cannot set %q of host %q: %w", value.Str(name), h.Name, reason(err))
		}
	}
	h.setVars(set, c.constructedAt)
	vars.Update(set)
	if err := c.conditionalGroups(h, vars); err != nil {
		return err
	}
	for _, k := range c.keyed {
		if err := c.keyedGroup(h, k, vars); err != nil {
			return err
		}
	}
	return nil
}

// variables merges what is known of a host so far.
func (c *constructedRun) variables(h *Host) (*value.Dict, error) {
	layers, err := c.layers(h)
	if err != nil {
		return nil, err
	}
	if facts := c.inv.opts.Facts; facts != nil {
		layers = append(slices.Clone(layers), &Layer{Vars: facts(h.Name)})
	}
	vars := value.NewDict()
	for _, l := range layers {
		if c.inv.opts.HashMerge {
			vars = value.Combine(vars, l.Vars)
			continue
		}
		vars.Update(l.Vars)
	}
	vars.Set("inventory_hostname", h.Name)
	vars.Set("inventory_hostname_short", shortName(h.Name))
	return vars, nil
}

func (c *constructedRun) layers(h *Host) ([]*Layer, error) {
	if c.varsFiles {
		return c.inv.buildLayers(h, "", true)
	}
	all, groups := sortedGroups(h)
	var layers []*Layer
	for _, g := range append([]*Group{all}, groups...) {
		if g != nil {
			layers = append(layers, g.vars...)
		}
	}
	if h.Port != 0 {
		layers = append(layers, &Layer{Vars: value.DictOf("ansible_port", h.Port)})
	}
	if h.origin != nil {
		layers = append(layers, h.origin)
	}
	return append(layers, h.vars...), nil
}

// expression evaluates what compose or keyed_groups give, which alone see extra
// vars.
func (c *constructedRun) expression(text, key string, vars *value.Dict) (any, error) {
	return c.evaluate(c.env, "{{ "+text+" }}", key, c.withExtra(vars))
}

func (c *constructedRun) withExtra(vars *value.Dict) *value.Dict {
	switch {
	case !c.extraVars:
		return vars
	case c.inv.opts.HashMerge:
		return value.Combine(vars, c.inv.opts.Extra)
	}
	all := vars.Clone()
	all.Update(c.inv.opts.Extra)
	return all
}

func (c *constructedRun) conditionalGroups(h *Host, vars *value.Dict) error {
	for name, text := range c.groups.All() {
		cond, err := c.env.Cond(text, c.keys["groups"])
		if err != nil {
			return err
		}
		ok, err := cond.Eval(&jinja.Context{Vars: jinja.Vars{Dict: vars}})
		switch {
		case err != nil && c.strict:
			return c.fail("groups", "cannot tell whether host %q is in group %q: %w", h.Name, value.Str(name), reason(err))
		case err == nil && ok:
			c.inv.group(safeGroupName(value.Str(name))).addHost(h)
		}
	}
	return nil
}

var errNoGroupName = errors.New("a group name must be a string, a list of them or a dictionary")

// keyedGroup puts a host into groups named after a value.
func (c *constructedRun) keyedGroup(h *Host, k, vars *value.Dict) error {
	expr, _ := k.Get("key")
	key, err := c.expression(value.Str(expr), "keyed_groups", vars)
	if err != nil {
		if c.strict {
			return c.fail("keyed_groups", "cannot use key %q for host %q: %w", value.Str(expr), h.Name, reason(err))
		}
		return nil
	}
	prefix := optionOr(k, "prefix", "")
	parent, err := c.parentName(k, c.withExtra(vars))
	if err != nil && c.strict {
		return c.fail("keyed_groups", "%w", reason(err))
	} else if err != nil {
		return nil
	}
	sep := optionOr(k, "separator", "_")
	names, err := keyNames(key, k, sep)
	if err != nil {
		return c.fail("keyed_groups", "cannot use key %q for host %q: %w", value.Str(expr), h.Name, reason(err))
	}
	lead := prefix + sep
	if prefix == "" && c.noLeading {
		lead = ""
	}
	for _, name := range names {
		g := c.inv.group(safeGroupName(lead + name))
		g.addHost(h)
		if parent == "" {
			continue
		}
		if err := c.inv.group(safeGroupName(parent)).addChild(g); err != nil {
			return c.fail("keyed_groups", "%w", reason(err))
		}
	}
	return nil
}

// optionOr is the text of an option of a keyed group.
func optionOr(k *value.Dict, name, otherwise string) string {
	if v, ok := k.Get(name); ok && v != nil {
		return value.Str(v)
	}
	return otherwise
}

// parentName is the parent of a keyed group, "" for none; it may be a template.
func (c *constructedRun) parentName(k, vars *value.Dict) (string, error) {
	v, _ := k.Get("parent_group")
	if v == nil {
		return "", nil
	}
	return c.textOf(c.env, v, "keyed_groups", vars)
}

// keyNames turns a key's value into the ends of group names.
func keyNames(key any, k *value.Dict, sep string) ([]string, error) {
	otherwise, hasDefault := k.Get("default_value")
	trailing, hasTrailing := k.Get("trailing_separator")
	if hasDefault && hasTrailing {
		return nil, errors.New("default_value and trailing_separator exclude each other")
	}
	named := func(s string) string {
		if s == "" && hasDefault {
			return value.Str(otherwise)
		}
		return s
	}
	switch v := key.(type) {
	case string:
		if named(v) == "" {
			return nil, nil
		}
		return []string{named(v)}, nil
	case *value.List:
		var names []string
		for _, item := range v.Items {
			if s := named(value.Str(item)); s != "" {
				names = append(names, s)
			}
		}
		return names, nil
	case *value.Dict:
		var names []string
		for n, item := range v.All() {
			s := named(value.Str(item))
			if s == "" && trailing == false {
				names = append(names, value.Str(n))
				continue
			}
			names = append(names, value.Str(n)+sep+s)
		}
		return names, nil
	case nil:
		return nil, nil
	case int, float64, bool:
		return []string{value.Str(v)}, nil
	}
	return nil, fmt.Errorf("%w, it is %s", errNoGroupName, value.TypeName(key))
}

// safeGroupName replaces what an identifier cannot hold by "_".
func safeGroupName(name string) string {
	return notInGroupName.ReplaceAllString(name, "_")
}

// shortName is a host's name up to its first dot; an address stays whole.
func shortName(name string) string {
	if i := slices.Index([]byte(name), '.'); i > 0 {
		return name[:i]
	}
	return name
}
