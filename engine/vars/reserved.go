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
	"vars": true, "omit": true, "ansible_module_compression": true, "ansible_network_os": true,
}

// reservedPrefixes and reservedSuffixes cover the families of such names; both
// stand behind "ansible_". Every kind of connection that is known anywhere has
// a family of its own.
var (
	reservedPrefixes = []string{
		"become", "shell_", "su_", "sudo_", "doas_", "runas_", "pbrun_", "pfexec_", "machinectl_", "ksu_", "dzdo_", "enable_",
		"aws_ssm_", "buildah_", "chroot_", "docker_", "docker_api_", "funcd_", "grpc_", "httpapi_", "iocage_", "jail_", "kubectl_",
		"libssh_", "libvirt_lxc_", "libvirt_qemu_", "local_", "lxc_", "lxd_", "netconf_", "network_cli_", "nspawn_", "nsenter_", "oc_",
		"paramiko_", "persistent_", "podman_", "psrp_", "qubes_", "saltstack_", "scp_", "sftp_", "ssh_", "vmware_tools_", "winrm_", "zone_",
	}
	reservedSuffixes = []string{"_interpreter", "_args", "_executable", "_pass", "_password", "_private_key_file"}
)

// publicSuffixes end the names of network devices, which may begin as a family
// does, and of which facts tell.
var publicSuffixes = []string{"_bridge", "_gwbridge"}

// Reserved reports whether a host may not set the variable.
func Reserved(name string) bool {
	if reservedNames[name] {
		return true
	}
	rest, ok := strings.CutPrefix(name, "ansible_")
	if !ok || strings.HasPrefix(rest, "ssh_host_key_") {
		return false
	}
	for _, s := range reservedSuffixes {
		if strings.HasSuffix(rest, s) {
			return true
		}
	}
	for _, s := range publicSuffixes {
		if strings.HasSuffix(rest, s) && !strings.HasPrefix(rest, "become") {
			return false
		}
	}
	for _, p := range reservedPrefixes {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	return false
}
