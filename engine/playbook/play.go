package playbook

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// playbook reads the plays of a file and of those it imports.
func (r *reader) playbook(path string, outer *chain) []*Play {
	f, err := r.l.file(path)
	if err != nil {
		r.fail(missing("playbook", path, source.Pos{}, err))
		return nil
	}
	p := place{file: f, dir: filepath.Dir(path), chain: &chain{path: path, outer: outer}}
	root := yamlload.Follow(f.Root)
	switch {
	case f.IsNull(root):
		r.fail(source.Errorf(f.Pos(root), "cannot run %q: it is empty", path).WithHint("a playbook is a list of plays"))
		return nil
	case root.Kind != yaml.SequenceNode:
		r.fail(source.Errorf(f.Pos(root), "A playbook must be a list of plays, got %s instead", kindOf(root)).
			WithHint(`start each play with "- hosts: …"`))
		return nil
	}
	var plays []*Play
	for _, item := range root.Content {
		plays = append(plays, r.entry(p, yamlload.Follow(item))...)
	}
	return plays
}

// missing tells of a file that cannot be read; errors with a place stay as
// they are.
func missing(what, path string, pos source.Pos, err error) error {
	var placed *source.Error
	if errors.As(err, &placed) {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return source.Errorf(pos, "cannot read %s %q: there is no such file", what, path)
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return source.Errorf(pos, "cannot read %s %q: %w", what, path, err)
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a dict"
	case yaml.SequenceNode:
		return "a list"
	}
	return "a string"
}

// entry reads one item of a playbook: a play or an import_playbook.
func (r *reader) entry(p place, n *yaml.Node) []*Play {
	if n.Kind != yaml.MappingNode {
		r.fail(source.Errorf(p.file.Pos(n), "playbook entries must be either valid plays or 'import_playbook' statements").
			WithHint(`start each play with "- hosts: …"`))
		return nil
	}
	entries, err := p.file.Entries(n)
	if err != nil {
		r.fail(err)
		return nil
	}
	for _, e := range entries {
		switch stripPrefix(e.Name) {
		case "import_playbook", "include":
			return r.importPlaybook(p, n, entries)
		}
	}
	return []*Play{r.play(p, n, entries)}
}

// play reads a play. Its vars come first, since names of static imports may
// use them.
func (r *reader) play(p place, n *yaml.Node, entries []yamlload.Entry) *Play {
	c := newCommon()
	play := &Play{Pos: p.file.Pos(n), Keywords: c.Keywords, Vars: c.Vars, Dir: p.dir, Path: p.file.Path}
	p.play = play
	r.roles.handlers = nil
	var sections []yamlload.Entry
	hosts := false
	for _, e := range entries {
		switch e.Name {
		case "hosts":
			hosts = true
			play.Hosts = r.hosts(p, e.Node)
		case "vars_prompt":
			r.checkPrompts(p, e.Node)
			r.decode(p, onPlay, e, &c)
		case "vars_files":
			play.VarsFiles = r.varsFiles(p, e.Node)
		case "pre_tasks", "roles", "tasks", "post_tasks", "handlers":
			sections = append(sections, e)
		default:
			if !onPlay.allows(e.Name) {
				r.fail(unknownKeyword(onPlay, keyText(e), p.file.Pos(e.KeyNode), nil))
				continue
			}
			if _, twice := c.Keywords["remote_user"]; twice && (e.Name == "user" || e.Name == "remote_user") {
				r.failf(p.file.Pos(e.KeyNode), "both 'user' and 'remote_user' are set for this play")
			}
			r.decode(p, onPlay, e, &c)
		}
	}
	if !hosts {
		r.fail(source.Errorf(play.Pos, "the field 'hosts' is required but was not set").WithHint("a play says on which hosts it runs: \"hosts: all\""))
	}
	play.Name, play.Tags = c.Name, c.Tags
	searchOwnCollection(play)
	p.collections = collectionsOf(c.Keywords)
	r.sections(p, sections)
	return play
}

