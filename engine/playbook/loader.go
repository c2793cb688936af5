package playbook

import (
	"errors"
	"os"
	"path/filepath"
	"sync"

	"play/engine/jinja"
	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// Modules tells which names tasks may use as modules or actions. Names come
// without ansible.builtin. or ansible.legacy.; it must be safe for concurrent
// use.
type Modules interface {
	Known(name string) bool
	// Native is the short name of the module or action that serves a full name
	// such as community.general.ufw, or a former name; "": none does.
	Native(full string) string
	// Names lists the known names, for suggestions.
	Names() []string
}

// Loader turns playbook files into plays. Its fields are set before the first
// use; then it is safe for concurrent use, since dynamic includes call it while
// a play runs. Every file is read once in a Loader's life.
type Loader struct {
	// YAML reads the files; its Env compiles templates and conditions.
	YAML *yamlload.Loader
	// Modules are the known modules and actions; nil accepts every name.
	Modules Modules
	// RolesPath are the folders searched for roles after the playbook's own
	// roles folder, and before the playbook's folder.
	RolesPath []string
	// CollectionsPath are the folders that hold ansible_collections.
	CollectionsPath []string
	// CollectionRoot is the folder of a collection "ns.coll", or "": it knows of
	// those beside the playbook and of installed ones. Nil: CollectionsPath alone
	// is searched.
	CollectionRoot func(collection string) string
	// ExtraVars are known when files are loaded, as play vars are: names of
	// static imports may use them. Nil: none.
	ExtraVars *value.Dict
	// HashMerge is hash_behaviour=merge: dicts of the same name in the files of a
	// role are merged.
	HashMerge bool
	// IgnoreInvalid is invalid_task_attribute_failed=no: a with_ keyword of a task
	// that names no lookup is warned of and left out.
	IgnoreInvalid bool
	// Warn is told of what is accepted but old; nil: nothing is said.
	Warn func(msg string, pos source.Pos)

	// Trace remembers where variables stand, for Where.
	Trace bool
	// Unsupported is told of each module and keyword that is not known (ErrModule,
	// ErrKeyword), and says whether to load what it stands on all the same. Nil,
	// and false: it is a mistake.
	Unsupported func(err error) bool

	mu      sync.Mutex
	files   map[string]*yamlload.File
	roles   map[roleKey]*Role
	groups  map[string]map[string]bool // action groups that were asked for
	origins map[*value.Dict][]origin
}

// Load reads a playbook file with everything that it imports. The error is a
// *source.Error, or an *Errors of several.
func (l *Loader) Load(path string) (*Playbook, error) {
	r := l.newReader()
	pb := &Playbook{Path: path, Plays: r.playbook(path, nil)}
	if err := r.errs.err(); err != nil {
		return nil, err
	}
	return pb, nil
}

// reader is the state of one load.
type reader struct {
	l     *Loader
	errs  *Errors
	roles *roleTable
}

func (l *Loader) newReader() *reader {
	return &reader{l: l, errs: &Errors{}, roles: &roleTable{}}
}

func (r *reader) fail(err error) {
	if err == nil || errors.Is(err, ErrKeyword) && r.l.Unsupported != nil && r.l.Unsupported(err) {
		return
	}
	r.errs.add(err)
}

// failf notes a mistake at a place.
func (r *reader) failf(pos source.Pos, format string, args ...any) {
	r.errs.add(source.Errorf(pos, format, args...))
}

func (r *reader) warn(pos source.Pos, msg string) {
	if r.l.Warn != nil {
		r.l.Warn(msg, pos)
	}
}

func (r *reader) env() *jinja.Env { return r.l.YAML.Env }

// file reads and parses a file, once.
func (l *Loader) file(path string) (*yamlload.File, error) {
	if abs, err := filepath.Abs(path); err == nil {
		path = tidy(path, abs)
	}
	l.mu.Lock()
	f := l.files[path]
	l.mu.Unlock()
	if f != nil {
		return f, nil
	}
	f, err := l.YAML.Read(path)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files = map[string]*yamlload.File{}
	}
	l.files[path] = f
	return f, nil
}

// tidy prefers the path as it was written, for messages, when it is clean.
func tidy(path, abs string) string {
	if clean := filepath.Clean(path); filepath.IsAbs(clean) || clean[0] != '.' {
		return clean
	}
	return abs
}

// isFile reports whether path is there and no folder.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// isDir reports whether path is a folder.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// place is where the nodes being read belong.
type place struct {
	file     *yamlload.File
	dir      string // the file's folder
	play     *Play
	parent   *Block
	role     *Role
	handlers bool
	chain    *chain // static imports that led here
	// collections are searched for modules and roles with short names.
	collections []string
}

// chain is a list of files, the innermost first.
type chain struct {
	path  string
	outer *chain
}

// in returns the place inside a block.
func (p place) in(b *Block) place {
	p.parent = b
	return p
}

// fileIn returns the place inside another file.
func (p place) fileIn(f *yamlload.File) place {
	p.file = f
	p.dir = filepath.Dir(f.Path)
	p.chain = &chain{path: f.Path, outer: p.chain}
	return p
}

// has reports whether a file is being read already.
func (c *chain) has(path string) bool {
	for ; c != nil; c = c.outer {
		if c.path == path {
			return true
		}
	}
	return false
}

// String lists the files from the outermost in.
func (c *chain) String() string {
	if c.outer == nil {
		return c.path
	}
	return c.outer.String() + " → " + c.path
}
