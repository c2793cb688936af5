package playbook

import (
	"gopkg.in/yaml.v3"

	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// origin is a mapping in a file from which variables were read.
type origin struct {
	file *yamlload.File
	node *yaml.Node
}

// note remembers where the variables of a dict stand.
func (l *Loader) note(d *value.Dict, f *yamlload.File, n *yaml.Node) {
	if !l.Trace {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.origins == nil {
		l.origins = map[*value.Dict][]origin{}
	}
	l.origins[d] = append(l.origins[d], origin{f, n})
}

// Where returns the place at which a dict of variables that this Loader read
// (the vars of plays, blocks and tasks, the vars and defaults of roles,
// vars_files) sets a name. It is zero when that is not known, and without Trace.
func (l *Loader) Where(d *value.Dict, name string) source.Pos {
	l.mu.Lock()
	origins := l.origins[d]
	l.mu.Unlock()
	var found source.Pos
	for _, o := range origins {
		entries, err := o.file.Entries(yamlload.Follow(o.node))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.Name == name {
				found = o.file.Pos(e.KeyNode)
			}
		}
	}
	return found
}
