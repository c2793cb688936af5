package playbook

import (
	"fmt"
	"path/filepath"

	"play/engine/source"
	"play/modules/value"
)

// maxIncludes is how deep dynamic includes may nest.
const maxIncludes = 200

// IncludeTasks loads the file of tasks that an include_tasks names at run time.
// Path is the name as evaluated; args are the include's arguments and vars the
// variables that it hands over, both evaluated. It returns the block, which
// stands where the include stands and may be run by several hosts, and the
// path of the file. What was parsed before is not parsed again.
func (l *Loader) IncludeTasks(path string, t *Task, args, vars *value.Dict) (*Block, string, error) {
	r := l.newReader()
	found := FindTasks(t, path)
	if found == "" {
		return nil, "", source.Errorf(t.Pos, "Could not find or access '%s' on the Ansible Controller.", path).
			WithHint("include_tasks looks beside the file it stands in, in its role's tasks folder, and beside the playbook")
	}
	p, b, err := r.included(t, args, vars)
	if err != nil {
		return nil, "", err
	}
	b.Body = r.fileNodes(p, found, t.Pos)
	if t.Handler {
		for _, h := range handlersIn(b.Body) {
			h.Handler = true
		}
	}
	if err := r.errs.err(); err != nil {
		return nil, "", err
	}
	if abs, err := filepath.Abs(found); err == nil {
		found = abs
	}
	return b, found, nil
}

// IncludeRole loads the role that an include_role names at run time, and the
// handlers that it brings. Args and vars are as for IncludeTasks.
func (l *Loader) IncludeRole(t *Task, args, vars *value.Dict) (*Block, []*Task, error) {
	r := l.newReader()
	p, b, err := r.included(t, args, vars)
	if err != nil {
		return nil, nil, err
	}
	app, err := r.roleCall(p, t, args, nil)
	if err != nil {
		return nil, nil, placed(err, t.Pos)
	}
	app.common = newCommon()
	app.dynamic = true
	for _, inner := range r.apply(p, app) {
		b.Body = append(b.Body, inner)
	}
	if err := r.errs.err(); err != nil {
		return nil, nil, err
	}
	return b, r.roles.handlers, nil
}

// included makes the block that stands for one run of an include task: around
// it are the blocks of the include, and it has what the include applies.
func (r *reader) included(t *Task, args, vars *value.Dict) (place, *Block, error) {
	depth := 0
	for b := t.Parent; b != nil; b = b.Parent {
		depth++
	}
	if depth > maxIncludes {
		return place{}, nil, source.Errorf(t.Pos, "cannot include more: includes nest deeper than %d levels", maxIncludes).
			WithHint("give the recursion a condition that ends it")
	}
	b := &Block{Pos: t.Pos, Keywords: Keywords{}, Vars: value.NewDict(), Implicit: true, Role: t.Role, Play: t.Play, Parent: t.Parent,
		Params: t.Vars.Clone()}
	b.Params.Update(vars)
	p := place{dir: t.Dir, play: t.Play, parent: b, role: t.Role, handlers: t.Handler}
	if t.Play != nil {
		p.collections = collectionsOf(t.Play.Keywords)
	}
	if t.Role != nil {
		p.collections = t.Role.Collections
	} else if a, ok := t.Inherit("collections"); ok {
		p.collections = collectionsOf(Keywords{"collections": a})
	}
	apply, ok := t.Args.Get("apply")
	if !ok {
		apply, ok = args.Get("apply")
	}
	if ok && apply != nil {
		if err := r.applyTo(b, apply, t.Pos); err != nil {
			return place{}, nil, err
		}
	}
	return p, b, nil
}

// applyTo gives a block the keywords of an include's apply option.
func (r *reader) applyTo(b *Block, apply any, pos source.Pos) error {
	d, ok := apply.(*value.Dict)
	if !ok {
		return source.Errorf(pos, "expected a dict for 'apply' but got %s instead", plainText(apply))
	}
	for k, v := range d.All() {
		name, _ := k.(string)
		if !onBlock.allows(name) || name == "block" || name == "rescue" || name == "always" {
			return unknownKeyword(onBlock, fmt.Sprint(k), pos, nil)
		}
		if err := r.applyKeyword(b, name, Attr{Value: v, Pos: pos}); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) applyKeyword(b *Block, name string, a Attr) error {
	switch name {
	case "name":
		b.Name = a.Value
	case "tags":
		tags, ok := tagsOf(a.Value)
		if !ok {
			return source.Errorf(a.Pos, "tags must be specified as a list")
		}
		b.Tags = tags
	case "vars":
		vars, ok := a.Value.(*value.Dict)
		if !ok {
			return source.Errorf(a.Pos, "Vars in a Block must be specified as a dictionary, or a list of dictionaries")
		}
		b.Vars.Update(vars)
		b.Vars.Lazy = b.Vars.Lazy || vars.Lazy
	case "notify":
		b.Notify = append(b.Notify, a)
	case "when":
		return r.applyWhen(b, a)
	default:
		if err := checkKeyword(name, a); err != nil {
			return err
		}
		b.Keywords[name] = a
	}
	return nil
}

func (r *reader) applyWhen(b *Block, a Attr) error {
	items := []any{a.Value}
	if l, ok := a.Value.(*value.List); ok {
		items = l.Items
	}
	for _, item := range items {
		cond, err := r.env().Cond(item, a.Pos)
		if err != nil {
			return err
		}
		b.When = append(b.When, cond)
	}
	return nil
}
