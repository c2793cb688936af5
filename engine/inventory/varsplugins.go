package inventory

import (
	"fmt"
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// Entity is a group or a host that vars plugins are asked about.
type Entity struct {
	Name   string
	Group  bool
	Vars   *value.Dict // what the inventory's sources set on itself; templates as text
	Groups []string    // of a host: those that it is directly in
}

// VarsPlugins are the operator's vars plugins, but for group_vars and host_vars.
// They are asked for the variables of groups, or of one host, in a folder: an
// inventory source's or the playbook's. The stage is "inventory", "task", or
// "all" for what lists variables.
type VarsPlugins func(dir, stage string, about []Entity) (*value.Dict, error)

// plugins adds what the vars plugins say of groups or a host, which those files
// that are beside it override.
func (b *layerBuilder) plugins(dir, stage, kind string, names []string) {
	ask := b.inv.opts.VarsPlugins
	if ask == nil || b.err != nil || len(names) == 0 {
		return
	}
	key := strings.Join(append([]string{dir, stage, kind}, names...), "\x00")
	layers, known := b.inv.pluginLayers.Load(key)
	if !known {
		vars, err := ask(dir, stage, b.entities(kind, names))
		if err != nil {
			b.err = fmt.Errorf("cannot read the variables of %s: %w", strings.Join(names, ", "), err)
			return
		}
		layers = []*Layer(nil)
		if vars.Len() > 0 {
			layers = []*Layer{{Name: "vars plugins", Source: source.Pos{File: dir}, Vars: vars}}
		}
		b.inv.pluginLayers.Store(key, layers)
	}
	b.add(layers.([]*Layer)...)
}

func (b *layerBuilder) entities(kind string, names []string) []Entity {
	var about []Entity
	for _, name := range names {
		e := Entity{Name: name, Group: kind == "group_vars", Vars: value.NewDict()}
		var layers []*Layer
		if h := b.inv.hosts[name]; !e.Group && h != nil {
			layers = h.vars
			for _, g := range h.groups {
				e.Groups = append(e.Groups, g.Name)
			}
		} else if g := b.inv.groups[name]; e.Group && g != nil {
			layers = g.vars
		}
		for _, l := range layers {
			for k, v := range l.Vars.All() {
				e.Vars.Set(value.Str(k), written(v))
			}
		}
		about = append(about, e)
	}
	return about
}
