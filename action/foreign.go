package action

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"play/engine/ansiballz"
	"play/engine/modulefind"
	"play/engine/task"
	"play/modules/value"
)

// Foreign finds and prepares modules that are not native; the target's half is
// modules/foreign. One serves a run; it is safe for concurrent use.
type Foreign struct {
	Finder  *modulefind.Finder
	Builder *ansiballz.Builder
	Native  map[string]bool // names of native modules
	Utils   []string        // folders of the operator's module_utils

	mu           sync.Mutex
	found        map[string]*modulefind.Module // by folders and name; nil: native
	prepared     map[string]*parcel            // by path
	sent         map[string]bool               // by agent and hash
	interpreters map[string]*discovery         // by agent
	passed       string                        // where ansible-core lists the internal arguments it takes
}

// parcel is a module's file as it is sent.
type parcel struct {
	kind    modulefind.Kind
	data    []byte
	hash    string
	pkg     string
	shebang []string // nil: the file names no interpreter
}

// jobsModule is the agent's own module behind play jobs; no file can stand in
// for it.
const jobsModule = "play_jobs"

// foreignModule decides what serves the task: a module from a file, or nil for a
// native one. The operator's own file wins over everything, a native module over
// ansible-core's and the collections', unless play_prefer says "python".
func (d *Deps) foreignModule(a *task.Attempt) (*modulefind.Module, error) {
	f := d.Foreign
	if f == nil || a.Task.Action == jobsModule {
		return nil, nil
	}
	r := &reach{a: a, on: a.Scope}
	prefer := r.str("", "play_prefer") == "python"
	if r.err != nil {
		return nil, r.err
	}
	name := a.Task.Action
	if w := a.Task.Written; strings.Contains(w, ".") && !strings.HasPrefix(w, "ansible.legacy.") {
		name = w // a full name means no file of the operator's
	}
	beside := foldersOf(a)
	key := strings.Join(append(beside, name), "\x00")
	if prefer {
		key += "\x00python"
	}
	f.mu.Lock()
	m, ok := f.found[key]
	f.mu.Unlock()
	if ok {
		return m, nil
	}
	m, err := f.choose(a.Task.Action, name, beside, prefer)
	if err != nil {
		return nil, task.Failf("%s", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found == nil {
		f.found = map[string]*modulefind.Module{}
	}
	f.found[key] = m
	return m, nil
}

// choose applies the order of precedence to a name.
func (f *Foreign) choose(short, name string, beside []string, prefer bool) (*modulefind.Module, error) {
	native := f.Native[short]
	if name == short {
		if own := f.Finder.Own(short, beside); own != nil {
			return own, nil
		}
	}
	if native && !prefer {
		return nil, nil
	}
	m, err := f.Finder.Find(name, beside)
	if err == nil {
		err = f.usable(m)
	}
	if err != nil {
		if native {
			return nil, nil
		}
		return nil, err
	}
	return m, nil
}

// usable refuses a module that is only the documentation of an action plugin.
func (f *Foreign) usable(m *modulefind.Module) error {
	if text, err := os.ReadFile(m.Path); err == nil && m.Origin != modulefind.User && strings.HasSuffix(m.Path, ".py") && modulefind.KindOf(text) == modulefind.Old {
		return task.Failf("cannot run %q: its file is documentation only, and the work is done by an action plugin in Python, which play does not run", m.Name)
	}
	if m.Origin != modulefind.Collection {
		return nil
	}
	coll := strings.Join(strings.SplitN(m.Name, ".", 3)[:2], ".")
	name := m.Name[strings.LastIndexByte(m.Name, '.')+1:]
	if _, err := os.Stat(filepath.Join(f.Finder.Root(coll), "plugins", "action", name+".py")); err == nil {
		return task.Failf("cannot run %q: it needs its action plugin, a Python program of the control machine, which play does not run", m.Name)
	}
	return nil
}

// foldersOf are the folders whose library and module_utils belong to the task:
// its role's, those of the roles around it, the playbook's.
func foldersOf(a *task.Attempt) []string {
	var dirs []string
	if r := a.Task.Role; r != nil {
		dirs = append(dirs, r.Path)
		for _, p := range r.Parents {
			dirs = append(dirs, p.Path)
		}
	}
	if a.Files != nil {
		dirs = append(dirs, a.Files.Dir())
	}
	return dirs
}

// foreign runs a module that is not native on the attempt's host.
func (d *Deps) foreign(ctx context.Context, a *task.Attempt, m *modulefind.Module) (*value.Dict, error) {
	p, err := d.Foreign.prepare(m, foldersOf(a))
	if err != nil {
		return nil, task.Failf("%s", err)
	}
	chosen, err := d.interpreter(ctx, a, m, p)
	if err != nil {
		return nil, err
	}
	args, err := d.foreignArgs(a, m, p, chosen)
	if err != nil {
		return nil, err
	}
	result, err := d.deliverModule(ctx, a, p, args)
	if err != nil {
		return nil, err
	}
	chosen.note(result)
	for _, dep := range m.Deprecations {
		appendTo(result, "deprecations", value.DictOf("msg", dep.Msg, "version", textOrNil(dep.Version), "date", textOrNil(dep.Date), "collection_name", dep.From))
	}
	return result, nil
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// appendTo adds to a list in a result.
func appendTo(result *value.Dict, key string, item any) {
	list := value.NewList()
	if v, ok := result.Get(key); ok {
		if own, ok := v.(*value.List); ok {
			list.Append(own.Items...)
		}
	}
	list.Append(item)
	result.Set(key, list)
}

// deliverModule runs the module; its file is sent only to an agent that does
// not have it yet, and along with every detached run.
func (d *Deps) deliverModule(ctx context.Context, a *task.Attempt, p *parcel, args *value.Dict) (*value.Dict, error) {
	if a.Settings.Async > 0 && !a.Check {
		return d.async(ctx, a, "_foreign", args, bytes.NewReader(p.data))
	}
	t, err := d.target(a)
	if err != nil {
		return nil, err
	}
	key := t.Key() + "\x00" + p.hash
	if d.Foreign.wasSent(key) {
		result, err := d.call(ctx, a, "_foreign", args, nil)
		if err != nil {
			return nil, err
		}
		if v, _ := result.Get("needs_content"); v != true {
			return result, nil
		}
	}
	result, err := d.call(ctx, a, "_foreign", args, io.Reader(bytes.NewReader(p.data)))
	if err == nil {
		d.Foreign.markSent(key)
	}
	return result, err
}

func (f *Foreign) wasSent(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[key]
}

func (f *Foreign) markSent(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sent == nil {
		f.sent = map[string]bool{}
	}
	f.sent[key] = true
}

// prepare reads a module and makes what is sent of it, once per run.
func (f *Foreign) prepare(m *modulefind.Module, beside []string) (*parcel, error) {
	utils := f.UtilsBeside(beside)
	key := strings.Join(append(utils, m.Path), "\x00")
	f.mu.Lock()
	p := f.prepared[key]
	f.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := f.pack(m, utils)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.prepared == nil {
		f.prepared = map[string]*parcel{}
	}
	f.prepared[key] = p
	return p, nil
}

// UtilsBeside are the folders of module_utils that exist: beside the given ones,
// then the configured ones.
func (f *Foreign) UtilsBeside(beside []string) []string {
	var dirs []string
	for _, dir := range beside {
		dirs = append(dirs, filepath.Join(dir, "module_utils"))
	}
	dirs = append(dirs, f.Utils...)
	return slices.DeleteFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

func (f *Foreign) pack(m *modulefind.Module, utils []string) (*parcel, error) {
	text, err := os.ReadFile(m.Path)
	if err != nil {
		return nil, task.Failf("cannot read the module %q: %v", m.Name, err)
	}
	p := &parcel{kind: modulefind.KindOf(text), data: text, pkg: m.Package}
	if program, args := modulefind.Shebang(text); program != "" && p.kind != modulefind.Binary {
		p.shebang = append([]string{program}, args...)
	}
	switch {
	case p.kind == modulefind.Python:
		z, err := f.Builder.Build(m, utils)
		if err != nil {
			return nil, err
		}
		p.data, p.hash, p.pkg = z.Data, z.Hash, z.Name
		return p, nil
	case p.kind == modulefind.PowerShell:
		return nil, task.Failf("cannot run %q: it is a PowerShell module, for Windows hosts", m.Name)
	case p.kind != modulefind.Binary && p.shebang == nil:
		return nil, task.Failf("module (%s) is missing interpreter line", m.Name)
	}
	sum := sha256.Sum256(text)
	p.hash = hex.EncodeToString(sum[:])
	return p, nil
}