// sections reads a play's lists in the order in which they run.
func (r *reader) sections(p place, sections []yamlload.Entry) {
	play := p.play
	for _, name := range []string{"pre_tasks", "roles", "tasks", "post_tasks", "handlers"} {
		for _, e := range sections {
			if e.Name != name {
				continue
			}
			switch name {
			case "pre_tasks":
				play.PreTasks = r.list(p, e.Name, e.Node)
			case "roles":
				play.Roles = r.roleList(p, e.Node)
			case "tasks":
				play.Tasks = r.list(p, e.Name, e.Node)
			case "post_tasks":
				play.PostTasks = r.list(p, e.Name, e.Node)
			case "handlers":
				h := p
				h.handlers = true
				play.Handlers = append(play.Handlers, handlersIn(r.list(h, e.Name, e.Node))...)
			}
		}
	}
	play.Handlers = append(r.roles.handlers, play.Handlers...)
}

// list reads a section of a play.
func (r *reader) list(p place, name string, n *yaml.Node) []Node {
	if p.file.IsNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.fail(source.Errorf(p.file.Pos(n), "%q takes a list of tasks, not %s", name, kindOf(n)).WithHint(`start each task with "- "`))
		return nil
	}
	return r.nodes(p, n)
}

// hosts reads a play's pattern: text, a template, or a list of them.
func (r *reader) hosts(p place, n *yaml.Node) any {
	v, err := p.file.Value(n)
	if err != nil {
		r.fail(err)
		return nil
	}
	bad := func(msg string) any {
		r.failf(p.file.Pos(n), "%s", msg)
		return nil
	}
	switch x := v.(type) {
	case nil:
		return bad("Hosts list cannot be empty. Please check your playbook")
	case string:
		if x == "" {
			return bad("Hosts list cannot be empty. Please check your playbook")
		}
	case *value.Dict:
		return bad("Hosts list must be a sequence or string. Please check your playbook.")
	case *value.List:
		return r.hostList(p, n, x)
	}
	if _, ok := v.(string); !ok && !isDeferred(v) {
		return bad("Hosts list must be a sequence or string. Please check your playbook.")
	}
	return v
}

func (r *reader) hostList(p place, n *yaml.Node, l *value.List) any {
	if l.Len() == 0 {
		r.failf(p.file.Pos(n), "Hosts list cannot be empty. Please check your playbook")
		return nil
	}
	for i, item := range l.Items {
		switch item.(type) {
		case nil:
			r.failf(p.file.Pos(n), "Hosts list cannot contain values of 'None'. Please check your playbook")
			return nil
		case *value.List, *value.Dict:
			r.failf(p.file.Pos(n), "Hosts list contains an invalid host value: '%s'", plainText(item))
			return nil
		}
		if !isDeferred(item) {
			l.Items[i] = value.Str(item)
		}
	}
	return l
}

// varsFiles reads the vars_files entries.
func (r *reader) varsFiles(p place, n *yaml.Node) []Attr {
	v, err := p.file.Value(n)
	if err != nil {
		r.fail(err)
		return nil
	}
	switch l := v.(type) {
	case nil:
		return nil
	case *value.List:
		attrs := make([]Attr, 0, l.Len())
		for i, item := range l.Items {
			pos := p.file.Pos(n)
			if i < len(n.Content) {
				pos = p.file.Pos(n.Content[i])
			}
			attrs = append(attrs, Attr{Value: item, Pos: pos})
		}
		return attrs
	case *value.Dict:
		r.failf(p.file.Pos(n), "vars_files takes a list of file names, not a dict")
		return nil
	}
	return []Attr{{Value: v, Pos: p.file.Pos(n)}}
}

// keyText shows a mapping's key.
func keyText(e yamlload.Entry) string {
	if e.Name != "" {
		return e.Name
	}
	return plainText(e.Key)
}

// searchOwnCollection puts the collection that the play's file stands in before
// the collections of its keyword.
func searchOwnCollection(play *Play) {
	_, below, ok := strings.Cut(filepath.ToSlash(absDir(play.Dir)), "/ansible_collections/")
	parts := strings.SplitN(below, "/", 3)
	if !ok || len(parts) < 2 {
		return
	}
	names := value.NewList(parts[0] + "." + parts[1])
	for _, c := range collectionsOf(play.Keywords) {
		names.Append(c)
	}
	play.Keywords["collections"] = Attr{Value: names, Pos: play.Pos}
}

// collectionsOf lists the literal names of a collections keyword.
func collectionsOf(k Keywords) []string {
	a, ok := k["collections"]
	if !ok {
		return nil
	}
	switch v := a.Value.(type) {
	case string:
		return []string{v}
	case *value.List:
		var names []string
		for _, item := range v.Items {
			if s, ok := item.(string); ok {
				names = append(names, s)
			}
		}
		return names
	}
	return nil
}
