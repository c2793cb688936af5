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

// families are the kinds of variables that only the operator sets, with names of
// each.
var families = map[string][]string{
	"address":     {"ansible_host", "ansible_port", "ansible_user", "ansible_password", "ansible_ssh_host", "ansible_ssh_port", "ansible_ssh_user", "ansible_ssh_pass"},
	"connection":  {"ansible_connection", "ansible_timeout", "ansible_pipelining", "ansible_network_os", "ansible_host_key_checking"},
	"key":         {"ansible_private_key_file", "ansible_ssh_private_key_file", "ansible_winrm_cert_key_pem"},
	"args":        {"ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args", "ansible_sftp_extra_args", "ansible_scp_extra_args", "ansible_docker_extra_args", "ansible_podman_extra_args", "ansible_kubectl_extra_args", "ansible_other_args"},
	"executable":  {"ansible_ssh_executable", "ansible_scp_executable", "ansible_sftp_executable", "ansible_shell_executable", "ansible_executable", "ansible_podman_executable", "ansible_chroot_exe"},
	"become":      {"ansible_become", "ansible_become_user", "ansible_become_method", "ansible_become_pass", "ansible_become_password", "ansible_become_exe", "ansible_become_flags", "ansible_sudo_pass", "ansible_su_pass", "ansible_su_user", "ansible_doas_flags"},
	"interpreter": {"ansible_python_interpreter", "ansible_perl_interpreter", "ansible_ruby_interpreter", "ansible_anything_interpreter"},
	"shell":       {"ansible_shell_type", "ansible_shell_allow_world_readable_temp", "ansible_remote_tmp", "ansible_async_dir"},
	"transport":   {"ansible_paramiko_proxy_command", "ansible_docker_host", "ansible_winrm_transport", "ansible_psrp_proxy", "ansible_httpapi_use_ssl", "ansible_netconf_ssh_config", "ansible_libssh_proxy_command", "ansible_lxc_host", "ansible_jail_user", "ansible_aws_ssm_region", "ansible_local_become", "ansible_ssh_control_path"},
	"magic":       {"inventory_hostname", "hostvars", "groups", "group_names", "ansible_facts", "ansible_play_hosts", "ansible_version", "ansible_delegated_vars", "playbook_dir", "role_path", "vars", "omit"},
}

// publicFacts are names that look like those but are ordinary facts.
var publicFacts = map[string]string{"ansible_distribution": "distribution", "ansible_ssh_host_key_rsa_public": "ssh_host_key_rsa_public",
	"mine": "mine", "ansible_docker_gwbridge": "docker_gwbridge", "ansible_lxc_bridge": "lxc_bridge", "ansible_docker0": "docker0",
	"ansible_user_id": "user_id", "ansible_hostname": "hostname", "ansible_local": "ansible_local", "ansible_python_version": "python_version",
	"ansible_cmdline": "cmdline", "ansible_pkg_mgr": "pkg_mgr"}

// TestT2ReservedFacts: facts that say how hosts are reached are dropped, whatever
// they hold.
func TestT2ReservedFacts(t *testing.T) {
	t.Parallel()
	for family, names := range families {
		facts := value.NewDict()
		for i, name := range names {
			facts.Set(name, []any{"evil", value.DictOf(name, "evil"), value.NewList("evil")}[i%3])
		}
		h := &HostState{}
		dropped := h.AddFacts(facts)
		for _, name := range names {
			if !slices.Contains(dropped, name) {
				t.Errorf("%s: %s was not dropped", family, name)
			}
			if v, ok := h.lookupFact(name); ok && name != "ansible_facts" {
				t.Errorf("%s: %s is %v", family, name, v)
			}
		}
		if n := h.Facts().Len(); n > 0 {
			t.Errorf("%s: %d facts are kept", family, n)
		}
	}
}

// TestPublicFacts: names that only look like reserved ones are kept.
func TestPublicFacts(t *testing.T) {
	t.Parallel()
	facts := value.NewDict()
	for name := range publicFacts {
		facts.Set(name, 1)
	}
	h := &HostState{}
	if dropped := h.AddFacts(facts); len(dropped) > 0 {
		t.Errorf("dropped %v", dropped)
	}
	for name, short := range publicFacts {
		if _, ok := h.Facts().Get(short); !ok {
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
