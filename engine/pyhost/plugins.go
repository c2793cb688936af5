package pyhost

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"play/engine/inventory"
	"play/engine/jinja"
	"play/modules/value"
)

// Options is what a Host needs to know.
type Options struct {
	Context     context.Context // its end ends Python
	Core        string          // the folder of the installed Python package "ansible"; "": none
	Env         []string        // the environment of Python
	Collections []string        // folders that hold ansible_collections
	// Folders hold the operator's plugins by kind: "filter", "test", "lookup",
	// "inventory", "vars", "callback".
	// Those that do not exist count for nothing, the first one wins.
	Folders map[string][]string
	// Root is the folder of a collection "ns.coll", or "".
	Root func(coll string) string
	Warn func(msg string)
}

// Host finds and runs plugins. It is safe for concurrent use.
type Host struct {
	o    Options
	text map[string]string // by kind: the source of the plugins in the folders

	mu      sync.Mutex
	process *process
	err     error // Python cannot be started
	names   map[string]map[string]bool
	far     map[string]bool // names in collections, by kind and name

	passwords *value.List // of vaults: [label, password in base64]
	decrypted func(plain []byte)
}

// Password is one of a vault.
type Password struct {
	ID    string // its label
	Bytes []byte
}

// Unlock lets plugins read vaulted files and values through ansible-core's
// loader. The passwords go to Python by its pipe alone. Decrypted is told each
// plaintext before the plugin's answer is. It is called before the first use.
func (h *Host) Unlock(passwords []Password, decrypted func(plain []byte)) {
	h.passwords, h.decrypted = value.NewList(), decrypted
	for _, p := range passwords {
		h.passwords.Append(value.NewList(p.ID, base64.StdEncoding.EncodeToString(p.Bytes)))
	}
}

// New looks for plugins; it starts nothing.
func New(o Options) *Host {
	h := &Host{o: o, text: map[string]string{}, names: map[string]map[string]bool{}, far: map[string]bool{}}
	h.o.Folders = map[string][]string{}
	for kind, folders := range o.Folders {
		for _, dir := range folders {
			files, _ := filepath.Glob(filepath.Join(dir, "*.py")) // a name that is a bad pattern has no plugins
			if len(files) == 0 {
				continue
			}
			h.o.Folders[kind] = append(h.o.Folders[kind], dir)
			for _, f := range files {
				h.text[kind] += h.source(kind, f)
			}
		}
	}
	return h
}

// source is what tells which names a plugin's file may hold: of a lookup the
// file's name, of others their text.
func (h *Host) source(kind, file string) string {
	if kind == "lookup" {
		return "'" + strings.TrimSuffix(filepath.Base(file), ".py") + "'\n"
	}
	text, _ := os.ReadFile(file) // Python says what is wrong with it
	return string(text) + "\n"
}

// Close ends Python.
func (h *Host) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.process != nil {
		h.process.end()
	}
	h.process, h.err = nil, errors.New("the run is over")
}

// Plugin finds a filter, test or lookup; its shape is jinja.PluginFunc's. Python
// is asked only for a name that stands in a plugin's text or in a collection
// that has plugins of the kind.
func (h *Host) Plugin(kind, name string) (jinja.Builtin, bool) {
	if !h.has(kind, name) {
		return jinja.Builtin{}, false
	}
	params := "*args, **kwargs"
	return jinja.Builtin{Name: name, Params: params, TakesUndefined: true, Doc: "a plugin in Python",
		Fn: func(c *jinja.Call) (any, error) { return h.call(kind, c) }}, true
}

// has reports whether there is a plugin; one that cannot be asked for because
// there is no Python is one, and its call says so.
func (h *Host) has(kind, name string) bool {
	if coll, plugin, ok := collectionOf(name); ok {
		return h.inCollection(kind, coll, plugin, name)
	}
	if !strings.Contains(h.text[kind], `'`+name+`'`) && !strings.Contains(h.text[kind], `"`+name+`"`) && !strings.Contains(h.text[kind], name+"=") {
		return false
	}
	if kind == "lookup" {
		return true
	}
	p, err := h.running()
	if err != nil {
		return true
	}
	return h.listed(p, kind)[name]
}

