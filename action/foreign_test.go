package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/engine/modulefind"
)

// foreignWorld is a made-up ansible-core, a collection, and a playbook's library.
func foreignWorld(t *testing.T) (*Foreign, string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"core/ansible/release.py": "__version__ = '2.99'\n", "core/ansible/module_utils/basic.py": "",
		"core/ansible/modules/ping.py": "from ansible.module_utils.basic import AnsibleModule\n", "core/ansible/modules/shell.py": "# documentation\n",
		"core/ansible/modules/reboot.py":                    "# documentation\n",
		"core/ansible/module_utils/common/parameters.py":    "PASS_VARS = {'check_mode': 1}\n",
		"core/ansible_collections/a/b/plugins/modules/c.py": "from ansible.module_utils.basic import AnsibleModule\n",
		"core/ansible_collections/a/b/plugins/action/c.py":  "",
		"core/ansible_collections/a/b/plugins/modules/d.py": "from ansible.module_utils.basic import AnsibleModule\n",
		"book/library/mine":                                 "#!/bin/sh\n",
		"book/library/stat":                                 "#!/bin/sh\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := &Foreign{Finder: &modulefind.Finder{Core: root + "/core/ansible"}, Native: map[string]bool{"ping": true, "shell": true, "stat": true}}
	return f, root + "/book"
}

// TestChoose: one's own file, then the native module, then ansible-core's.
func TestChoose(t *testing.T) {
	t.Parallel()
	f, book := foreignWorld(t)
	for _, c := range []struct {
		short, name string
		prefer      bool
		want, err   string // the file's name; "" for native
	}{
		{"ping", "ping", false, "", ""},
		{"ping", "ping", true, "ping.py", ""},
		{"shell", "shell", true, "", ""},
		{"stat", "stat", false, "stat", ""},
		{"stat", "ansible.builtin.stat", false, "", ""},
		{"mine", "mine", false, "mine", ""},
		{"mine", "ansible.builtin.mine", false, "", "cannot find"},
		{"reboot", "reboot", false, "", "documentation only"},
		{"a.b.c", "a.b.c", false, "", "needs its action plugin"},
		{"a.b.d", "a.b.d", false, "d.py", ""},
	} {
		m, err := f.choose(c.short, c.name, []string{book}, c.prefer)
		got := ""
		if m != nil {
			got = filepath.Base(m.Path)
		}
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %q %v", c, got, err)
		}
	}
}

func TestInternalArgumentsOfOtherVersions(t *testing.T) {
	t.Parallel()
	f, _ := foreignWorld(t)
	if !f.passes("check_mode") || f.passes("target_log_info") {
		t.Error("an argument is passed that this ansible-core does not take, or the other way round")
	}
}
