package facts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"play/modules/value"
)

// plain turns facts into what encoding/json would read.
func plain(t *testing.T, d *value.Dict) map[string]any {
	t.Helper()
	text, err := value.EncodeJSON(d, value.WireJSON())
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// tree makes a Host whose files are the given ones.
func tree(t *testing.T, files map[string]string) *Host {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &Host{Root: root}
}

// TestDistributions compares with the recorded answers of ansible-core 2.14.18,
// see testdata/record_distributions.py.
func TestDistributions(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/distributions.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name  string
		Files map[string]string
		Facts map[string]any
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for name, text := range c.Files {
				files["etc/"+name] = text
			}
			if got := plain(t, distribution(tree(t, files))); !reflect.DeepEqual(got, c.Facts) {
				t.Errorf("got  %v\nwant %v", got, c.Facts)
			}
		})
	}
}

func TestPackageAndServiceManager(t *testing.T) {
	t.Parallel()
	rocky := "Rocky Linux release 8.7 (Green Obsidian)\n"
	for _, c := range []struct {
		name          string
		files         map[string]string
		pkgs, service string
	}{
		{"debian", map[string]string{"etc/os-release": "ID=debian\nNAME=Debian\n", "usr/bin/apt-get": "", "proc/1/comm": "systemd\n"}, "apt", "systemd"},
		{"rocky", map[string]string{"etc/redhat-release": rocky, "usr/bin/dnf": "", "usr/bin/yum": "", "proc/1/comm": "systemd\n"}, "dnf", "systemd"},
		{"centos 7", map[string]string{"etc/redhat-release": "CentOS Linux release 7.9.2009 (Core)\n", "usr/bin/yum": "", "usr/bin/dnf": ""}, "yum", "service"},
		{"alpine", map[string]string{"etc/alpine-release": "3.18.4\n", "sbin/apk": "", "proc/1/comm": "init\n", "sbin/openrc": ""}, "apk", "openrc"},
		{"container", map[string]string{"etc/os-release": "ID=ubuntu\nNAME=Ubuntu\n", "usr/bin/apt-get": "", "proc/1/comm": "bash\n", "etc/init.d/x": ""}, "apt", "sysvinit"},
		{"hidden systemd", map[string]string{"proc/1/comm": "init\n", "usr/bin/systemctl": "", "run/systemd/system/x": ""}, "unknown", "systemd"},
		{"runit", map[string]string{"etc/os-release": "ID=void\nNAME=Void\n", "usr/bin/xbps-install": "", "proc/1/comm": "runit-init\n"}, "xbps", "runit"},
	} {
		h := tree(t, c.files)
		if got, _ := packageManager(h).Get("pkg_mgr"); got != c.pkgs {
			t.Errorf("%s: pkg_mgr %v, want %s", c.name, got, c.pkgs)
		}
		if got, _ := serviceManager(h).Get("service_mgr"); got != c.service {
			t.Errorf("%s: service_mgr %v, want %s", c.name, got, c.service)
		}
	}
}
