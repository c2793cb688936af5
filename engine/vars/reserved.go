package vars

import "strings"

// reservedNames are the variables that say how a host is reached, who becomes
// whom and what is executed. Only the operator sets them: a fact of such a name
// is dropped (a host that could set ansible_ssh_common_args would run commands
// on the control machine).
var reservedNames = map[string]bool{
	"ansible_host": true, "ansible_port": true, "ansible_user": true, "ansible_password": true,
	"ansible_connection": true, "ansible_timeout": true, "ansible_remote_tmp": true,
	"ansible_async_dir": true, "ansible_pipelining": true, "ansible_private_key_file": true,
	"ansible_host_key_checking": true, "ansible_executable": true, "ansible_delegated_vars": true,
	"ansible_scp_if_ssh": true, "ansible_sftp_batch_mode": true, "ansible_playbook_python": true,
	"ansible_rsync_path": true, "ansible_check_mode": true, "ansible_diff_mode": true,
	"ansible_play_hosts": true, "ansible_play_batch": true, "ansible_version": true,
	"ansible_search_path": true, "ansible_run_tags": true, "ansible_facts": true,
	"inventory_hostname": true, "inventory_dir": true, "inventory_file": true,
	"group_names": true, "groups": true, "hostvars": true, "playbook_dir": true, "role_path": true,
	"vars": true, "omit": true,
}

// reservedPrefixes and reservedSuffixes cover the families of such names.
var (
	reservedPrefixes = []string{
		"ansible_ssh_", "ansible_become", "ansible_shell_", "ansible_su_", "ansible_sudo_",
		"ansible_winrm_", "ansible_paramiko_", "ansible_docker_", "ansible_podman_", "ansible_kubectl_",
		"ansible_chroot_", "ansible_local_",
	}
	reservedSuffixes = []string{"_interpreter"}
)

// publicFacts look like reserved names but are ordinary facts of a host.
var publicFacts = []string{"ansible_ssh_host_key_"}

// Reserved reports whether a host may not set the variable.
func Reserved(name string) bool {
	if reservedNames[name] {
		return true
	}
	for _, p := range publicFacts {
		if strings.HasPrefix(name, p) {
			return false
		}
	}
	for _, p := range reservedPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	if !strings.HasPrefix(name, "ansible_") {
		return false
	}
	for _, s := range reservedSuffixes {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}
