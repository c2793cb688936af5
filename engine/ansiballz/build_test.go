package ansiballz

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"play/engine/modulefind"
)

func TestImportsOf(t *testing.T) {
	t.Parallel()
	source := `#!/usr/bin/python
"""import no.docstring
from no import docstring"""
from __future__ import annotations
import a.b, c.d as e  # import no.comment
from ansible.module_utils.basic import (
    AnsibleModule,  # one
    env_fallback as ef,
)
from . import near
from ..module_utils.x import \
    y
x = 'import no.string'; import f.g
try:
    import optional.one
except ImportError: import optional.two
def main():
    from later import *
    s = r'\'; s2 = "import no.more"
if True: from inline import q
importer = from_x = 1
`
	var got []string
	for _, i := range importsOf(source) {
		got = append(got, fmt.Sprintf("%s%v%t", i.module, i.names, i.optional))
	}
	want := []string{
		"__future__[annotations]false", "a.b[]false", "c.d[]false", "ansible.module_utils.basic[AnsibleModule env_fallback]false", ".[near]false",
		"..module_utils.x[y]false", "f.g[]false", "optional.one[]true", "optional.two[]true", "later[*]true", "inline[q]true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// world is a made-up ansible-core with collections.
var world = map[string]string{
	"site/ansible/release.py":                         "__version__ = '2.99.1'\n",
	"site/ansible/module_utils/basic.py":              "from ansible.module_utils.common import tools\nimport os\n",
	"site/ansible/module_utils/common/__init__.py":    "",
	"site/ansible/module_utils/common/tools.py":       "from .deeper import x\n",
	"site/ansible/module_utils/common/deeper.py":      "x = 1\n",
	"site/ansible/module_utils/six/__init__.py":       "",
	"site/ansible/module_utils/unused.py":             "",
	"site/ansible/config/ansible_builtin_runtime.yml": "plugin_routing:\n  module_utils:\n    moved: {redirect: ns.coll.shared}\n",
	"site/ansible/modules/m.py": "from ansible.module_utils.basic import AnsibleModule\nfrom ansible.module_utils.six.moves import urllib\n" +
		"from ansible.module_utils.moved import x\ntry:\n    from ansible.module_utils.nosuch import y\nexcept ImportError:\n    pass\n",
	"site/ansible/modules/bad.py":                                        "from ansible.module_utils.nosuch import y\n",
	"colls/ansible_collections/ns/coll/plugins/module_utils/shared.py":   "from ..module_utils.sub import leaf\n",
	"colls/ansible_collections/ns/coll/plugins/module_utils/sub/leaf.py": "",
	"colls/ansible_collections/ns/coll/plugins/modules/c.py":             "from ..module_utils import shared\nfrom ansible_collections.ns.coll.plugins.module_utils.sub.leaf import q\n",
	"own/common/tools.py":                                                "mine = 1\n",
}

func builder(t *testing.T) (*Builder, string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range world {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := &modulefind.Finder{Core: root + "/site/ansible", Collections: []string{root + "/colls"}}
	return &Builder{Finder: f, Cache: root + "/cache"}, root
}

func build1(t *testing.T, b *Builder, name string, utils ...string) (*Zip, map[string]string) {
	t.Helper()
	m, err := b.Finder.Find(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	z, err := b.Build(m, utils)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() + "/x"
	if err := z.Explode(dir); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(z.Data), int64(len(z.Data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range r.File {
		text, err := os.ReadFile(filepath.Join(dir, f.Name))
		if err != nil {
			t.Error(err)
		}
		files[f.Name] = string(text)
	}
	return z, files
}

func TestBuildFollowsImports(t *testing.T) {
	t.Parallel()
	b, _ := builder(t)
	z, files := build1(t, b, "m")
	for _, want := range []string{
		"ansible/__init__.py", "ansible/modules/__init__.py", "ansible/modules/m.py", "ansible/module_utils/__init__.py", "ansible/module_utils/basic.py",
		"ansible/module_utils/common/tools.py", "ansible/module_utils/common/deeper.py", "ansible/module_utils/six/__init__.py", "ansible/module_utils/moved.py",
		"ansible_collections/ns/coll/plugins/module_utils/shared.py", "ansible_collections/ns/coll/plugins/module_utils/sub/__init__.py",
		"ansible_collections/ns/coll/plugins/module_utils/sub/leaf.py", "ansible_collections/__init__.py", "ansible_collections/ns/coll/plugins/__init__.py",
	} {
		if _, ok := files[want]; !ok {
			t.Errorf("no %s", want)
		}
	}
	if _, ok := files["ansible/module_utils/unused.py"]; ok || z.Name != "ansible.modules.m" || !strings.Contains(files["ansible/__init__.py"], "2.99.1") {
		t.Errorf("%s %v", z.Name, files["ansible/__init__.py"])
	}
	if !strings.Contains(files["ansible/module_utils/moved.py"], "import ansible_collections.ns.coll.plugins.module_utils.shared as target") {
		t.Errorf("redirect: %s", files["ansible/module_utils/moved.py"])
	}
	if again, _ := build1(t, &Builder{Finder: b.Finder}, "m"); again.Hash != z.Hash {
		t.Error("the same files gave another zip")
	}
}

func TestBuildOwnUtilsWin(t *testing.T) {
	t.Parallel()
	b, root := builder(t)
	_, files := build1(t, b, "ns.coll.c", root+"/own")
	if files["ansible/module_utils/common/tools.py"] != "mine = 1\n" || files["ansible_collections/ns/coll/plugins/modules/c.py"] == "" {
		t.Errorf("%v", files)
	}
}

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	b, _ := builder(t)
	m, err := b.Finder.Find("bad", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(m, nil); err == nil || !strings.Contains(err.Error(), `cannot find "ansible.module_utils.nosuch"`) {
		t.Errorf("got %v", err)
	}
	none := &Builder{Finder: &modulefind.Finder{}}
	if _, err := none.Build(m, nil); !errors.Is(err, ErrNoCore) {
		t.Errorf("got %v", err)
	}
}

// TestCache: a zip is kept, and made anew when anything in it changes or
// something better appears.
func TestCache(t *testing.T) {
	t.Parallel()
	b, root := builder(t)
	utils := root + "/later"
	first, _ := build1(t, b, "m", utils)
	kept, _ := filepath.Glob(b.Cache + "/*")
	again := func() *Zip {
		z, _ := build1(t, &Builder{Finder: b.Finder, Cache: b.Cache}, "m", utils)
		return z
	}
	if len(kept) != 2 || again().Hash != first.Hash {
		t.Errorf("kept %v", kept)
	}
	if err := os.WriteFile(root+"/site/ansible/module_utils/common/deeper.py", []byte("x = 12345\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	second := again()
	if second.Hash == first.Hash {
		t.Error("a change was not seen")
	}
	if err := os.MkdirAll(utils+"/common", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(utils+"/common/deeper.py", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	third := again()
	if third.Hash == second.Hash {
		t.Error("a new file was not seen")
	}
	if err := os.WriteFile(filepath.Join(b.Cache, third.Hash+".zip"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again().Hash != third.Hash {
		t.Error("a damaged zip was used")
	}
}
