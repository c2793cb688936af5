package modulefind_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/engine/modulefind"
)

// tree makes files by path below a new folder.
func tree(t *testing.T, files map[string]string) string {
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
	return root
}

var world = map[string]string{
	"site/ansible/release.py":            "__version__ = '2.99.1'\n",
	"site/ansible/module_utils/basic.py": "",
	"site/ansible/modules/ping.py":       "",
	"site/ansible/modules/_aged.py":      "",
	"site/ansible/config/ansible_builtin_runtime.yml": `plugin_routing:
  modules:
    moved: {redirect: ns.coll.thing}
    gone: {tombstone: {removal_version: '2.0', warning_text: Use other.}}
    round: {redirect: ns.coll.round}
`,
	"colls/ansible_collections/ns/coll/plugins/modules/thing.py":      "",
	"colls/ansible_collections/ns/coll/plugins/modules/sub/deep.py":   "",
	"colls/ansible_collections/ns/coll/plugins/modules/windows.ps1":   "",
	"colls/ansible_collections/ns/coll/plugins/modules/documented.md": "",
	"colls/ansible_collections/ns/coll/meta/runtime.yml": `plugin_routing:
  modules:
    old: {redirect: ns.coll.older, deprecation: {removal_version: 9.0.0, warning_text: It is old.}}
    older: {redirect: ns.coll.thing, deprecation: {removal_date: '2030-01-01'}}
    round: {redirect: ansible.builtin.round}
    aged: {deprecation: {removal_version: 9.0.0}, redirect: ansible.builtin.aged}
`,
	"book/library/ping":                "#!/bin/sh\n",
	"book/library/ping.md":             "",
	"book/library/dashed-name.sh":      "",
	"book/roles/web/library/webmod.py": "",
	"book/roles/web/library/ping.pl":   "",
	"lib/libmod":                       "",
	"book/collections/ansible_collections/near/by/plugins/modules/m.py": "",
}

func finder(t *testing.T) (*modulefind.Finder, string) {
	root := tree(t, world)
	f := &modulefind.Finder{Library: []string{root + "/lib"}, Collections: []string{root + "/colls"}, Core: root + "/site/ansible"}
	f.AddPlaybook(root + "/book")
	return f, root
}

