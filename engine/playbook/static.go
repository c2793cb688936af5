package playbook

import (
	"errors"

	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

// known is the scope of names that are evaluated while files are loaded: what
// does not depend on a host.
type known struct{ layers []*value.Dict }

var _ jinja.Scope = known{}

// Lookup finds a variable, in the order of precedence.
func (k known) Lookup(name string) (any, bool) {
	for _, d := range k.layers {
		if v, ok := d.Get(name); ok {
			return v, true
		}
	}
	return nil, false
}

// staticScope lists what is known at a place: extra vars, the variables of the
// import itself, of the blocks around it, of its role and of the play.
func (r *reader) staticScope(p place, own *value.Dict) known {
	k := known{layers: []*value.Dict{r.l.ExtraVars}}
	for b := p.parent; b != nil; b = b.Parent {
		k.layers = append(k.layers, b.Params)
	}
	k.layers = append(k.layers, own)
	for b := p.parent; b != nil; b = b.Parent {
		k.layers = append(k.layers, b.Vars)
	}
	magic := value.NewDict()
	if p.play != nil {
		magic.Set("playbook_dir", absDir(p.play.Dir))
	} else {
		magic.Set("playbook_dir", absDir(p.dir))
	}
	if p.role != nil {
		k.layers = append(k.layers, p.role.Vars)
		magic.Set("role_path", p.role.Path)
		magic.Set("role_name", p.role.Name)
	}
	if p.play != nil {
		k.layers = append(k.layers, p.play.Vars)
	}
	if p.role != nil {
		k.layers = append(k.layers, p.role.Defaults)
	}
	k.layers = append([]*value.Dict{magic}, k.layers...)
	return k
}

// staticText evaluates a name that is needed while files are loaded.
func (r *reader) staticText(p place, own *value.Dict, v any) (string, error) {
	d, ok := v.(jinja.Deferred)
	if !ok {
		if v == nil {
			return "", nil
		}
		return value.Str(v), nil
	}
	got, err := d.Value(&jinja.Context{Vars: r.staticScope(p, own)})
	if err != nil {
		return "", unknownNow(err, d)
	}
	if u, ok := got.(*jinja.Undefined); ok {
		return "", unknownNow(&jinja.UndefinedError{Msg: u.Msg, Pos: u.Pos}, d)
	}
	return value.Str(got), nil
}

// unknownNow explains why a name cannot be evaluated while files are loaded.
func unknownNow(err error, d jinja.Deferred) error {
	var undefined *jinja.UndefinedError
	if !errors.As(err, &undefined) {
		return err
	}
	pos := undefined.Pos
	if t, ok := d.(*jinja.Template); ok && pos.IsZero() {
		pos = t.Pos
	}
	return source.Errorf(pos, "cannot evaluate this name while files are loaded: %s", undefined.Msg).
		WithHint("imports know extra vars, play vars and role vars; an include_tasks or include_role knows the host's too")
}
