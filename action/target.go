package action

import (
	"os"
	"strings"
	"time"

	"play/connection"
	"play/engine/playbook"
	"play/engine/task"
	"play/engine/vars"
	"play/modules/value"
)

// reach reads how to reach a host from its variables.
type reach struct {
	a   *task.Attempt
	on  *vars.Scope
	err error
}

// get evaluates the first of the names that is set; nil when none is.
func (r *reach) get(names ...string) any {
	for _, n := range names {
		raw, ok := r.on.Lookup(n)
		if !ok {
			continue
		}
		v, err := r.a.Jinja.With(r.on).Resolve(raw)
		if err != nil {
			if r.err == nil {
				r.err = err
			}
			return nil
		}
		return v
	}
	return nil
}

func (r *reach) str(def string, names ...string) string {
	if v := r.get(names...); v != nil {
		return value.Str(v)
	}
	return def
}

func (r *reach) boolean(def bool, names ...string) bool {
	if v := r.get(names...); v != nil {
		if b, ok := task.ToBool(v); ok {
			return b
		}
	}
	return def
}

func (r *reach) number(def int, names ...string) int {
	if v := r.get(names...); v != nil {
		if f, ok := value.AsFloat(v); ok {
			return int(f)
		}
		if n, ok := value.ParseInt(strings.TrimSpace(value.Str(v)), 10); ok {
			if i, ok := value.AsInt(n); ok {
				return i
			}
		}
	}
	return def
}

// target resolves how to reach the attempt's host: variables go over keywords,
// keywords over the command line and the configuration.
func (d *Deps) target(a *task.Attempt) (*connection.Target, error) {
	r := &reach{a: a, on: a.On}
	def, s := d.Defaults, a.Settings
	t := &connection.Target{Name: a.Target, Transport: d.transport(r, a)}
	t.Address = r.str(a.Target, "ansible_host", "ansible_ssh_host")
	t.Port = r.number(orInt(s.Port, def.Port), "ansible_port", "ansible_ssh_port")
	t.User = r.str(or(s.RemoteUser, def.User), "ansible_user", "ansible_ssh_user")
	t.Password = r.str(def.Password, "ansible_password", "ansible_ssh_pass", "ansible_ssh_password")
	if key := r.str(def.KeyFile, "ansible_private_key_file", "ansible_ssh_private_key_file"); key != "" {
		t.KeyFiles = []string{homePath(key)}
	}
	t.Timeout = time.Duration(r.number(int(def.Timeout/time.Second), "ansible_ssh_timeout", "ansible_timeout")) * time.Second
	t.Retries = r.number(def.Retries, "ansible_ssh_retries")
	t.HostKeyChecking = r.boolean(def.HostKeyChecking, "ansible_host_key_checking", "ansible_ssh_host_key_checking")
	t.AcceptNew = def.AcceptNew
	t.RemoteTmp = r.str(def.RemoteTmp, "ansible_remote_tmp")
	t.Become = d.becomeOf(r, a)
	options, err := d.sshOptions(r)
	if err == nil {
		err = r.err
	}
	t.Options = options
	if names := insideVariables(t.Transport); names != nil {
		t.Options = r.options(names)
	}
	if t.Transport == "local" {
		t.Address, t.Port, t.User, t.Password, t.KeyFiles, t.Options = "", 0, "", "", nil, nil
		t.HostKeyChecking, t.AcceptNew, t.Retries, t.Timeout = false, false, 0, 0
	}
	return t, err
}

// transport is the connection's kind. localhost that nobody wrote into the
// inventory is local.
func (d *Deps) transport(r *reach, a *task.Attempt) string {
	def := or(a.Settings.Connection, d.Defaults.Connection)
	name := r.str(def, "ansible_connection")
	switch name {
	case "smart", "paramiko", "paramiko_ssh", "ssh", "ansible.builtin.ssh", "ansible.builtin.paramiko_ssh", "":
		return "ssh"
	case "ansible.builtin.local":
		return "local"
	}
	return name
}

// insideVariables are the further variables, by option, of the transports that
// reach into containers and the like; nil: the transport is none of them.
func insideVariables(transport string) map[string]string {
	switch transport[strings.LastIndexByte(transport, '.')+1:] {
	case "docker":
		return map[string]string{"extra_args": "ansible_docker_extra_args"}
	case "podman":
		return map[string]string{"extra_args": "ansible_podman_extra_args", "executable": "ansible_podman_executable"}
	case "kubectl":
		return map[string]string{"extra_args": "ansible_kubectl_extra_args", "pod": "ansible_kubectl_pod",
			"namespace": "ansible_kubectl_namespace", "container": "ansible_kubectl_container"}
	case "chroot":
		return map[string]string{"executable": "ansible_chroot_exe"}
	case "nspawn":
		return map[string]string{}
	case "su":
		return map[string]string{"extra_args": "ansible_su_extra_args", "via": "ansible_su_via"}
	}
	return nil
}

// options evaluates the variables that are set.
func (r *reach) options(names map[string]string) map[string]string {
	set := map[string]string{}
	for option, name := range names {
		if v := r.str("", name); v != "" {
			set[option] = v
		}
	}
	return set
}

func (d *Deps) becomeOf(r *reach, a *task.Attempt) *connection.Become {
	def, s := d.Defaults, a.Settings
	on := def.Become
	if s.BecomeSet {
		on = s.Become
	}
	if !r.boolean(on, "ansible_become") {
		return nil
	}
	b := &connection.Become{Method: r.str(or(s.BecomeMethod, def.BecomeMethod), "ansible_become_method")}
	m := "ansible_" + or(b.Method, "sudo")
	b.User = r.str(or(s.BecomeUser, def.BecomeUser), "ansible_become_user", m+"_user")
	b.Password = r.str(def.BecomePassword, "ansible_become_password", "ansible_become_pass", m+"_password", m+"_pass")
	b.Flags = r.str(or(s.BecomeFlags, def.BecomeFlags), "ansible_become_flags", m+"_flags")
	b.Exe = r.str(or(s.BecomeExe, def.BecomeExe), "ansible_become_exe", m+"_exe")
	return b
}

// sshOptions gathers the ssh arguments that variables and configuration give.
func (d *Deps) sshOptions(r *reach) (map[string]string, error) {
	args := []string{
		r.str(d.Defaults.SSHArgs, "ansible_ssh_args"),
		r.str("", "ansible_ssh_common_args"),
		r.str("", "ansible_ssh_extra_args"),
	}
	options, err := d.SSHOptions(strings.TrimSpace(strings.Join(args, " ")))
	if err != nil || len(options)+len(d.Defaults.Options) == 0 {
		return nil, err
	}
	for k, v := range d.Defaults.Options {
		if _, ok := options[k]; !ok {
			options[k] = v
		}
	}
	return options, nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func orInt(a, b int) int {
	if a != 0 {
		return a
	}
	return b
}

func homePath(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return home + "/" + rest
		}
	}
	return p
}

// TargetOf resolves how to reach a host outside an attempt (meta:
// reset_connection).
func (d *Deps) TargetOf(x *task.Executor, host string, t *playbook.Task) (*connection.Target, error) {
	a, err := x.Attempt(host, t)
	if err != nil {
		return nil, err
	}
	return d.target(a)
}
