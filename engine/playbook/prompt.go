package playbook

import (
	"gopkg.in/yaml.v3"

	"play/engine/source"
	"play/engine/yamlload"
)

// promptOptions are the keys of a vars_prompt entry.
var promptOptions = []string{"confirm", "default", "encrypt", "name", "private", "prompt", "salt", "salt_size", "unsafe"}

// checkPrompts finds vars_prompt entries that cannot be asked for.
func (r *reader) checkPrompts(p place, n *yaml.Node) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		r.checkPrompt(p, yamlload.Follow(item))
	}
}

func (r *reader) checkPrompt(p place, n *yaml.Node) {
	if p.file.IsNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fail(source.Errorf(p.file.Pos(n), "Invalid vars_prompt data structure, expected a dict with the variable's name, got %s", kindOf(n)))
		return
	}
	entries, err := p.file.Entries(n)
	if err != nil {
		r.fail(err)
		return
	}
	named := false
	for _, e := range entries {
		named = named || e.Name == "name"
		if contains(promptOptions, e.Name) {
			continue
		}
		err := source.Errorf(p.file.Pos(e.KeyNode), "Invalid vars_prompt data structure, found unsupported key '%s'", keyText(e))
		if near := source.Nearest(e.Name, promptOptions); near != "" {
			err = err.WithHint("did you mean %q?", near)
		}
		r.fail(err)
	}
	if !named {
		r.failf(p.file.Pos(n), "Invalid vars_prompt data structure, missing 'name' key")
	}
}
