package vars

import (
	"slices"
	"testing"

	"play/engine/jinja"
	"play/engine/playbook"
	"play/modules/value"
)

// oneHost is an inventory of the host h with one layer of variables.
type oneHost struct{ vars *value.Dict }

func (o oneHost) HostLayers(host string) ([]Layer, error) {
	if host != "h" {
		return nil, nil
	}
	return []Layer{{Name: "inventory", Dict: o.vars}}, nil
}
func (oneHost) GroupNames(string) []string { return []string{"g"} }
func (oneHost) Groups() *value.Dict        { return value.DictOf("all", value.NewList("h")) }
func (oneHost) HostNames() []string        { return []string{"h"} }
func (oneHost) HasHost(name string) bool   { return name == "h" }

// levels are all places of a variable, the strongest first.
var levels = []string{"extra", "include params", "set_fact", "include_vars", "task vars", "block vars", "role vars", "vars_files",
	"vars_prompt", "play vars", "facts", "inventory", "role defaults"}

// TestPrecedence sets x at every level but the strongest ones, and looks which
// wins.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	for i, want := range levels {
		if got := precedenceFrom(t, levels[i:]); got != want {
			t.Errorf("without %v: x is from %v, want %v", levels[:i], got, want)
		}
	}
}

func precedenceFrom(t *testing.T, set []string) any {
	t.Helper()
	at := func(level string) *value.Dict {
		if slices.Contains(set, level) {
			return value.DictOf("x", level)
		}
		return value.NewDict()
	}
	store := NewStore()
	b := &Builder{Inventory: oneHost{at("inventory")}, Store: store, Extra: at("extra"), Run: value.NewDict(),
		Context:  func(s *Scope) *jinja.Context { return &jinja.Context{Vars: s} },
		VarsFile: func(*playbook.Play, []string) (*value.Dict, error) { return at("vars_files"), nil }}
	if d := at("set_fact"); d.Len() > 0 {
		store.Host("h").Set("x", "set_fact", false)
	}
	store.Host("h").Include(at("include_vars"))
	store.Host("h").AddFacts(at("facts"))
	play := &playbook.Play{Vars: at("play vars"), VarsFiles: []playbook.Attr{{Value: "f.yml"}}}
	view := b.Play(play, value.NewDict(), at("vars_prompt"))
	role := &playbook.Role{Name: "r", Vars: at("role vars"), Defaults: at("role defaults")}
	block := &playbook.Block{Vars: at("block vars"), Params: at("include params"), Role: role}
	scope, err := view.Scope("h", &playbook.Task{Vars: at("task vars"), Parent: block, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	v, _ := scope.Lookup("x")
	return v
}

// TestT2ReservedFacts: facts that say how hosts are reached are dropped.
func TestT2ReservedFacts(t *testing.T) {
	t.Parallel()
	reserved := []string{"ansible_host", "ansible_port", "ansible_user", "ansible_connection", "ansible_ssh_common_args",
		"ansible_ssh_extra_args", "ansible_ssh_executable", "ansible_become", "ansible_become_password", "ansible_python_interpreter",
		"ansible_remote_tmp", "ansible_shell_type", "ansible_shell_executable", "ansible_password", "ansible_private_key_file",
		"inventory_hostname", "hostvars", "groups", "ansible_facts", "ansible_perl_interpreter"}
	facts := value.DictOf("ansible_distribution", "Debian", "ansible_ssh_host_key_rsa_public", "AAAA", "mine", 1)
	for _, name := range reserved {
		facts.Set(name, "evil")
	}
	h := &HostState{}
	dropped := h.AddFacts(facts)
	for _, name := range reserved {
		if !slices.Contains(dropped, name) {
			t.Errorf("%s was not dropped", name)
		}
		if v, ok := h.lookupFact(name); ok && name != "ansible_facts" {
			t.Errorf("%s is %v", name, v)
		}
	}
	for _, name := range []string{"distribution", "ssh_host_key_rsa_public", "mine"} {
		if _, ok := h.Facts().Get(name); !ok {
			t.Errorf("the fact %s is gone", name)
		}
	}
}

func TestScopeWith(t *testing.T) {
	t.Parallel()
	base := NewScope([]Layer{{Name: "low", Dict: value.DictOf("a", 1, "b", 1)}})
	top := base.With("top", value.DictOf("a", 2))
	if v, _ := top.Lookup("a"); v != 2 {
		t.Errorf("a is %v", v)
	}
	if v, _ := base.Lookup("a"); v != 1 {
		t.Errorf("the scope below changed: a is %v", v)
	}
	names := top.Names()
	slices.Sort(names)
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("names are %v", names)
	}
}

func TestTaskScopeNamesTheHost(t *testing.T) {
	t.Parallel()
	b := &Builder{Inventory: oneHost{value.NewDict()}, Store: NewStore(), Run: value.NewDict()}
	view := b.Play(&playbook.Play{Vars: value.NewDict()}, value.NewDict(), nil)
	task := &playbook.Task{Keywords: playbook.Keywords{"remote_user": {Value: "admin"}}}
	scope, err := view.TaskScope("h", task)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"ansible_host": "h", "ansible_user": "admin"} {
		if v, _ := scope.Lookup(name); v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	plain, err := view.Scope("h", task)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := plain.Lookup("ansible_host"); ok {
		t.Errorf("how the host is reached must not follow from what tasks are told: ansible_host is %v", v)
	}
}
