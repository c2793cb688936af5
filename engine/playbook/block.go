package playbook

import (
	"gopkg.in/yaml.v3"

	"play/engine/source"
	"play/engine/yamlload"
)

// nodes reads a list of tasks and blocks.
func (r *reader) nodes(p place, list *yaml.Node) []Node {
	nodes := make([]Node, 0, len(list.Content))
	for _, item := range list.Content {
		item = yamlload.Follow(item)
		if p.file.IsNull(item) {
			continue
		}
		if item.Kind != yaml.MappingNode {
			r.fail(source.Errorf(p.file.Pos(item), "task/handler entries must be dictionaries (got %s)", kindOf(item)).
				WithHint(`a task reads "- name: …", and below it "module: arguments"`))
			continue
		}
		entries, err := p.file.Entries(item)
		if err != nil {
			r.fail(err)
			continue
		}
		nodes = append(nodes, r.node(p, item, entries)...)
	}
	return nodes
}

// node reads one block, task or static import; mistakes make it none.
func (r *reader) node(p place, n *yaml.Node, entries []yamlload.Entry) []Node {
	for _, e := range entries {
		if e.Name == "block" || e.Name == "rescue" || e.Name == "always" {
			return r.block(p, n, entries)
		}
	}
	t := r.task(p, n, entries)
	if t == nil {
		return nil
	}
	switch t.Action {
	case "import_tasks":
		return r.importTasks(p, t)
	case "import_role":
		return r.importRole(p, t)
	}
	return []Node{t}
}

// block reads a block with its parts. Its own keywords come first: its tasks
// see them.
func (r *reader) block(p place, n *yaml.Node, entries []yamlload.Entry) []Node {
	c := newCommon()
	b := &Block{Pos: p.file.Pos(n), Play: p.play, Parent: p.parent, Role: p.role}
	parts := map[string]*yaml.Node{}
	for _, e := range entries {
		switch {
		case e.Name == "block" || e.Name == "rescue" || e.Name == "always":
			parts[e.Name] = e.Node
		case onBlock.allows(e.Name):
			r.decode(p, onBlock, e, &c)
		default:
			r.fail(unknownKeyword(onBlock, keyText(e), p.file.Pos(e.KeyNode), nil))
		}
	}
	b.Name, b.Keywords, b.Vars, b.When, b.Tags, b.Notify = c.Name, c.Keywords, c.Vars, c.When, c.Tags, c.Notify
	if n := parts["block"]; n == nil || len(parts) > 1 && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		r.fail(source.Errorf(b.Pos, "'rescue' and 'always' need a 'block' beside them").WithHint("put the tasks that may fail under block:"))
		return nil
	}
	inside := p.in(b)
	if own := collectionsOf(c.Keywords); own != nil {
		inside.collections = own
	}
	b.Body = r.part(inside, "block", parts["block"])
	b.Rescue = r.part(inside, "rescue", parts["rescue"])
	b.Always = r.part(inside, "always", parts["always"])
	return []Node{b}
}

func (r *reader) part(p place, name string, n *yaml.Node) []Node {
	if n == nil {
		return nil
	}
	return r.list(p, name, n)
}
