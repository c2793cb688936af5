package facts

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// collectors are all there are, in the order in which their facts are merged.
func collectors() []collector {
	return []collector{
		{name: "platform", aliases: []string{"architecture", "kernel", "kernel_version", "machine", "machine_id", "python_version", "system"}, min: true, run: asking(platform)},
		{name: "distribution", aliases: []string{"distribution_major_version", "distribution_release", "distribution_version", "os_family"}, min: true, run: simple(distribution)},
		{name: "lsb", min: true, run: asking(lsb)},
		{name: "user", aliases: []string{"effective_group_ids", "effective_user_id", "real_user_id", "user_dir", "user_gecos", "user_gid", "user_id", "user_shell", "user_uid"}, min: true, run: simple(user)},
		{name: "env", min: true, run: simple(environment)},
		{name: "date_time", min: true, run: simple(dateTime)},
		{name: "dns", min: true, run: simple(dns)},
		{name: "cmdline", min: true, run: simple(cmdline)},
		{name: "apparmor", min: true, run: simple(apparmor)},
		{name: "selinux", min: true, run: simple(selinux)},
		{name: "fips", min: true, run: simple(fips)},
		{name: "caps", aliases: []string{"system_capabilities", "system_capabilities_enforced"}, min: true, run: asking(capabilities)},
		{name: "python", min: true, run: simple(python)},
		{name: "pkg_mgr", min: true, needs: []string{"distribution"}, run: simple(packageManager)},
		{name: "service_mgr", min: true, needs: []string{"platform", "distribution"}, run: simple(serviceManager)},
		{name: "ssh_pub_keys", aliases: []string{"ssh_host_key_dsa_public", "ssh_host_key_ecdsa_public", "ssh_host_key_ed25519_public", "ssh_host_key_rsa_public", "ssh_host_pub_keys"}, min: true, run: simple(sshKeys)},
		{name: "local", min: true, run: local},
		{name: "chroot", aliases: []string{"is_chroot"}, run: simple(chroot)},
		{name: "loadavg", run: simple(loadAverage)},
		{name: "network", aliases: []string{"all_ipv4_addresses", "all_ipv6_addresses", "default_ipv4", "default_ipv6", "interfaces"}, needs: []string{"platform", "distribution"}, run: asking(network)},
		{name: "hardware", aliases: []string{"devices", "mounts", "processor", "processor_cores", "processor_count"}, needs: []string{"platform"}, run: hardware},
		{name: "virtual", aliases: []string{"virtualization_role", "virtualization_tech_guest", "virtualization_tech_host", "virtualization_type"}, run: simple(virtual)},
		{name: "iscsi", run: simple(iscsi)},
		{name: "nvme", run: simple(nvme)},
		{name: "fibre_channel_wwn", run: simple(fibreChannel)},
		{name: "facter", run: asking(facter)},
		{name: "ohai", run: asking(ohai)},
	}
}

// choose applies a gather_subset: "all" and names include, "!" excludes, and
// the minimal subset is there unless excluded.
func choose(all []collector, subsets []string) ([]collector, error) {
	include, exclude := map[string]bool{}, map[string]bool{}
	withMin := true
	for _, s := range subsets {
		name, out := strings.CutPrefix(strings.TrimSpace(s), "!")
		switch {
		case out && name == "min":
			withMin = false
		case name == "min", out && name == "all":
		case out:
			exclude[subsetOf(all, name)] = true
		case name == "all":
			for _, c := range all {
				include[c.name] = true
			}
		default:
			known := subsetOf(all, name)
			if known == "" {
				return nil, fmt.Errorf("Bad subset '%s' given to Ansible. gather_subset options allowed: all, %s", name, strings.Join(subsetNames(all), ", "))
			}
			include[known] = true
			delete(exclude, known)
		}
	}
	return pick(all, include, exclude, withMin), nil
}

func pick(all []collector, include, exclude map[string]bool, withMin bool) []collector {
	var chosen []collector
	for _, c := range all {
		wanted := include[c.name] || c.min && withMin
		if wanted && !exclude[c.name] {
			chosen = append(chosen, c)
		}
	}
	for _, c := range chosen {
		for _, need := range c.needs {
			if !slices.ContainsFunc(chosen, func(o collector) bool { return o.name == need }) {
				i := slices.IndexFunc(all, func(o collector) bool { return o.name == need })
				chosen = append(chosen, all[i])
			}
		}
	}
	return chosen
}

func subsetOf(all []collector, name string) string {
	for _, c := range all {
		if c.name == name || slices.Contains(c.aliases, name) {
			return c.name
		}
	}
	return ""
}

func subsetNames(all []collector) []string {
	var names []string
	for _, c := range all {
		names = append(append(names, c.name), c.aliases...)
	}
	sort.Strings(names)
	return names
}
