package lint

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/playbook"
	"play/engine/source"
	"play/engine/yamlload"
)

// pair is an entry of a mapping.
type pair struct{ key, value *yaml.Node }

// pairs are the entries of a mapping, with those of "<<" left to their own
// place.
func pairs(n *yaml.Node) []pair {
	var out []pair
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != "<<" {
			out = append(out, pair{n.Content[i], yamlload.Follow(n.Content[i+1])})
		}
	}
	return out
}

func entry(n *yaml.Node, name string) *yaml.Node {
	for _, p := range pairs(n) {
		if p.key.Value == name {
			return p.value
		}
	}
	return nil
}

// items are the mappings of a list.
func items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	var out []*yaml.Node
	for _, c := range n.Content {
		if c = yamlload.Follow(c); c.Kind == yaml.MappingNode {
			out = append(out, c)
		}
	}
	return out
}

// around is what holds for a task by where it stands.
type around struct {
	handlers bool
	become   bool
}

// document checks a document by its kind.
func (f *file) document(root *yaml.Node) {
	switch list := items(root); {
	case len(list) == 0:
	case isPlaybook(list):
		for _, p := range list {
			f.play(p)
		}
	case f.isTasks(list):
		f.tasks(root, around{handlers: inFolder(f.path, "handlers"), become: true})
	}
}

// isPlaybook tells whether a list holds plays.
func isPlaybook(list []*yaml.Node) bool {
	return slices.ContainsFunc(list, func(n *yaml.Node) bool {
		return slices.ContainsFunc(pairs(n), func(p pair) bool {
			return p.key.Value == "hosts" && !oddPlay(n) || strings.HasSuffix(p.key.Value, "import_playbook")
		})
	})
}

// oddPlay tells a mapping with hosts that is no play: it has nothing else that
// a play has.
func oddPlay(n *yaml.Node) bool {
	known := playbook.KeywordsOf("play")
	return !slices.ContainsFunc(pairs(n), func(p pair) bool {
		return p.key.Value != "hosts" && p.key.Value != "name" && slices.Contains(known, p.key.Value)
	})
}

// isTasks tells whether a list holds tasks: by its folder, or since most of it
// has a module or a block.
func (f *file) isTasks(list []*yaml.Node) bool {
	if inFolder(f.path, "tasks") || inFolder(f.path, "handlers") {
		return true
	}
	n := 0
	for _, item := range list {
		if entry(item, "block") != nil || slices.ContainsFunc(pairs(item), func(p pair) bool { return f.module(p.key.Value) }) {
			n++
		}
	}
	return 2*n > len(list) && entry(list[0], "name") != nil
}

func inFolder(path, name string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(path)), "/"), name)
}

// module tells whether there is a module of a name.
func (f *file) module(name string) bool {
	return f.modules[name] != nil || f.Known != nil && f.Known(name)
}

func (f *file) play(n *yaml.Node) {
	kind := "play"
	if slices.ContainsFunc(pairs(n), func(p pair) bool { return strings.HasSuffix(p.key.Value, "import_playbook") }) {
		kind = "import_playbook"
	}
	at := around{become: entry(n, "become") != nil}
	for _, p := range pairs(n) {
		name := p.key.Value
		switch {
		case strings.HasSuffix(name, ".import_playbook"):
		case !slices.Contains(playbook.KeywordsOf(kind), name):
			f.unknownKeyword(kind, p.key)
		case slices.Contains([]string{"tasks", "pre_tasks", "post_tasks"}, name):
			f.tasks(p.value, at)
		case name == "handlers":
			f.tasks(p.value, around{handlers: true, become: at.become})
		case name == "roles":
			f.roles(p.value)
		default:
			f.keyword(p, name)
		}
	}
	f.becomeUser(n, at.become)
}

func (f *file) roles(list *yaml.Node) {
	for _, r := range items(list) {
		for _, p := range pairs(r) {
			if slices.Contains(playbook.KeywordsOf("role"), p.key.Value) {
				f.keyword(p, p.key.Value)
			} else {
				f.texts(p.value)
			}
		}
	}
}

func (f *file) unknownKeyword(kind string, key *yaml.Node) {
	found := f.add("unknown-keyword", f.pos(key), "a %s has no keyword %q", kind, key.Value)
	if near := source.Nearest(key.Value, playbook.KeywordsOf(kind)); near != "" {
		found.Hint = fmt.Sprintf("did you mean %q?", near)
	}
}

// tasks checks a list of tasks and blocks.
func (f *file) tasks(list *yaml.Node, at around) {
	for _, n := range items(list) {
		if entry(n, "block") != nil {
			f.block(n, at)
		} else {
			f.task(n, at)
		}
	}
}

func (f *file) block(n *yaml.Node, at around) {
	outer := at.become
	at.become = at.become || entry(n, "become") != nil
	for _, p := range pairs(n) {
		switch name := p.key.Value; {
		case name == "block" || name == "rescue" || name == "always":
			f.tasks(p.value, at)
		case !slices.Contains(playbook.KeywordsOf("block"), name):
			f.unknownKeyword("block", p.key)
		default:
			f.keyword(p, name)
		}
	}
	f.becomeUser(n, outer)
}

// becomeUser finds become_user where nothing says become. Files of tasks are
// used where become may be said, so only playbooks are judged.
func (f *file) becomeUser(n *yaml.Node, become bool) {
	for _, p := range pairs(n) {
		if p.key.Value == "become_user" && !become && entry(n, "become") == nil {
			f.add("become-user-alone", f.pos(p.key), "become_user does nothing here: there is no become").Hint = "add become: true"
		}
	}
}
