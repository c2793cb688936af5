package vars

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"play/engine/jinja"
	"play/engine/playbook"
	"play/modules/value"
)

// Inventory is what scopes need to know of the hosts. It is asked concurrently.
type Inventory interface {
	// HostLayers are the inventory's and the vars folders' variables of a host,
	// from the highest precedence to the lowest.
	HostLayers(host string) ([]Layer, error)
	GroupNames(host string) []string // sorted, without all
	Groups() *value.Dict             // group name to list of host names
	HostNames() []string
	HasHost(name string) bool // the implicit localhost included
}

// Builder makes scopes. One serves a whole run.
type Builder struct {
	Inventory Inventory
	Store     *Store
	Extra     *value.Dict // --extra-vars
	Merge     bool        // hash_behaviour=merge: dicts are merged over the layers
	// PrivateRoles is private_role_vars: a role's vars are seen in the role alone.
	PrivateRoles bool
	Run          *value.Dict // magic variables that are the same for the whole run
	// Context makes an evaluation context over a scope: for the names of
	// vars_files and for hostvars.
	Context func(s *Scope) *jinja.Context
	// SearchPath lists the folders where a task's files are looked for; nil: the
	// variable ansible_search_path is not set.
	SearchPath func(t *playbook.Task) []string
	// VarsFile loads one vars_files entry: the first of the alternatives that
	// exists. It caches.
	VarsFile func(play *playbook.Play, names []string) (*value.Dict, error)
	// Connection holds the connection variables that the command line and the
	// configuration give to tasks: ansible_user, ansible_connection and their kin.
	Connection *value.Dict
	// HostChose is asked before a vars_files entry is loaded in whose name data
	// that a host sent had a part; nil: every name may be.
	HostChose func(play *playbook.Play, name string) error
}

// Play is the view of one play: what is the same for all its tasks.
type Play struct {
	b        *Builder
	play     *playbook.Play
	magic    atomic.Pointer[value.Dict] // play-wide magic variables; replaced, never changed
	prompts  *value.Dict                // vars_prompt answers
	roleVars []Layer                    // vars of every role in the play, highest first
	defaults []Layer                    // defaults of every role in the play, highest first
	mu       sync.Mutex
	hosts    map[string]*hostBase
}

// hostBase is what is the same for all tasks of a host in a play.
type hostBase struct {
	layers    []Layer // inventory layers, highest first
	varsFiles []Layer
	filesDone bool
}

// Play starts the view of one play. Magic holds the play's magic variables
// (ansible_play_hosts and the like); prompts the answers to vars_prompt.
func (b *Builder) Play(p *playbook.Play, magic, prompts *value.Dict) *Play {
	v := &Play{b: b, play: p, prompts: prompts, hosts: map[string]*hostBase{}}
	v.magic.Store(magic)
	if dir, err := filepath.Abs(p.Dir); err == nil && p.Dir != "" && magic != nil {
		magic.Set("playbook_dir", dir) // an imported playbook has its own
	}
	for _, r := range rolesOf(p) {
		v.AddRole(r)
	}
	return v
}

// SetMagic replaces a play-wide magic variable. One goroutine may do so while
// others read.
func (p *Play) SetMagic(name string, val any) {
	magic := p.magic.Load().Clone()
	magic.Set(name, val)
	p.magic.Store(magic)
}

// AddRole makes a role's vars and defaults visible to the whole play, as static
// roles (and include_role with public) are.
func (p *Play) AddRole(r *playbook.Role) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Vars.Len() > 0 && !p.b.PrivateRoles {
		p.roleVars = append([]Layer{{Name: "vars of role " + r.Name, Dict: r.Vars}}, p.roleVars...)
	}
	if r.Defaults.Len() > 0 {
		p.defaults = append([]Layer{{Name: "defaults of role " + r.Name, Dict: r.Defaults}}, p.defaults...)
	}
}

// rolesOf lists the roles of a play in the order in which they run.
func rolesOf(p *playbook.Play) []*playbook.Role {
	var roles []*playbook.Role
	seen := map[*playbook.Role]bool{}
	var walk func(nodes []playbook.Node)
	walk = func(nodes []playbook.Node) {
		for _, n := range nodes {
			b, ok := n.(*playbook.Block)
			if !ok {
				continue
			}
			if b.Role != nil && !seen[b.Role] {
				seen[b.Role] = true
				roles = append(roles, b.Role)
			}
			walk(b.Body)
			walk(b.Rescue)
			walk(b.Always)
		}
	}
	for _, r := range p.Roles {
		walk([]playbook.Node{r})
	}
	walk(p.PreTasks)
	walk(p.Tasks)
	walk(p.PostTasks)
	return roles
}

// Scope builds the view for a host and a task (nil: the play's own view).
func (p *Play) Scope(host string, t *playbook.Task) (*Scope, error) {
	base, err := p.base(host)
	if err != nil {
		return nil, err
	}
	return p.build(host, t, base, base.varsFiles), nil
}

