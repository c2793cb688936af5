package playbook

import (
	"path/filepath"
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// specs reads a role's argument specs: meta/argument_specs.yml, or the
// argument_specs of meta/main.yml. It is nil when the role has none.
func (l *Loader) specs(dir string, meta *roleMeta) (*value.Dict, error) {
	for _, ending := range yamlEndings {
		path := filepath.Join(dir, "meta", "argument_specs"+ending)
		if !isFile(path) {
			continue
		}
		f, err := l.file(path)
		if err != nil {
			return nil, err
		}
		v, err := f.Data(f.Root)
		if err != nil {
			return nil, err
		}
		d, _ := v.(*value.Dict)
		if inner, ok := d.Get("argument_specs"); ok {
			d, _ = inner.(*value.Dict)
		}
		return d, nil
	}
	return meta.argumentSpecs, nil
}

// validation is the task that checks a role's arguments before its tasks run,
// or nil when the role has no spec for this entry point.
func (r *reader) validation(p place, app *application, meta *roleMeta) *Task {
	if app.unchecked || r.l.Modules != nil && !r.l.Modules.Known("validate_argument_spec") {
		return nil
	}
	specs, err := r.l.specs(p.role.Path, meta)
	if err != nil {
		r.fail(err)
		return nil
	}
	entry := "main"
	if app.from.tasks != "" {
		entry = strings.TrimSuffix(app.from.tasks, filepath.Ext(app.from.tasks))
	}
	v, _ := specs.Get(entry)
	spec, ok := v.(*value.Dict)
	if !ok {
		return nil
	}
	options, ok := spec.Get("options")
	if !ok {
		options = value.NewDict()
	}
	name := "Validating arguments against arg spec '" + entry + "'"
	if short, ok := spec.Get("short_description"); ok {
		name += " - " + value.Str(short)
	}
	context := value.DictOf("type", "role", "name", p.role.Name, "argument_spec_name", entry, "path", p.role.Path)
	return &Task{
		Pos: source.Pos{File: app.pos.File, Line: app.pos.Line, Col: app.pos.Col}, Name: name,
		Action: "validate_argument_spec", Written: "ansible.builtin.validate_argument_spec",
		Args:     value.DictOf("argument_spec", options, "provided_arguments", value.NewDict(), "validate_args_context", context),
		Keywords: Keywords{}, Vars: value.NewDict(), Tags: []any{"always"},
		Role: p.role, Parent: p.parent, Play: p.play, Dir: filepath.Join(p.role.Path, "tasks"),
	}
}
