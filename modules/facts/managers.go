package facts

import (
	"strings"

	"play/modules/value"
)

// packageManager names the program that installs packages.
func packageManager(h *Host) *value.Dict {
	found := "unknown"
	for _, m := range []struct{ path, name string }{
		{"/usr/bin/rpm-ostree", "atomic_container"}, {"/usr/bin/yum", "yum"}, {"/usr/bin/dnf", "dnf"}, {"/usr/bin/apt-get", "apt"},
		{"/usr/bin/zypper", "zypper"}, {"/usr/sbin/urpmi", "urpmi"}, {"/usr/bin/pacman", "pacman"}, {"/bin/opkg", "opkg"},
		{"/usr/pkg/bin/pkgin", "pkgin"}, {"/opt/local/bin/pkgin", "pkgin"}, {"/opt/tools/bin/pkgin", "pkgin"}, {"/opt/local/bin/port", "macports"},
		{"/usr/local/bin/brew", "homebrew"}, {"/opt/homebrew/bin/brew", "homebrew"}, {"/sbin/apk", "apk"}, {"/usr/sbin/pkg", "pkgng"},
		{"/usr/sbin/swlist", "swdepot"}, {"/usr/bin/emerge", "portage"}, {"/usr/sbin/pkgadd", "svr4pkg"}, {"/usr/bin/pkg", "pkg5"},
		{"/usr/bin/xbps-install", "xbps"}, {"/usr/local/sbin/pkg", "pkgng"}, {"/usr/bin/swupd", "swupd"}, {"/usr/sbin/sorcery", "sorcery"},
		{"/usr/bin/installp", "installp"}, {"/QOpenSys/pkgs/bin/yum", "yum"},
	} {
		if h.exists(m.path) {
			found = m.name
		}
	}
	r := h.release()
	switch family(r.name) {
	case "RedHat":
		found = h.redhatManager(r, found)
	case "Debian":
		if h.exists("/usr/bin/apt-get") {
			found = "apt"
		}
	case "Altlinux":
		if found == "apt" {
			found = "apt_rpm"
		}
	}
	return value.DictOf("pkg_mgr", found)
}

// redhatManager chooses between dnf5, dnf and yum, of which several may exist.
func (h *Host) redhatManager(r release, found string) string {
	if h.exists("/run/ostree-booted") {
		return "atomic_container"
	}
	if found == "apt" || found == "unknown" || found == "yum" || found == "dnf" || found == "atomic_container" {
		switch major, _, _ := strings.Cut(r.version, "."); {
		case h.linkBase("/usr/bin/dnf") == "dnf5":
			return "dnf5"
		case h.exists("/usr/bin/dnf") && !(r.name == "CentOS" && major == "7") && !(r.name == "RedHat" && major == "7"):
			return "dnf"
		case h.exists("/usr/bin/yum"):
			return "yum"
		}
	}
	return found
}

// serviceManager names the program that runs services: process 1, or what the
// files tell when process 1 hides it.
func serviceManager(h *Host) *value.Dict {
	name := strings.TrimSpace(h.read("/proc/1/comm"))
	if known, ok := map[string]string{"procd": "openwrt_init", "runit-init": "runit", "svscan": "svc", "openrc-init": "openrc"}[name]; ok {
		name = known
	}
	if name != "" && name != "init" && !strings.HasSuffix(name, "sh") && !strings.Contains(name, "COMMAND") {
		return value.DictOf("service_mgr", name)
	}
	return value.DictOf("service_mgr", h.serviceManagerByFiles())
}

func (h *Host) serviceManagerByFiles() string {
	systemctl := h.exists("/usr/bin/systemctl") || h.exists("/bin/systemctl")
	for _, canary := range []string{"/run/systemd/system", "/dev/.run/systemd", "/dev/.systemd"} {
		if systemctl && h.exists(canary) {
			return "systemd"
		}
	}
	switch {
	case (h.exists("/sbin/initctl") || h.exists("/usr/sbin/initctl")) && h.isDir("/etc/init"):
		return "upstart"
	case h.exists("/sbin/openrc"):
		return "openrc"
	case systemctl && h.linkBase("/sbin/init") == "systemd":
		return "systemd"
	case h.isDir("/etc/init.d"):
		return "sysvinit"
	}
	return "service"
}
