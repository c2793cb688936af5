package vars

import (
	"errors"
	"strings"

	"play/engine/jinja"
	"play/engine/playbook"
	"play/modules/value"
)

// taskMagic lists the magic variables that depend on the host or task; the
// others stand in the play's and the run's dicts.
var taskMagic = []string{
	"inventory_hostname", "inventory_hostname_short", "ansible_search_path", "group_names", "groups", "hostvars", "vars",
	"role_name", "role_path", "ansible_role_name", "ansible_parent_role_names",
	"ansible_parent_role_paths", "ansible_collection_name", "ansible_role_names",
}

func (p *Play) magicNames() []string {
	names := append([]string(nil), taskMagic...)
	names = append(names, dictNames(p.magic.Load())...)
	return append(names, dictNames(p.b.Run)...)
}

// magicVar finds one of the variables that the engine itself sets.
func (p *Play) magicVar(host string, t *playbook.Task, name string) (any, bool) {
	switch name {
	case "inventory_hostname":
		return host, host != ""
	case "ansible_search_path":
		if t != nil && p.b.SearchPath != nil {
			return stringList(p.b.SearchPath(t)), true
		}
		return nil, false
	case "inventory_hostname_short":
		short, _, _ := strings.Cut(host, ".")
		return short, true
	case "group_names":
		return stringList(p.b.Inventory.GroupNames(host)), true
	case "groups":
		return p.b.Inventory.Groups(), true
	case "hostvars":
		return &hostVars{p: p}, true
	case "vars":
		return &allVars{p: p, host: host, task: t}, true
	}
	if v, ok := roleMagic(t, name); ok {
		return v, true
	}
	if v, ok := p.magic.Load().Get(name); ok {
		return v, true
	}
	return p.b.Run.Get(name)
}

// hostMagicNames are the magic variables of a host that no play is needed for.
func (p *Play) hostMagicNames() []string {
	return append([]string{"inventory_hostname", "inventory_hostname_short", "group_names", "groups", "playbook_dir"}, dictNames(p.b.Run)...)
}

// hostMagic finds one of hostMagicNames. hostvars is found too, though not
// listed: a host's variable may be made of another host's.
func (p *Play) hostMagic(host, name string) (any, bool) {
	switch name {
	case "inventory_hostname", "inventory_hostname_short", "group_names", "groups", "hostvars":
		return p.magicVar(host, nil, name)
	case "playbook_dir":
		if v, ok := p.magic.Load().Get(name); ok {
			return v, true
		}
	}
	return p.b.Run.Get(name)
}

func roleMagic(t *playbook.Task, name string) (any, bool) {
	if t == nil || t.Role == nil {
		return nil, false
	}
	switch name {
	case "role_name":
		short := t.Role.Name
		if t.Role.Collection != "" {
			short = strings.TrimPrefix(short, t.Role.Collection+".")
		}
		return short, true
	case "ansible_role_name":
		return t.Role.Name, true
	case "role_path":
		return t.Role.Path, true
	case "ansible_collection_name":
		if t.Role.Collection == "" {
			return nil, false
		}
		return t.Role.Collection, true
	case "ansible_parent_role_names", "ansible_parent_role_paths":
		l := value.NewList()
		for i, r := range t.Role.Parents {
			if i == 0 && t.Role.Dependency || i > 0 && t.Role.Parents[i-1].Dependency {
				break // a role that depends on another is no parent of it
			}
			if strings.HasSuffix(name, "paths") {
				l.Append(r.Path)
			} else {
				l.Append(r.Name)
			}
		}
		return l, l.Len() > 0
	}
	return nil, false
}

func stringList(items []string) *value.List {
	l := &value.List{Items: make([]any, len(items))}
	for i, s := range items {
		l.Items[i] = s
	}
	return l
}

// hostVars is the magic variable hostvars: every host's view of the play. ask
// is the evaluation that it was reached from, so that a loop of variables
// through several hosts is found; nil outside of one.
type hostVars struct {
	p   *Play
	ask *jinja.Context
}

var (
	_ value.Mapping = (*hostVars)(nil)
	_ jinja.Binder  = (*hostVars)(nil)
)

// Bind ties the variable to the evaluation that reads it.
func (h *hostVars) Bind(c *jinja.Context) any { return &hostVars{p: h.p, ask: c} }

// Get returns a host's variables; they are evaluated as they are asked for.
func (h *hostVars) Get(key any) (any, bool, error) {
	host, ok := key.(string)
	if !ok || !h.p.b.Inventory.HasHost(host) {
		return nil, false, nil
	}
	return &allVars{p: h.p, host: host, bare: true, ask: h.ask}, true, nil
}

// Keys lists the hosts.
func (h *hostVars) Keys() []any { return stringList(h.p.b.Inventory.HostNames()).Items }

// allVars is one host's variables as a mapping.
type allVars struct {
	p    *Play
	host string
	task *playbook.Task
	bare bool           // without the play: an entry of hostvars
	ask  *jinja.Context // as in hostVars
}

var (
	_ value.Mapping = (*allVars)(nil)
	_ jinja.Binder  = (*allVars)(nil)
)

// Bind ties the variable to the evaluation that reads it.
func (a *allVars) Bind(c *jinja.Context) any {
	bound := *a
	bound.ask = c
	return &bound
}

func (a *allVars) context(scope *Scope) *jinja.Context {
	if a.ask == nil {
		return a.p.b.Context(scope)
	}
	return a.ask.With(scope)
}

func (a *allVars) scope() (*Scope, error) {
	if a.bare {
		return a.p.HostScope(a.host)
	}
	return a.p.Scope(a.host, a.task)
}

// Get evaluates one variable in the host's own view.
func (a *allVars) Get(key any) (any, bool, error) {
	name, ok := key.(string)
	if !ok || a.bare && name == "hostvars" {
		return nil, false, nil
	}
	scope, err := a.scope()
	if err != nil {
		return nil, false, err
	}
	ctx := a.context(scope)
	raw, ok := ctx.Raw(name)
	if !ok {
		return nil, false, nil
	}
	v, err := ctx.Resolve(raw)
	return v, err == nil, err
}

// Keys lists every variable's name.
func (a *allVars) Keys() []any {
	scope, err := a.scope()
	if err != nil {
		return nil
	}
	return stringList(scope.Names()).Items
}

// undefined reports whether an evaluation met a name that is not known.
func undefined(v any, err error) bool {
	if _, ok := v.(*jinja.Undefined); ok {
		return true
	}
	var u *jinja.UndefinedError
	return errors.As(err, &u)
}
