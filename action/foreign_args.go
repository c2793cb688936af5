package action

import (
	"os"
	"path/filepath"
	"strings"

	"play/engine/modulefind"
	"play/engine/task"
	"play/modules/value"
)

// languageVersion is what modules are told when no ansible-core is installed.
const languageVersion = "2.14.18"

// foreignArgs are the arguments of the agent's _foreign.
func (d *Deps) foreignArgs(a *task.Attempt, m *modulefind.Module, p *parcel, chosen *chosen) (*value.Dict, error) {
	args := a.Args.Clone()
	hints, err := d.internal(a, m)
	if err != nil {
		return nil, err
	}
	for k, v := range hints.All() {
		name := value.Str(k)
		if p.kind != modulefind.Python || d.Foreign.passes(strings.TrimPrefix(name, "_ansible_")) {
			args.Set(name, v)
		}
	}
	r := &reach{a: a, on: a.Scope}
	mode := r.str("warm", "play_python")
	if r.err == nil && mode != "warm" && mode != "cold" {
		r.err = task.Failf("cannot run %q: play_python is %q, and can be warm or cold", m.Name, mode)
	}
	if r.err != nil {
		return nil, r.err
	}
	words := value.NewList()
	for _, w := range chosen.words {
		words.Append(w)
	}
	return value.DictOf("name", m.Name[strings.LastIndexByte(m.Name, '.')+1:], "kind", string(p.kind), "hash", p.hash,
		"package", p.pkg, "interpreter", words, "args", args, "keep", setting(a, "DEFAULT_KEEP_REMOTE_FILES", false), "cold", mode == "cold"), nil
}

// internal are the arguments that every module gets besides its own. The agent
// fills in the folder for scratch files.
func (d *Deps) internal(a *task.Attempt, m *modulefind.Module) (*value.Dict, error) {
	r := &reach{a: a, on: a.On}
	version := d.Foreign.Finder.Version()
	h := value.DictOf(
		"_ansible_check_mode", a.Check,
		"_ansible_no_log", a.NoLog || value.Truth(setting(a, "DEFAULT_NO_TARGET_SYSLOG", false)),
		"_ansible_debug", setting(a, "DEFAULT_DEBUG", false),
		"_ansible_diff", a.Diff,
		"_ansible_verbosity", a.Executor.Options.Verbosity,
		"_ansible_version", or(version, languageVersion),
		"_ansible_module_name", or(a.Task.Written, m.Name),
		"_ansible_syslog_facility", r.str(value.Str(setting(a, "DEFAULT_SYSLOG_FACILITY", "LOG_USER")), "ansible_syslog_facility"),
		"_ansible_selinux_special_fs", setting(a, "DEFAULT_SELINUX_SPECIAL_FS", value.NewList("fuse", "nfs", "vboxsf", "ramfs", "9p", "vfat")),
		"_ansible_string_conversion_action", setting(a, "STRING_CONVERSION_ACTION", "warn"),
		"_ansible_socket", nil,
		"_ansible_shell_executable", r.str(or(d.Defaults.Executable, "/bin/sh"), "ansible_shell_executable"),
		"_ansible_keep_remote_files", setting(a, "DEFAULT_KEEP_REMOTE_FILES", false),
		"_ansible_tmpdir", nil,
		"_ansible_remote_tmp", r.str(or(d.Defaults.RemoteTmp, "~/.ansible/tmp"), "ansible_remote_tmp"),
		"_ansible_target_log_info", nil,
		"_ansible_tracebacks_for", value.NewList(),
	)
	return h, r.err
}

// setting is a setting of the configuration, or def.
func setting(a *task.Attempt, name string, def any) any {
	if a.Jinja.Config != nil {
		if v, ok := a.Jinja.Config(name); ok && v != nil {
			return v
		}
	}
	return def
}

// passes reports whether the installed ansible-core takes an internal argument:
// it refuses those of other versions.
func (f *Foreign) passes(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.passed == "" {
		text, _ := os.ReadFile(filepath.Join(f.Finder.Core, "module_utils", "common", "parameters.py")) // checked below
		f.passed = string(text) + " "
	}
	return strings.Contains(f.passed, "'"+name+"':") || strings.Contains(f.passed, `"`+name+`":`)
}