func TestFind(t *testing.T) {
	t.Parallel()
	f, root := finder(t)
	book, role := root+"/book", root+"/book/roles/web"
	for _, c := range []struct {
		name   string
		beside []string
		path   string
		pkg    string
	}{
		{"ping", []string{book}, "book/library/ping", "ansible.modules.ping"},
		{"ping", []string{role, book}, "book/roles/web/library/ping.pl", "ansible.modules.ping"},
		{"ansible.legacy.ping", []string{book}, "book/library/ping", "ansible.modules.ping"},
		{"ansible.builtin.ping", []string{role, book}, "site/ansible/modules/ping.py", "ansible.modules.ping"},
		{"aged", nil, "site/ansible/modules/_aged.py", "ansible.modules._aged"},
		{"libmod", nil, "lib/libmod", "ansible.modules.libmod"},
		{"dashed-name", nil, "book/library/dashed-name.sh", "ansible.modules.dashed-name"},
		{"webmod", []string{book}, "book/roles/web/library/webmod.py", "ansible.modules.webmod"},
		{"moved", nil, "colls/ansible_collections/ns/coll/plugins/modules/thing.py", "ansible_collections.ns.coll.plugins.modules.thing"},
		{"ns.coll.sub.deep", nil, "colls/ansible_collections/ns/coll/plugins/modules/sub/deep.py", "ansible_collections.ns.coll.plugins.modules.sub.deep"},
		{"ns.coll.windows", nil, "colls/ansible_collections/ns/coll/plugins/modules/windows.ps1", "ansible_collections.ns.coll.plugins.modules.windows"},
		{"near.by.m", nil, "book/collections/ansible_collections/near/by/plugins/modules/m.py", "ansible_collections.near.by.plugins.modules.m"},
		{"ns.coll.aged", nil, "site/ansible/modules/_aged.py", "ansible.modules._aged"},
	} {
		m, err := f.Find(c.name, c.beside)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, _ := filepath.Rel(root, m.Path); got != c.path || m.Package != c.pkg {
			t.Errorf("%s: %s %s", c.name, got, m.Package)
		}
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	f, _ := finder(t)
	for name, want := range map[string]string{
		"nosuch": "cannot find the module", "ns.coll.nosuch": `cannot find the module "ns.coll.nosuch"`, "ns.coll.documented": "cannot find",
		"no.such.thing": "the collection no.such is not on this machine", "gone": "Use other.", "round": "in a circle", "a.b": "cannot find",
		"../../etc/passwd": "cannot find", "": "cannot find",
	} {
		if m, err := f.Find(name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v %v", name, m, err)
		}
	}
	none := &modulefind.Finder{}
	var missing *modulefind.NotFound
	if _, err := none.Find("ping", nil); !errors.As(err, &missing) || !strings.Contains(missing.Hint, "apt install ansible-core") {
		t.Errorf("without ansible-core: %v", err)
	}
}

func TestDeprecations(t *testing.T) {
	t.Parallel()
	f, _ := finder(t)
	m, err := f.Find("ns.coll.old", nil)
	if err != nil || len(m.Deprecations) != 2 {
		t.Fatalf("%+v %v", m, err)
	}
	first, second := m.Deprecations[0], m.Deprecations[1]
	if first.Msg != "ns.coll.old has been deprecated. It is old." || first.Version != "9.0.0" || second.Date != "2030-01-01" || first.From != "ns.coll" {
		t.Errorf("%+v", m.Deprecations)
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	f, _ := finder(t)
	for name, want := range map[string]bool{"ping": true, "webmod": true, "nosuch": false, "ns.coll.thing": true, "moved": true, "gone": true, "ns.coll.none": false} {
		if f.Known(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
	if f.Version() != "2.99.1" {
		t.Errorf("version %q", f.Version())
	}
}

func TestFindCore(t *testing.T) {
	t.Parallel()
	root := tree(t, world)
	getenv := func(name string) string {
		if name == "PYTHONPATH" {
			return "/nosuch:" + root + "/site"
		}
		return ""
	}
	if got := modulefind.FindCore(getenv); got != root+"/site/ansible" {
		t.Errorf("got %q", got)
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]modulefind.Kind{
		"from ansible.module_utils.basic import AnsibleModule\n":             modulefind.Python,
		"from ansible.module_utils import basic\n":                           modulefind.Python,
		"import ansible.module_utils.basic\n":                                modulefind.Python,
		"from ..module_utils.x import y\n":                                   modulefind.Python,
		"from ansible_collections.a.b.plugins.module_utils.c import d\n":     modulefind.Python,
		"import ansible_collections.a.b.plugins.module_utils.c\n":            modulefind.Python,
		"#<<INCLUDE_ANSIBLE_MODULE_COMMON>>\n":                               modulefind.Python,
		"# POWERSHELL_COMMON\n":                                              modulefind.PowerShell,
		"#requires -module Ansible.ModuleUtils.Legacy\n":                     modulefind.PowerShell,
		"#AnsibleRequires -CSharpUtil Ansible.Basic\n":                       modulefind.PowerShell,
		"#!/bin/sh\necho '<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>' WANT_JSON\n": modulefind.JSONArgs,
		"#!/usr/bin/perl\n# WANT_JSON\n":                                     modulefind.WantJSON,
		"#!/bin/sh\n. $1\n":                                                  modulefind.Old,
		"import ansible\n":                                                   modulefind.Old,
		"":                                                                   modulefind.Old,
		"\x7fELF\x02\x01\x01\x00WANT_JSON":                                   modulefind.Binary,
		"#!/bin/sh\nécho \xff\x1b[0m\n":                                      modulefind.Old,
	} {
		if got := modulefind.KindOf([]byte(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestShebang(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"#!/usr/bin/python\n": "/usr/bin/python python", "#! /usr/bin/env perl -w\nx": "/usr/bin/env perl", "#!/opt/a/ruby2.7 -x": "/opt/a/ruby2.7 ruby2.7",
		"no": " .", "#!": " .", "#!'\n": " .",
	} {
		program, args := modulefind.Shebang([]byte(text))
		if got := program + " " + modulefind.InterpreterName(program, args); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
