package action

import (
	"slices"
	"strings"
	"testing"

	"play/modules/value"
)

func TestPickPython(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode, found, platform, distro, version string
		path, warning                          string
	}{
		{"auto", "/usr/bin/python3.11 /usr/bin/python3", "linux", "debian", "12", "/usr/bin/python3", ""},
		{"auto", "/usr/bin/python3.6 /usr/libexec/platform-python", "linux", "rocky", "8.9", "/usr/libexec/platform-python", ""},
		{"auto", "/usr/bin/python2.7 /usr/bin/python", "linux", "centos", "7", "/usr/bin/python", ""},
		{"auto", "/usr/bin/python3.12 /usr/bin/python3", "linux", "ubuntu", "24.04", "/usr/bin/python3", ""},
		{"auto", "/opt/python3.11", "linux", "debian", "12", "/opt/python3.11", "should use /usr/bin/python3, but is using /opt/python3.11"},
		{"auto_silent", "/opt/python3.11", "linux", "debian", "12", "/opt/python3.11", ""},
		{"auto", "/usr/bin/python3", "linux", "nixos", "24", "/usr/bin/python3", "is using the discovered Python interpreter at /usr/bin/python3"},
		{"auto", "/usr/local/bin/python3.9", "freebsd", "", "", "/usr/local/bin/python3.9", "Platform freebsd on host web1"},
		{"auto_legacy", "/usr/bin/python3 /usr/bin/python", "linux", "debian", "12", "/usr/bin/python", "for backward compatibility"},
		{"auto_legacy_silent", "/usr/bin/python3 /usr/bin/python", "linux", "debian", "12", "/usr/bin/python", ""},
		{"auto", "", "linux", "debian", "12", "/usr/bin/python", "No python interpreters found for host web1 (tried ['python3.11'"},
	} {
		found := value.NewList()
		for _, p := range strings.Fields(c.found) {
			found.Append(p)
		}
		path, warning := pickPython("web1", c.mode, value.DictOf("found", found, "platform", c.platform, "distribution", c.distro, "version", c.version), pythons())
		if path != c.path || !strings.Contains(warning, c.warning) || c.warning == "" && warning != "" {
			t.Errorf("%+v: %s %q", c, path, warning)
		}
	}
}

func TestRestOfShebang(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{"/usr/bin/perl -w": "-w", "/usr/bin/env python -E": "-E", "/usr/bin/env": "", "/bin/sh": ""} {
		if got := restOf(strings.Fields(line)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", line, got)
		}
	}
}