// TaskScope is Scope with what is known besides of how the task's host is reached:
// ansible_host, ansible_user, ansible_connection and their kin, where no variable
// sets them.
func (p *Play) TaskScope(host string, t *playbook.Task) (*Scope, error) {
	s, err := p.Scope(host, t)
	if err != nil {
		return nil, err
	}
	set := *s // without what is added
	s.parts = append(s.parts, Layer{Name: "the task's connection", Find: func(name string) (any, bool) {
		if v, ok := set.Lookup(sameConnection(name)); ok {
			return v, true
		}
		return p.connectionVar(host, t, name)
	}})
	return s, nil
}

// sameConnection is the other name of a connection variable; "" for none.
func sameConnection(name string) string {
	short, old := strings.CutPrefix(name, "ansible_ssh_")
	if !old {
		short = strings.TrimPrefix(name, "ansible_")
	}
	switch {
	case !slices.Contains([]string{"host", "user", "port", "timeout", "private_key_file"}, short):
		return ""
	case old:
		return "ansible_" + short
	}
	return "ansible_ssh_" + short
}

// connectionVar tells how the host is reached where no variable does.
func (p *Play) connectionVar(host string, t *playbook.Task, name string) (any, bool) {
	keyword := ""
	switch name {
	case "ansible_host", "ansible_ssh_host":
		return host, true
	case "ansible_user", "ansible_ssh_user":
		keyword = "remote_user"
	case "ansible_connection":
		keyword = "connection"
	}
	if a, ok := t.Inherit(keyword); ok {
		return a.Value, true
	}
	return p.b.Connection.Get(name)
}

// connectionNames are the variables that tell how a host is reached.
var connectionNames = []string{"ansible_host", "ansible_ssh_host", "ansible_user", "ansible_ssh_user", "ansible_connection", "ansible_port",
	"ansible_ssh_port", "ansible_timeout", "ansible_ssh_timeout", "ansible_private_key_file", "ansible_ssh_private_key_file",
	"ansible_shell_executable"}

// Delegated are the variables that a task for host sees besides when it works on
// another one: how that is reached, as far as nothing is set for the host itself,
// and in ansible_delegated_vars all variables of the other. Ask is the evaluation
// that they are for.
func (p *Play) Delegated(host, to string, t *playbook.Task, ask *jinja.Context) (*value.Dict, error) {
	own, err := p.Scope(host, t)
	if err != nil {
		return nil, err
	}
	other, err := p.Scope(to, t)
	if err != nil {
		return nil, err
	}
	d := value.DictOf("ansible_delegated_vars", value.DictOf(to, &allVars{p: p, host: to, task: t, ask: ask}))
	for _, name := range connectionNames {
		if _, set := own.Lookup(name); set {
			continue
		}
		v, ok := other.Lookup(name)
		if !ok {
			v, ok = other.Lookup(sameConnection(name))
		}
		if !ok && (name == "ansible_host" || name == "ansible_ssh_host") {
			v, ok = to, true
		}
		if !ok {
			continue
		}
		if v, err = ask.With(other).Resolve(v); err != nil {
			return nil, err
		}
		d.Set(name, v)
	}
	return d, nil
}

// HostScope builds the view of a host without the play, as hostvars shows it:
// nothing that the play, its roles or a task set.
func (p *Play) HostScope(host string) (*Scope, error) {
	base, err := p.base(host)
	if err != nil {
		return nil, err
	}
	layers := make([]Layer, 0, 8+len(base.layers))
	layers = append(layers,
		Layer{Name: "magic variables", Find: func(name string) (any, bool) { return p.hostMagic(host, name) }, Names: p.hostMagicNames},
		Layer{Name: "extra vars", Dict: p.b.Extra})
	layers = p.learnt(layers, host)
	layers = append(layers, factLayer(host, p.b.Store.Host(host)))
	s := NewScope(append(layers, base.layers...))
	s.merge = p.b.Merge
	return s, nil
}

// learnt adds what set_fact, register and include_vars stored of a host.
func (p *Play) learnt(layers []Layer, host string) []Layer {
	state := p.b.Store.Host(host)
	return append(layers,
		Layer{Name: "set_fact and register", Find: state.lookupSet, FromHost: state.sent, Names: func() []string { return state.names(func(h *HostState) *value.Dict { return h.set }) }},
		Layer{Name: "include_vars", Find: state.lookupIncluded, Names: func() []string { return state.names(func(h *HostState) *value.Dict { return h.included }) }})
}

func factLayer(host string, state *HostState) Layer {
	sent := func(string) bool { return !ControlMachine(host) }
	return Layer{Name: "facts", Find: state.lookupFact, FromHost: sent, Names: func() []string {
		return append(state.factNames(), "ansible_facts")
	}}
}

