package ansiballz

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"play/engine/modulefind"
)

// walk follows imports from one module and gathers the files of its zip.
type walk struct {
	finder *modulefind.Finder
	utils  []string
	files  []file
	done   map[string]bool // by dotted name
	looked []looked        // every path that decided something
}

const (
	coreUtils = "ansible.module_utils"
	hopLimit  = 10
)

// module adds the module itself, what AnsibleModule needs, and all they import.
func (w *walk) module(m *modulefind.Module) error {
	text, err := w.read(m.Path)
	if err != nil {
		return err
	}
	text = modulefind.Expand(text)
	w.put("ansible", true, packageText(w.finder.Version()))
	w.put(coreUtils, true, packageText(""))
	if err := w.parents(m.Package); err != nil {
		return err
	}
	w.put(m.Package, false, text)
	if err := w.follow(m.Package, false, text); err != nil {
		return err
	}
	return w.need(coreUtils+".basic", false)
}

// packageText is a package that a host's own ansible may complete.
func packageText(version string) []byte {
	text := "import pkgutil\n__path__ = pkgutil.extend_path(__path__, __name__)\n"
	if version != "" {
		text += fmt.Sprintf("__version__ = %q\n__author__ = 'Ansible, Inc.'\n", version)
	}
	return []byte(text)
}

// put adds a file for a dotted name.
func (w *walk) put(name string, pkg bool, text []byte) {
	w.done[name] = true
	path := strings.ReplaceAll(name, ".", "/")
	if pkg {
		path += "/__init__"
	}
	w.files = append(w.files, file{path + ".py", text})
}

// parents adds the packages around a dotted name.
func (w *walk) parents(name string) error {
	for i, c := range name {
		if c != '.' || w.done[name[:i]] {
			continue
		}
		pkg := name[:i]
		found := w.find(pkg)
		if found == nil || !found.pkg {
			found = &located{pkg: true}
		}
		if err := w.take(pkg, found); err != nil {
			return err
		}
	}
	return nil
}

// take adds what was found for a name, and follows its imports.
func (w *walk) take(name string, found *located) error {
	w.put(name, found.pkg, found.text)
	return w.follow(name, found.pkg, found.text)
}

// follow adds what a file imports.
func (w *walk) follow(name string, pkg bool, text []byte) error {
	for _, i := range importsOf(string(text)) {
		base := absolute(i.module, name, pkg)
		if !carried(base) && !(base == "ansible" && i.names != nil) {
			continue
		}
		if err := w.imported(base, &i); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// imported adds the modules of one statement.
func (w *walk) imported(base string, i *imported) error {
	if i.names == nil {
		return w.need(base, i.optional)
	}
	whole := true // the module itself holds one of the names
	for _, n := range i.names {
		sub := base + "." + n
		if n == "*" || !carried(sub) {
			continue
		}
		if w.done[sub] || w.find(sub) != nil {
			whole = false
			if err := w.need(sub, i.optional); err != nil {
				return err
			}
		}
	}
	if whole && carried(base) {
		return w.need(base, i.optional)
	}
	return nil
}

// absolute is the dotted name of an import that stands in the file called name.
func absolute(module, name string, pkg bool) string {
	rest := strings.TrimLeft(module, ".")
	level := len(module) - len(rest)
	if level == 0 {
		return module
	}
	parts := strings.Split(name, ".")
	if pkg {
		level--
	}
	if level > len(parts) {
		return ""
	}
	parts = parts[:len(parts)-level]
	if rest != "" {
		parts = append(parts, rest)
	}
	return strings.Join(parts, ".")
}

// carried tells whether a dotted name is a module_util, which travels along.
func carried(name string) bool {
	if name == coreUtils || strings.HasPrefix(name, coreUtils+".") {
		return true
	}
	parts := strings.Split(name, ".")
	return len(parts) >= 5 && parts[0] == "ansible_collections" && parts[3] == "plugins" && parts[4] == "module_utils"
}

// need adds a module_util. One that a module can do without may be missing.
func (w *walk) need(name string, optional bool) error {
	if w.done[name] {
		return nil
	}
	if strings.HasPrefix(name, coreUtils+".six.") { // it makes its own modules at run time
		name = coreUtils + ".six"
		if w.done[name] {
			return nil
		}
	}
	found := w.find(name)
	if found == nil {
		if optional {
			return nil
		}
		return fmt.Errorf("cannot find %q, which it imports", name)
	}
	if err := w.parents(name); err != nil {
		return err
	}
	if w.done[name] { // a parent imported it
		return nil
	}
	return w.take(name, found)
}

// located is the source of a dotted name.
type located struct {
	text []byte
	pkg  bool
}

// find locates a dotted name; nil when there is none.
func (w *walk) find(name string) *located {
	if rest, ok := strings.CutPrefix(name, coreUtils+"."); ok {
		for _, dir := range append(w.utils[:len(w.utils):len(w.utils)], filepath.Join(w.finder.Core, "module_utils")) {
			if l := w.at(dir, rest); l != nil {
				return l
			}
		}
		return w.redirected(name, "ansible.builtin", rest)
	}
	parts := strings.SplitN(name, ".", 4)
	if parts[0] != "ansible_collections" || len(parts) < 4 {
		return nil
	}
	coll := parts[1] + "." + parts[2]
	utils, isUtils := strings.CutPrefix(parts[3], "plugins.module_utils.")
	if coll == "ansible.builtin" && isUtils {
		return shim(name, coreUtils+"."+utils)
	}
	if isUtils {
		if l := w.redirected(name, coll, utils); l != nil {
			return l
		}
	}
	root := w.finder.Root(coll)
	if root == "" {
		return nil
	}
	return w.at(root, parts[3])
}

// at locates a dotted name under a folder: a package before a module.
func (w *walk) at(dir, rest string) *located {
	path := filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(rest, ".", "/")))
	if text, err := w.read(filepath.Join(path, "__init__.py")); err == nil {
		return &located{text, true}
	}
	if text, err := w.read(path + ".py"); err == nil {
		return &located{text, false}
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &located{nil, true}
	}
	return nil
}

// redirected stands for a name that the routing sends elsewhere.
func (w *walk) redirected(name, coll, rest string) *located {
	w.looked = append(w.looked, look(w.finder.RoutingFile(coll)))
	to := w.finder.UtilsRedirect(coll, rest)
	if to == "" {
		return nil
	}
	if !strings.HasPrefix(to, "ansible_collections.") && !strings.HasPrefix(to, "ansible.module_utils.") {
		parts := strings.SplitN(to, ".", 3)
		if len(parts) < 3 {
			return nil
		}
		to = "ansible_collections." + parts[0] + "." + parts[1] + ".plugins.module_utils." + parts[2]
	}
	if to == name {
		return nil
	}
	return shim(name, to)
}

// shim is a module that puts another one in its place.
func shim(name, to string) *located {
	return &located{fmt.Appendf(nil, "import sys\nimport %s as target\nsys.modules[%q] = target\n", to, name), false}
}
