package inventory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"play/engine/source"
	"play/engine/yamlload"
)

// varsExtensions are tried in this order behind a host's or group's name; the
// first file or folder that exists is the only one used.
var varsExtensions = []string{"", ".yml", ".yaml", ".json"}

// varsFiles reads group_vars and host_vars folders, each file at most once. It
// is safe for concurrent use.
type varsFiles struct {
	loader *yamlload.Loader
	warn   func(format string, args ...any)

	mu      sync.Mutex
	folders map[string]*varsFolder // by path
	found   map[string][]*Layer    // by folder path and name
}

// varsFolder is a group_vars or host_vars folder: the names of what it holds.
type varsFolder struct {
	entries map[string]bool
}

func newVarsFiles(loader *yamlload.Loader, warn func(format string, args ...any)) *varsFiles {
	return &varsFiles{loader: loader, warn: warn, folders: map[string]*varsFolder{}, found: map[string][]*Layer{}}
}

// layers returns one layer for each file that base/kind holds for name, lowest
// precedence first. Owner names the base in explanations.
func (v *varsFiles) layers(base, kind, name, owner string) ([]*Layer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	dir := filepath.Join(base, kind)
	key := dir + "\x00" + name
	if l, ok := v.found[key]; ok {
		return l, nil
	}
	folder, err := v.folder(dir, kind)
	if err != nil {
		return nil, err
	}
	layers, err := v.read(folder, dir, name, kind+"/"+name+" of "+owner)
	if err != nil {
		return nil, err
	}
	if layers != nil {
		v.found[key] = layers
	}
	return layers, nil
}

// folder lists a folder once; one that is absent is empty.
func (v *varsFiles) folder(dir, kind string) (*varsFolder, error) {
	if f, ok := v.folders[dir]; ok {
		return f, nil
	}
	f := &varsFolder{}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir):
	case err != nil:
		return nil, source.Errorf(source.Pos{File: dir}, "cannot read folder %q: %w", dir, err)
	case !info.IsDir():
		v.warn("Found %s that is not a directory, skipping: %s", kind, dir)
	default:
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, source.Errorf(source.Pos{File: dir}, "cannot read folder %q: %w", dir, err)
		}
		f.entries = make(map[string]bool, len(entries))
		for _, e := range entries {
			f.entries[e.Name()] = true
		}
	}
	v.folders[dir] = f
	return f, nil
}

// read loads the files for one name.
func (v *varsFiles) read(folder *varsFolder, dir, name, what string) ([]*Layer, error) {
	for _, ext := range varsExtensions {
		if !folder.entries[name+ext] {
			continue
		}
		path := filepath.Join(dir, name+ext)
		info, err := os.Stat(path)
		if err != nil {
			continue // a broken link
		}
		paths := []string{path}
		if info.IsDir() {
			if paths, err = varsInFolder(path); err != nil {
				return nil, err
			}
		}
		return v.load(paths, what)
	}
	return nil, nil
}

// varsInFolder lists the vars files in a folder and its subfolders, sorted by
// name: those without an extension or with one for YAML.
func varsInFolder(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, source.Errorf(source.Pos{File: dir}, "cannot read folder %q: %w", dir, err)
	}
	var paths []string
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || !slices.Contains(varsExtensions, filepath.Ext(name)) {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case !info.IsDir():
			paths = append(paths, path)
		case filepath.Ext(name) == "":
			inside, err := varsInFolder(path)
			if err != nil {
				return nil, err
			}
			paths = append(paths, inside...)
		}
	}
	return paths, nil
}

func (v *varsFiles) load(paths []string, what string) ([]*Layer, error) {
	var layers []*Layer
	for _, path := range paths {
		vars, err := v.loader.Vars(path)
		if err != nil {
			return nil, fileError(path, err)
		}
		if vars.Len() > 0 {
			layers = append(layers, &Layer{Name: what, Source: source.Pos{File: path}, Vars: vars, locate: v.locator(path)})
		}
	}
	return layers, nil
}

// locator finds the place of a variable by parsing its file again.
func (v *varsFiles) locator(path string) func(name string) (source.Pos, bool) {
	return func(name string) (source.Pos, bool) {
		f, err := v.loader.Read(path)
		if err != nil {
			return source.Pos{}, false
		}
		return entryPos(f, name)
	}
}

func entryPos(f *yamlload.File, name string) (source.Pos, bool) {
	entries, err := f.Entries(f.Root)
	if err != nil {
		return source.Pos{}, false
	}
	for _, e := range entries {
		if e.Name == name {
			return f.Pos(e.KeyNode), true
		}
	}
	return source.Pos{}, false
}

// fileError gives an error about a file its place when it has none yet.
func fileError(path string, err error) error {
	var located *source.Error
	if errors.As(err, &located) {
		return err
	}
	var about *fs.PathError
	if errors.As(err, &about) {
		err = about.Err
	}
	return source.Errorf(source.Pos{File: path}, "cannot read %q: %w", path, err)
}
