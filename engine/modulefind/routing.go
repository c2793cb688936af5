package modulefind

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxHops bounds a chain of redirects.
const maxHops = 10

// routing is the part of meta/runtime.yml that modules need.
type routing struct {
	Plugins struct {
		Modules     map[string]*entry `yaml:"modules"`
		ModuleUtils map[string]*entry `yaml:"module_utils"`
	} `yaml:"plugin_routing"`
}

// entry says what became of a name.
type entry struct {
	Redirect    string  `yaml:"redirect"`
	Deprecation *notice `yaml:"deprecation"`
	Tombstone   *notice `yaml:"tombstone"`
}

// notice is the text of a deprecation or of a removal.
type notice struct {
	Text    string `yaml:"warning_text"`
	Version string `yaml:"removal_version"`
	Date    string `yaml:"removal_date"`
}

// routing reads a collection's routing once; a collection without one has an
// empty one.
func (f *Finder) routing(coll string) *routing {
	f.mu.Lock()
	if r := f.routes[coll]; r != nil {
		f.mu.Unlock()
		return r
	}
	f.mu.Unlock()
	r := &routing{}
	if text, err := os.ReadFile(f.RoutingFile(coll)); err == nil {
		_ = yaml.Unmarshal(text, r) // what cannot be read routes nothing, as in Ansible
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.routes == nil {
		f.routes = map[string]*routing{}
	}
	f.routes[coll] = r
	return r
}

// RoutingFile is the file of a collection's routing, whether it exists or not.
func (f *Finder) RoutingFile(coll string) string {
	if coll == "ansible.builtin" {
		return filepath.Join(f.Core, "config", "ansible_builtin_runtime.yml")
	}
	return filepath.Join(f.Root(coll), "meta", "runtime.yml")
}

// trail is what was met on the way to a module.
type trail struct {
	notes []Deprecation
	hops  int
}

// routed follows the routing of a name. A *NotFound means that it leads nowhere
// else; t then has the deprecation of the name itself.
func (f *Finder) routed(coll, name string, t *trail) (*Module, error) {
	full := coll + "." + name
	e := f.routing(coll).Plugins.Modules[name]
	if e == nil {
		return nil, f.missing(coll, full)
	}
	if gone := e.Tombstone; gone != nil {
		return nil, fmt.Errorf("the module %q was removed: %s", full, gone.said(full+" has been removed."))
	}
	if d := e.Deprecation; d != nil {
		t.notes = append(t.notes, Deprecation{Msg: d.said(full + " has been deprecated."), Version: d.Version, Date: d.Date, From: coll})
	}
	if e.Redirect == "" {
		return nil, f.missing(coll, full)
	}
	if t.hops++; t.hops > maxHops {
		return nil, fmt.Errorf("the module %q is redirected in a circle", full)
	}
	return f.collection(e.Redirect, t)
}

// Redirected follows the routing of a full name to where it ends, whether there
// is a file or not; a name that leads nowhere else, or was removed, is itself.
func (f *Finder) Redirected(full string) string {
	for range maxHops {
		parts := strings.SplitN(full, ".", 3)
		if len(parts) < 3 {
			break
		}
		e := f.routing(parts[0] + "." + parts[1]).Plugins.Modules[parts[2]]
		if e == nil || e.Tombstone != nil || e.Redirect == "" {
			break
		}
		full = e.Redirect
	}
	return full
}

// UtilsRedirect is where the routing sends a name under a collection's
// module_utils ("ansible.builtin" for ansible-core), as a dotted Python name or
// "ns.coll.name"; "" when nowhere.
func (f *Finder) UtilsRedirect(coll, name string) string {
	if e := f.routing(coll).Plugins.ModuleUtils[name]; e != nil && e.Tombstone == nil {
		return e.Redirect
	}
	return ""
}

func (n *notice) said(def string) string {
	if n.Text == "" {
		return def
	}
	return def + " " + n.Text
}
