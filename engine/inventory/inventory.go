// Package inventory knows the hosts of a run, their groups and the variables
// that come with them. Flowing in: inventory sources (INI and YAML files,
// scripts, folders of these, host lists), group_vars and host_vars folders.
// Flowing out: hosts matched by a pattern, and for a host its layers of
// variables with their origins, lowest precedence first. The layers are merged
// elsewhere; this package evaluates no template and contacts no host.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"play/engine/jinja"
	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// Options are what loading an inventory needs of its surroundings.
type Options struct {
	// Env compiles the templates in loaded values; nil: all values are data.
	Env *jinja.Env
	// Vault decrypts vault values and vault files; nil: they are errors.
	Vault yamlload.Decrypter
	// Dir is where relative sources are found; "" is the process's folder.
	Dir string
	// Warn receives warnings worded as Ansible words them; nil drops them.
	Warn func(msg string)
	// Context ends inventory scripts; nil means background.
	Context context.Context
	// Environ is the environment of inventory scripts; nil: that of the process.
	Environ []string
	// Plugin runs the plugin that a file names and that is not built in; it
	// returns what a script would print. nil: such a file is an error.
	Plugin func(path string) (*value.Dict, error)
	// InvalidGroupChars is TRANSFORM_INVALID_GROUP_CHARS: "ignore" and
	// "silently" keep quiet about group names that are no identifiers, every
	// other value warns; "always" and "silently" replace the characters by "_".
	InvalidGroupChars string
	// VarsPlugins are asked for variables besides those of vars files; nil: there
	// are none.
	VarsPlugins VarsPlugins
	// HashMerge is hash_behaviour=merge; the layers stay apart, but for what is
	// shown and constructed.
	HashMerge bool
	// Extra are the extra vars: constructed sources that use them see them, and so
	// do all of them with UseExtra.
	Extra    *value.Dict
	UseExtra bool
	// Facts are the facts that are kept of a host from earlier runs, which
	// constructed sources see; nil: there are none.
	Facts func(host string) *value.Dict
	// VarsFiles says how group_vars and host_vars count.
	VarsFiles VarsFiles
	// Unparsed says what it means that a source is not there.
	Unparsed Unparsed
	// PatternMismatch says what becomes of a pattern that matches nothing: "error"
	// fails, "ignore" keeps quiet, and every other value warns.
	PatternMismatch string
	// IgnoreSuffixes end the names of files that are passed over in a folder of
	// sources; nil: the usual ones. IgnorePatterns are regular expressions of Python
	// that match anywhere in such names.
	IgnoreSuffixes, IgnorePatterns []string
}

// Unparsed says what sources mean that cannot be found.
type Unparsed struct {
	AllFail bool // none of them can be read: an error
	AnyFail bool // one of them cannot: an error
	Quiet   bool // nothing is said when none can be read
}

// Inventory is the hosts and groups of a run. It is safe for concurrent use:
// AddHost and AddToGroup may run while others match patterns and read layers.
type Inventory struct {
	opts    Options
	loader  *yamlload.Loader
	sources []string // absolute paths, and host lists as given
	origin  *Layer   // inventory_file and inventory_dir of the hosts made now
	dirs    []string // folders whose group_vars and host_vars belong to the inventory
	files   *varsFiles

	mu        sync.RWMutex
	hosts     map[string]*Host
	hostList  []*Host
	groups    map[string]*Group
	groupList []*Group
	local     *Host // what the name localhost stands for: a host of the sources, or the implicit one once made
	changes   uint64
	badNames  bool            // a group name that is no identifier was warned of
	parsed    bool            // a source was read
	sameNames map[string]bool // of hosts and groups, warned of
	// pluginLayers keeps what vars plugins said: []*Layer by folder, stage and names.
	pluginLayers sync.Map
}

// Load reads the sources in order. A source is a path or a list of hosts with
// a comma in it. A source that does not exist is warned of; one that cannot be
// read is a *source.Error.
func Load(sources []string, opts Options) (*Inventory, error) {
	inv := newInventory(opts)
	for _, s := range sources {
		if err := inv.loadSource(s); err != nil {
			return nil, err
		}
	}
	inv.origin = originLayer(nil, nil)
	if err := inv.settle(); err != nil {
		return nil, err
	}
	return inv, inv.anyParsed(len(sources))
}

