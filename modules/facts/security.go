package facts

import (
	"context"
	"strconv"
	"strings"

	"play/modules/value"
)

func apparmor(h *Host) *value.Dict {
	status := "disabled"
	if h.exists("/sys/kernel/security/apparmor") {
		status = "enabled"
	}
	return value.DictOf("apparmor", value.DictOf("status", status))
}

// selinux is read from the kernel and the configuration; no library is needed.
func selinux(h *Host) *value.Dict {
	d := value.NewDict()
	if !h.exists("/sys/fs/selinux/enforce") {
		d.Set("status", "disabled")
		return value.DictOf("selinux_python_present", true, "selinux", d)
	}
	d.Set("status", "enabled")
	version, err := strconv.Atoi(h.read("/sys/fs/selinux/policyvers"))
	if err == nil {
		d.Set("policyvers", version)
	} else {
		d.Set("policyvers", "unknown")
	}
	config := map[string]string{}
	for _, line := range h.lines("/etc/selinux/config") {
		key, val, _ := strings.Cut(line, "=")
		config[strings.TrimSpace(key)] = strings.TrimSpace(val)
	}
	mode := config["SELINUX"]
	if mode == "" {
		mode = "unknown"
	}
	d.Set("config_mode", mode)
	switch h.read("/sys/fs/selinux/enforce") {
	case "1":
		d.Set("mode", "enforcing")
	case "0":
		d.Set("mode", "permissive")
	default:
		d.Set("mode", "unknown")
	}
	policy := config["SELINUXTYPE"]
	if policy == "" {
		policy = "unknown"
	}
	d.Set("type", policy)
	return value.DictOf("selinux_python_present", true, "selinux", d)
}

func fips(h *Host) *value.Dict {
	return value.DictOf("fips", h.read("/proc/sys/crypto/fips_enabled") == "1")
}

// capabilities are those of the agent's process, as capsh names them.
func capabilities(ctx context.Context, h *Host) *value.Dict {
	out := h.ask(ctx, "capsh", "--print")
	if out == "" {
		return value.DictOf("system_capabilities_enforced", "N/A", "system_capabilities", value.NewList())
	}
	for line := range strings.Lines(out) {
		current, ok := strings.CutPrefix(strings.TrimSpace(line), "Current:")
		if !ok {
			continue
		}
		current = strings.TrimSpace(current)
		if current == "=ep" {
			return value.DictOf("system_capabilities_enforced", "False", "system_capabilities", value.NewList())
		}
		caps := value.NewList()
		_, names, _ := strings.Cut(current, "=")
		for _, name := range strings.Split(names, ",") {
			caps.Append(strings.TrimSpace(name))
		}
		return value.DictOf("system_capabilities_enforced", "True", "system_capabilities", caps)
	}
	return value.DictOf("system_capabilities_enforced", "NA", "system_capabilities", value.NewList())
}
