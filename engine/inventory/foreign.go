package inventory

import (
	"play/engine/source"
	"play/modules/value"
)

// loadForeign takes over what an inventory plugin in another language made of a
// file: the same groups, hosts and variables that a script prints. All of it is
// data, since such plugins hand on what clouds and their users say.
func (p *pluginFile) loadForeign() error {
	all, err := p.inv.opts.Plugin(absolute(p.path))
	if err != nil {
		return p.fail("plugin", "cannot read inventory %q: %v", p.path, err)
	}
	r := &scriptReader{inv: p.inv, path: absolute(p.path), pos: source.Pos{File: p.path}, seen: map[*Host]bool{}}
	for k, data := range all.All() {
		if name := value.Str(k); name != "_meta" {
			if err := r.group(name, data); err != nil {
				return err
			}
		}
	}
	meta, _ := all.Get("_meta")
	return r.meta(meta)
}