func (p *Play) build(host string, t *playbook.Task, base *hostBase, files []Layer) *Scope {
	p.mu.Lock()
	roleVars, defaults := p.roleVars, p.defaults
	p.mu.Unlock()
	layers := make([]Layer, 0, 16+len(base.layers)+len(defaults))
	layers = append(layers,
		Layer{Name: "magic variables", Find: func(name string) (any, bool) { return p.magicVar(host, t, name) }, Names: p.magicNames},
		Layer{Name: "extra vars", Dict: p.b.Extra})
	layers = appendParams(layers, t)
	layers = p.learnt(layers, host)
	layers = appendTaskVars(layers, t)
	layers = append(layers, roleVars...)
	layers = append(layers, files...)
	layers = appendDict(layers, "vars_prompt", p.prompts)
	layers = appendDict(layers, "play vars", p.play.Vars)
	layers = append(layers, factLayer(host, p.b.Store.Host(host)))
	layers = append(layers, base.layers...)
	layers = appendRoleDefaults(layers, t)
	layers = append(layers, defaults...)
	s := NewScope(layers)
	s.merge = p.b.Merge
	return s
}

func appendDict(layers []Layer, name string, d *value.Dict) []Layer {
	if d.Len() == 0 {
		return layers
	}
	return append(layers, Layer{Name: name, Dict: d})
}

// appendParams adds role and include parameters, the innermost first; the vars
// of an include are its own parameters.
func appendParams(layers []Layer, t *playbook.Task) []Layer {
	if t == nil {
		return layers
	}
	switch t.Action {
	case "include", "include_tasks", "include_role":
		layers = appendDict(layers, "parameters of the include", t.Vars)
	}
	for b := t.Parent; b != nil; b = b.Parent {
		layers = appendDict(layers, "role or include parameters", b.Params)
		if b.Params.Len() > 0 && b.ParamsFromHost {
			layers[len(layers)-1].FromHost = always
		}
	}
	return layers
}

// appendTaskVars adds the vars of the task and its blocks and of its role.
func appendTaskVars(layers []Layer, t *playbook.Task) []Layer {
	if t == nil {
		return layers
	}
	layers = appendDict(layers, "task vars", t.Vars)
	for b := t.Parent; b != nil; b = b.Parent {
		if b.Vars.Len() > 0 {
			layers = append(layers, Layer{Name: "block vars", Dict: b.Vars, Tied: true})
		}
	}
	if t.Role != nil {
		layers = appendDict(layers, "vars of role "+t.Role.Name, t.Role.Vars)
		for _, r := range t.Role.Parents {
			layers = appendDict(layers, "vars of role "+r.Name, r.Vars)
		}
	}
	return layers
}

func appendRoleDefaults(layers []Layer, t *playbook.Task) []Layer {
	if t == nil || t.Role == nil {
		return layers
	}
	layers = appendDict(layers, "defaults of role "+t.Role.Name, t.Role.Defaults)
	for _, r := range t.Role.Parents {
		layers = appendDict(layers, "defaults of role "+r.Name, r.Defaults)
	}
	return layers
}

// base finds or makes the parts of a host's view that no task changes.
func (p *Play) base(host string) (*hostBase, error) {
	p.mu.Lock()
	base := p.hosts[host]
	p.mu.Unlock()
	if base != nil && base.filesDone {
		return base, nil
	}
	layers, err := p.b.Inventory.HostLayers(host)
	if err != nil {
		return nil, err
	}
	base = &hostBase{layers: layers}
	base.varsFiles, base.filesDone, err = p.varsFiles(host, base)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts[host] = base
	return base, nil
}

// Forget drops what is remembered of the hosts (after add_host, group_by or
// refresh_inventory).
func (p *Play) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.hosts)
}

// varsFiles loads the play's vars_files for a host, the last file first. It is
// final only when no name was a template: facts may still come.
func (p *Play) varsFiles(host string, base *hostBase) (layers []Layer, final bool, err error) {
	final = true
	for _, entry := range p.play.VarsFiles {
		names, templated, err := p.fileNames(host, base, layers, entry)
		if err != nil {
			return nil, false, err
		}
		final = final && !templated
		if names == nil {
			continue
		}
		d, err := p.b.VarsFile(p.play, names)
		if err != nil && host == "" {
			continue // its name may need a host's variables
		}
		if err != nil {
			return nil, false, err
		}
		layers = append([]Layer{{Name: "vars_files " + strings.Join(names, ", "), Dict: d}}, layers...)
	}
	return layers, final, nil
}

// fileNames evaluates one vars_files entry; nil when a name depends on a
// variable that is not known yet.
func (p *Play) fileNames(host string, base *hostBase, above []Layer, entry playbook.Attr) (names []string, templated bool, err error) {
	raw := []any{entry.Value}
	if l, ok := entry.Value.(*value.List); ok {
		raw = l.Items
	}
	var ctx *jinja.Context
	for _, r := range raw {
		if s, ok := r.(string); ok {
			names = append(names, s)
			continue
		}
		templated = true
		if ctx == nil {
			ctx = p.b.Context(p.build(host, nil, base, above))
		}
		var v any
		fromHost, err := ctx.Traced(func() (err error) {
			v, err = ctx.Resolve(r)
			return err
		})
		if undefined(v, err) {
			continue
		}
		s, ok := v.(string)
		if ok && err == nil && fromHost && p.b.HostChose != nil {
			err = p.b.HostChose(p.play, s)
		}
		if err != nil {
			return nil, true, err
		}
		if ok {
			names = append(names, s)
		}
	}
	return names, templated, nil
}