// collectionOf cuts "ns.coll.name".
func collectionOf(name string) (coll, plugin string, ok bool) {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) < 3 {
		return "", "", false
	}
	coll = parts[0] + "." + parts[1]
	return coll, parts[2], coll != "ansible.builtin" && coll != "ansible.legacy"
}

// inCollection reports whether a collection on disk has a plugin.
func (h *Host) inCollection(kind, coll, plugin, name string) bool {
	root := h.o.Root(coll)
	if root == "" {
		return false
	}
	dir := filepath.Join(root, "plugins", kind)
	if kind == "lookup" {
		_, err := os.Stat(filepath.Join(dir, plugin+".py"))
		return err == nil
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.py")) // as in New
	said := slices.ContainsFunc(files, func(f string) bool { return strings.Contains(h.source(kind, f), plugin) })
	if !said {
		return false
	}
	p, err := h.running()
	if err != nil {
		return true
	}
	h.mu.Lock()
	known, asked := h.far[kind+" "+name]
	h.mu.Unlock()
	if asked {
		return known
	}
	v, _ := p.request(h.o.Context, value.DictOf("do", "has", "kind", kind, "name", name), nil) // an error is a no
	h.mu.Lock()
	defer h.mu.Unlock()
	h.far[kind+" "+name] = v == true
	return v == true
}

// listed are the names that the files of a kind hold.
func (h *Host) listed(p *process, kind string) map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if names := h.names[kind]; names != nil {
		return names
	}
	names := map[string]bool{}
	h.names[kind] = names
	v, err := p.request(h.o.Context, value.DictOf("do", "names", "kind", kind), nil)
	if err != nil {
		h.o.Warn(fmt.Sprintf("cannot read the %s plugins: %v", kind, err))
		return names
	}
	d, _ := v.(*value.Dict)
	found, _ := d.Get("found")
	if f, ok := found.(*value.Dict); ok {
		for k := range f.All() {
			names[value.Str(k)] = true
		}
	}
	wrong, _ := d.Get("wrong")
	if l, ok := wrong.(*value.List); ok {
		for _, item := range l.Items {
			h.o.Warn(fmt.Sprintf("cannot load the %s plugin %q: %s", kind, place(item, 0), place(item, 1)))
		}
	}
	return names
}

func place(v any, i int) string {
	if l, ok := v.(*value.List); ok && i < l.Len() {
		return value.Str(l.Items[i])
	}
	return ""
}

// running is Python, started if need be; when it ended by itself, anew.
func (h *Host) running() (*process, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil || h.process != nil && !h.process.ended() {
		return h.process, h.err
	}
	if h.o.Core == "" {
		h.err = errNoCore
		return nil, h.err
	}
	begin := value.DictOf("do", "begin", "folders", h.folders())
	if h.passwords != nil {
		begin.Set("passwords", h.passwords)
	}
	p, err := find(h.o.Context, h.o.Core, h.environment(), script+serveScript, begin)
	if err != nil {
		h.err = err
		return nil, err
	}
	p.decrypted = h.decrypted
	h.process = p
	// A new process has read no files yet.
	for kind := range h.names {
		_, _ = p.request(h.o.Context, value.DictOf("do", "names", "kind", kind), nil) // it was told before
	}
	return p, nil
}

var errNoCore = errors.New("no ansible-core is installed here, which plugins in Python need (Debian and Ubuntu: apt install ansible-core; others: pip install ansible-core)")

// folders are the folders of plugins by kind, for Python.
func (h *Host) folders() *value.Dict {
	folders := value.NewDict()
	for _, kind := range []string{"filter", "test", "lookup", "inventory", "vars"} {
		folders.Set(kind, texts(h.o.Folders[kind]))
	}
	return folders
}

// environment is that of Python.
func (h *Host) environment() []string {
	path := strings.Join(h.o.Collections, ":")
	return append(slices.Clone(h.o.Env), "ANSIBLE_COLLECTIONS_PATH="+path, "ANSIBLE_COLLECTIONS_PATHS="+path)
}

func (p *process) ended() bool { return p.why() != nil }

// request asks Python; once more where it was ended since another plugin took too
// long, for it runs one call at a time and this one waited.
func (h *Host) request(ctx context.Context, m *value.Dict, answer func(ask *value.Dict) *value.Dict) (any, error) {
	for again := true; ; again = false {
		p, err := h.running()
		if err != nil {
			return nil, err
		}
		v, err := p.request(ctx, m.Clone(), answer)
		if err == nil || ctx.Err() != nil || !again || p.why() != errEnded {
			return v, err
		}
	}
}

