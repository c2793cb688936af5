package task

import (
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// args evaluates the task's arguments, but for the raw ones, over the module's
// defaults, and leaves out what is omitted. FromHost names those in which data
// that a host sent had a part.
func (r *run) args(raw []string) (args *value.Dict, fromHost map[string]bool, err error) {
	sent, err := r.jinja.Traced(func() error {
		if args, err = r.moduleDefaults(); err != nil {
			return err
		}
		return r.argsFrom(args)
	})
	if err != nil {
		return nil, nil, err
	}
	fromHost = map[string]bool{}
	for k := range args.All() {
		if sent {
			fromHost[text(k)] = true
		}
	}
	return args, fromHost, r.ownArgs(args, fromHost, raw)
}

// ownArgs evaluates what the task itself gives into args.
func (r *run) ownArgs(args *value.Dict, fromHost map[string]bool, raw []string) error {
	for k, v := range r.task.Args.All() {
		var name string
		sent, err := r.jinja.Traced(func() error {
			key, err := r.jinja.Resolve(k) // a set_fact's name may be a template
			if name = text(key); err == nil && !contains(raw, name) {
				v, err = r.jinja.Resolve(v)
			}
			return err
		})
		if err != nil {
			return err
		}
		delete(fromHost, name)
		if sent {
			fromHost[name] = true
		}
		switch {
		case contains(raw, name):
			args.Set(name, v)
		case isOmit(v):
			args.Delete(name)
		default:
			args.Set(name, withoutOmit(v))
		}
	}
	return nil
}

// argsFrom adds arguments that one template yields as a whole.
func (r *run) argsFrom(args *value.Dict) error {
	if r.task.ArgsFrom == nil {
		return nil
	}
	v, err := r.jinja.Resolve(r.task.ArgsFrom)
	if err != nil {
		return err
	}
	d, ok := v.(*value.Dict)
	if !ok && !isOmit(v) {
		return source.Errorf(r.task.Pos, "invalid or malformed argument: '%s'", value.Str(v)).
			WithHint("the arguments of %q must be a dictionary: put quotes around a text with spaces", r.task.Written)
	}
	args.Update(d)
	return nil
}

// moduleDefaults evaluates module_defaults for the task's action. The innermost
// setting of a module or group is taken whole, and the action's own goes over
// those of its groups.
func (r *run) moduleDefaults() (*value.Dict, error) {
	args := value.NewDict()
	chain := r.task.Collect("module_defaults")
	if len(chain) == 0 {
		return args, nil
	}
	groups, own := value.NewDict(), value.NewDict()
	for _, a := range chain {
		entries := []any{a.Value}
		if l, ok := a.Value.(*value.List); ok {
			entries = l.Items
		}
		for _, entry := range entries {
			if err := r.defaultsIn(entry, groups, own); err != nil {
				return nil, err
			}
		}
	}
	for _, set := range []*value.Dict{groups, own} {
		for k, v := range set.All() {
			if err := r.addDefaults(args, text(k), v, chain[len(chain)-1].Pos); err != nil {
				return nil, err
			}
		}
	}
	return args, nil
}

// defaultsIn sorts what one module_defaults dict has for the action, not yet
// evaluated, into the settings of its groups and its own.
func (r *run) defaultsIn(entry any, groups, own *value.Dict) error {
	all, err := r.jinja.Resolve(shallow(entry))
	if err != nil {
		return err
	}
	d, _ := all.(*value.Dict)
	for k, v := range d.All() {
		key := text(k)
		if group, ok := strings.CutPrefix(key, "group/"); ok {
			if r.x.InGroup != nil && (r.x.InGroup(group, r.task.Action) || r.x.InGroup(group, r.task.Written)) {
				groups.Set(group, v)
			}
			continue
		}
		if r.defaultFor(key) {
			own.Set(builtinless(key), v)
		}
	}
	return nil
}

// addDefaults evaluates one setting into args.
func (r *run) addDefaults(args *value.Dict, key string, v any, pos source.Pos) error {
	v, err := r.jinja.Resolve(v)
	if err != nil {
		return err
	}
	found, ok := v.(*value.Dict)
	if !ok {
		return source.Errorf(pos, "the module_defaults of %q must be a dictionary, not %s", key, value.TypeName(v))
	}
	for name, val := range found.All() {
		if !isOmit(val) {
			args.Set(text(name), withoutOmit(val))
		}
	}
	return nil
}

// shallow keeps a dict from being evaluated as a whole: what is for other
// modules may use variables that this task does not have.
func shallow(v any) any {
	d, ok := v.(*value.Dict)
	if !ok {
		return v
	}
	plain := *d
	plain.Lazy = false
	return &plain
}

// defaultFor reports whether a key of module_defaults means the task's action.
func (r *run) defaultFor(key string) bool {
	key = builtinless(key)
	return key == r.task.Action || key == r.task.Written || r.task.Action == "gather_facts" && key == "setup"
}

// builtinless takes ansible.builtin. or ansible.legacy. off a module's name.
func builtinless(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "ansible.builtin."), "ansible.legacy.")
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// withoutOmit drops omitted entries inside containers.
func withoutOmit(v any) any {
	if !hasOmit(v) {
		return v
	}
	switch v := v.(type) {
	case *value.Dict:
		d := value.NewDict()
		for k, item := range v.All() {
			if !isOmit(item) {
				_ = d.SetKey(k, withoutOmit(item)) // k came from a dict
			}
		}
		return d
	case *value.List:
		l := value.NewList()
		for _, item := range v.Items {
			if !isOmit(item) {
				l.Append(withoutOmit(item))
			}
		}
		return l
	}
	return v
}

func hasOmit(v any) bool {
	switch v := v.(type) {
	case *value.Dict:
		for _, item := range v.All() {
			if hasOmit(item) {
				return true
			}
		}
	case *value.List:
		for _, item := range v.Items {
			if hasOmit(item) {
				return true
			}
		}
	}
	return isOmit(v)
}