// anyParsed judges that none of the sources could be read.
func (inv *Inventory) anyParsed(sources int) error {
	switch {
	case sources == 0 || inv.parsed:
	case inv.opts.Unparsed.AllFail:
		//lint:ignore ST1005 Ansible's own words
		return errors.New("No inventory was parsed, please check your configuration and options.")
	case !inv.opts.Unparsed.Quiet:
		inv.warn("No inventory was parsed, only implicit localhost is available")
	}
	return nil
}

func newInventory(opts Options) *Inventory {
	inv := &Inventory{opts: opts, hosts: map[string]*Host{}, groups: map[string]*Group{},
		sameNames: map[string]bool{}}
	inv.loader = &yamlload.Loader{Env: opts.Env, Vault: opts.Vault, Warn: func(msg string, pos source.Pos) {
		inv.warn("%s: %s", pos, msg)
	}}
	inv.files = newVarsFiles(inv.loader, inv.warn)
	all, ungrouped := inv.group("all"), inv.group("ungrouped")
	all.children, ungrouped.parents = []*Group{ungrouped}, []*Group{all}
	return inv
}

// Sources returns the sources: absolute paths, and host lists as given
// (ansible_inventory_sources).
func (inv *Inventory) Sources() []string { return slices.Clone(inv.sources) }

// Dir returns the folder of the first source that is a path (inventory_dir),
// or "".
func (inv *Inventory) Dir() string {
	if len(inv.dirs) == 0 {
		return ""
	}
	return inv.dirs[0]
}

func (inv *Inventory) warn(format string, args ...any) {
	if inv.opts.Warn != nil {
		inv.opts.Warn(fmt.Sprintf(format, args...))
	}
}

// Hosts returns every host of the sources in the order of their appearance.
func (inv *Inventory) Hosts() []*Host {
	inv.mu.RLock()
	defer inv.mu.RUnlock()
	return slices.Clone(inv.hostList)
}

// HostNames returns the names of Hosts.
func (inv *Inventory) HostNames() []string { return hostNames(inv.Hosts()) }

func hostNames(hosts []*Host) []string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.Name
	}
	return names
}

// Host finds a host by name. The names of localhost are always found: the
// implicit one is made when no source has them.
func (inv *Inventory) Host(name string) (*Host, bool) {
	inv.mu.RLock()
	h, ok := inv.lookup(name)
	inv.mu.RUnlock()
	if !ok && slices.Contains(localNames, name) {
		return inv.Localhost(name), true
	}
	return h, ok
}

// HasHost reports whether Host would find name.
func (inv *Inventory) HasHost(name string) bool {
	_, ok := inv.Host(name)
	return ok
}

func (inv *Inventory) lookup(name string) (*Host, bool) {
	if h, ok := inv.hosts[name]; ok {
		return h, true
	}
	if inv.local != nil && inv.local.Name == name {
		return inv.local, true
	}
	return nil, false
}

// Groups returns every group in the order of its appearance; all and ungrouped
// come first.
func (inv *Inventory) Groups() []*Group {
	inv.mu.RLock()
	defer inv.mu.RUnlock()
	return slices.Clone(inv.groupList)
}

// Group finds a group by name.
func (inv *Inventory) Group(name string) (*Group, bool) {
	inv.mu.RLock()
	defer inv.mu.RUnlock()
	g, ok := inv.groups[name]
	return g, ok
}

// host finds or makes a host; port 0 means none given. The caller holds mu, or
// is still loading.
func (inv *Inventory) host(name string, port int) *Host {
	if h, ok := inv.hosts[name]; ok {
		return h
	}
	h := &Host{Name: name, Port: port, inv: inv, origin: inv.origin}
	inv.hosts[name] = h
	inv.hostList = append(inv.hostList, h)
	if slices.Contains(localNames, name) {
		if inv.local != nil && !inv.local.Implicit {
			inv.warn("A duplicate localhost-like entry was found (%s). First found localhost was %s", name, inv.local.Name)
		} else {
			inv.local = h
		}
	}
	return h
}

// group finds or makes a group. The caller holds mu, or is still loading.
func (inv *Inventory) group(name string) *Group {
	if g, ok := inv.groups[name]; ok {
		return g
	}
	g := &Group{Name: name, inv: inv, priority: 1}
	inv.groups[name] = g
	inv.groupList = append(inv.groupList, g)
	return g
}