// why tells why the process serves nothing more.
func (p *process) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// call runs a plugin.
func (h *Host) call(kind string, c *jinja.Call) (any, error) {
	args := value.NewList()
	if kind != "lookup" {
		args.Append(c.Value)
	}
	args.Append(c.Rest...)
	packed, err := pack(args)
	if err != nil {
		return nil, err
	}
	kwargs, err := pack(c.Kwargs)
	if err != nil {
		return nil, err
	}
	ctx := h.o.Context
	if c.Ctx != nil && c.Ctx.Go != nil {
		ctx = c.Ctx.Go
	}
	v, err := h.request(ctx, value.DictOf("do", "call", "kind", kind, "name", c.Name, "args", packed, "kwargs", kwargs),
		func(ask *value.Dict) *value.Dict { return answer(c, ask) })
	if err != nil {
		return nil, pluginError(kind, c, err)
	}
	return v, nil
}

// Inventory has ansible-core read an inventory file by the plugin that it names,
// and returns what an inventory script would print: groups, and "_meta".
func (h *Host) Inventory(path string) (*value.Dict, error) {
	p, err := h.running()
	if err != nil {
		return nil, fmt.Errorf("its plugin is not built in: %w", err)
	}
	v, err := p.request(h.o.Context, value.DictOf("do", "inventory", "path", path), nil)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, errTags
	}
	return d, nil
}

// HasVars tells whether there may be vars plugins: in the operator's folders, or
// among those that are enabled by a collection's name.
func (h *Host) HasVars(enabled []string) bool {
	return len(h.o.Folders["vars"]) > 0 || slices.ContainsFunc(enabled, func(name string) bool {
		_, _, ok := collectionOf(name)
		return ok
	})
}

// Vars asks the vars plugins about groups or a host; its shape is, but for load,
// inventory.VarsPlugins'. load compiles text of files that a plugin has read; all
// else that it returns is data.
func (h *Host) Vars(dir, stage string, about []inventory.Entity, load func(text string) (any, error)) (*value.Dict, error) {
	if _, err := h.running(); err != nil {
		return nil, fmt.Errorf("cannot run the vars plugins: %w", err)
	}
	entities := value.NewList()
	for _, e := range about {
		kind := "host"
		if e.Group {
			kind = "group"
		}
		entities.Append(value.DictOf("name", e.Name, "kind", kind, "vars", e.Vars, "groups", texts(e.Groups)))
	}
	packed, err := pack(entities)
	if err != nil {
		return nil, err
	}
	v, err := h.request(h.o.Context, value.DictOf("do", "vars", "path", dir, "stage", stage, "entities", packed), nil)
	if err == nil {
		v, err = compiled(v, load)
	}
	if err != nil {
		return nil, fmt.Errorf("a vars plugin failed: %w", err)
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, errTags
	}
	return d, nil
}

func pluginError(kind string, c *jinja.Call, err error) error {
	var f *failed
	if errors.As(err, &f) && f.undefined {
		return &jinja.UndefinedError{Msg: f.msg, Pos: c.Pos}
	}
	if errors.As(err, &f) {
		return fmt.Errorf("the %s plugin %q failed: %w", kind, c.Name, err)
	}
	return fmt.Errorf("cannot run the %s plugin %q: %w", kind, c.Name, err)
}

// answer tells a plugin a variable, or the names of all.
func answer(c *jinja.Call, ask *value.Dict) *value.Dict {
	if _, all := ask.Get("names"); all {
		names := value.NewList("l")
		for _, n := range c.VariableNames() {
			names.Append(n)
		}
		return value.DictOf("value", names)
	}
	name, _ := ask.Get("name")
	none := value.DictOf("found", false)
	if c.Ctx == nil {
		return none
	}
	v, ok, err := c.Variable(value.Str(name))
	if err != nil || !ok {
		return none // a variable that cannot be evaluated is none, as in Ansible's own dict
	}
	packed, err := pack(v)
	if err != nil {
		return none
	}
	return value.DictOf("found", true, "value", packed)
}
