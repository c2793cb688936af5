package facts

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"play/modules/value"
)

// virtualization collects what a host runs on, and what runs on it. The first
// kind and role that are found count; further ones only add technologies.
type virtualization struct {
	h           *Host
	kind, role  string
	guest, host []string
}

func virtual(h *Host) *value.Dict {
	v := &virtualization{h: h}
	for _, look := range []func(){v.containers, v.vendors, v.hypervisorFiles, v.hosting} {
		look()
	}
	slices.Sort(v.guest)
	slices.Sort(v.host)
	if v.kind == "" {
		v.kind, v.role = "NA", "NA"
	}
	return value.DictOf("virtualization_type", v.kind, "virtualization_role", v.role,
		"virtualization_tech_guest", listOf(slices.Compact(v.guest)), "virtualization_tech_host", listOf(slices.Compact(v.host)))
}

// found notes technologies; the first is the kind unless one is known.
func (v *virtualization) found(role string, tech ...string) {
	if v.kind == "" {
		v.kind, v.role = tech[0], role
	}
	if role == "guest" {
		v.guest = append(v.guest, tech...)
	} else {
		v.host = append(v.host, tech...)
	}
}

func (v *virtualization) containers() {
	cgroup := v.h.read("/proc/1/cgroup") + "\n" + v.h.read("/proc/self/cgroup")
	switch {
	case regexp.MustCompile(`/docker(/|-[0-9a-f]+\.scope)`).MatchString(cgroup), v.h.exists("/.dockerenv"), v.h.exists("/.dockerinit"):
		v.found("guest", "docker", "container")
	case regexp.MustCompile(`/lxc/|/machine\.slice/machine-lxc`).MatchString(cgroup):
		v.found("guest", "lxc", "container")
	case strings.Contains(cgroup, "/system.slice/containerd.service"):
		v.found("guest", "containerd", "container")
	}
	for _, entry := range strings.Split(v.h.read("/proc/1/environ"), "\x00") {
		switch name, kind, _ := strings.Cut(entry, "="); {
		case name != "container":
		case kind == "lxc":
			v.found("guest", "lxc", "container")
		case kind == "podman" || kind == "oci":
			v.found("guest", "podman", "container")
		case kind != "":
			v.found("guest", "container")
		}
	}
	if v.h.exists("/run/systemd/container") && v.kind == "" {
		v.found("guest", v.h.readOr("/run/systemd/container", "container").(string), "container")
	}
	if v.h.exists("/proc/vz") && !v.h.exists("/proc/lve") {
		if v.h.exists("/proc/bc") {
			v.found("host", "openvz")
		} else {
			v.found("guest", "openvz", "container")
		}
	}
}

// vendors judges by the firmware's names.
func (v *virtualization) vendors() {
	const dir = "/sys/devices/virtual/dmi/id/"
	product, bios, vendor := v.h.read(dir+"product_name"), v.h.read(dir+"bios_vendor"), v.h.read(dir+"sys_vendor")
	family := v.h.read(dir + "product_family")
	for _, rule := range []struct {
		match bool
		tech  string
	}{
		{slices.Contains([]string{"KVM", "KVM Server", "Bochs", "AHV"}, product), "kvm"},
		{vendor == "oVirt" || family == "oVirt" || product == "RHEV Hypervisor", "RHEV"},
		{product == "RHEL-AV" || vendor == "Red Hat" && product != "" && strings.Contains(product, "KVM"), "kvm"},
		{slices.Contains([]string{"VMware Virtual Platform", "VMware7,1", "VMware20,1"}, product), "VMware"},
		{slices.Contains([]string{"OpenStack Compute", "OpenStack Nova"}, product), "openstack"},
		{bios == "Xen", "xen"}, {bios == "innotek GmbH", "virtualbox"},
		{slices.Contains([]string{"Amazon EC2", "DigitalOcean", "Hetzner"}, bios), "kvm"},
		{vendor == "Microsoft Corporation" && strings.Contains(product, "Virtual"), "VirtualPC"},
		{vendor == "Parallels Software International Inc." || vendor == "Parallels International GmbH.", "parallels"},
		{slices.Contains([]string{"QEMU", "Amazon EC2", "DigitalOcean", "Hetzner", "Scaleway", "Nutanix"}, vendor), "kvm"},
		{vendor == "OpenStack Foundation", "openstack"}, {vendor == "KubeVirt", "KubeVirt"}, {product == "Google Compute Engine" || vendor == "Google", "kvm"},
	} {
		if rule.match {
			v.found("guest", rule.tech)
		}
	}
}

// hypervisorFiles judges by what hypervisors leave in the system.
func (v *virtualization) hypervisorFiles() {
	if v.h.exists("/proc/xen") {
		if strings.Contains(v.h.read("/proc/xen/capabilities"), "control_d") {
			v.found("host", "xen")
		} else {
			v.found("guest", "xen")
		}
	}
	if id := regexp.MustCompile(`(?m)^VxID:\s+(\d+)`).FindStringSubmatch(v.h.read("/proc/self/status")); id != nil {
		if id[1] == "0" {
			v.found("host", "linux_vserver")
		} else {
			v.found("guest", "linux_vserver")
		}
	}
	cpu := v.h.read("/proc/cpuinfo")
	switch {
	case regexp.MustCompile(`(?m)^model name.*QEMU Virtual CPU|^model name.*Common KVM|^vendor_id.*User Mode Linux`).MatchString(cpu):
		if strings.Contains(cpu, "User Mode Linux") {
			v.found("guest", "uml")
		} else {
			v.found("guest", "kvm")
		}
	case regexp.MustCompile(`(?m)^machine.*CHRP IBM pSeries \(emulated by qemu\)`).MatchString(cpu):
		v.found("guest", "kvm")
	case strings.Contains(cpu, "PowerVM Lx86"):
		v.found("guest", "powervm_lx86")
	}
}

// hosting looks for virtual machines that this host could run, and at last for
// virtio devices, which tell of KVM.
func (v *virtualization) hosting() {
	if v.h.exists("/dev/kvm") {
		v.found("host", "kvm")
	}
	for _, line := range v.h.lines("/proc/modules") {
		module, _, _ := strings.Cut(line, " ")
		switch {
		case module == "kvm" && !slices.Contains(v.host, "kvm"):
			v.found("host", "kvm")
		case module == "vboxdrv":
			v.found("host", "virtualbox")
		case module == "virtio" && v.kind == "":
			v.found("guest", "kvm")
		}
	}
	if disks, _ := filepath.Glob(v.h.path("/dev/disk/by-id/*")); strings.Contains(strings.Join(disks, " "), "virtio") && v.kind == "" {
		v.found("guest", "kvm")
	}
}
