package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"play/engine/config"
	"play/engine/jinja"
)

// textPlugins are the operator's filters, tests and lookups as far as the text of
// their Python files names them: lint runs nothing.
type textPlugins struct {
	words   map[string]map[string]bool // by kind: what stands in quotes in a file
	lookups map[string]bool            // by file name
}

var quotedWord = regexp.MustCompile(`['"]([A-Za-z_][A-Za-z0-9_]*)['"]`)

// newTextPlugins reads the plugins beside files, in roles there, and in the
// configured folders.
func newTextPlugins(h *host, c *config.Config, files []string) *textPlugins {
	p := &textPlugins{words: map[string]map[string]bool{"filter": {}, "test": {}}, lookups: map[string]bool{}}
	dirs := map[string]bool{}
	for _, name := range files {
		dir := filepath.Dir(h.path(name))
		for range 3 { // a role's files stand two folders below it
			dirs[dir] = true
			dir = filepath.Dir(dir)
		}
	}
	for kind, at := range pluginFolders {
		more, _ := c.Lookup(at.setting)
		for _, dir := range pathsOf(more) {
			p.folder(kind, dir)
		}
		for dir := range dirs {
			p.folder(kind, filepath.Join(dir, at.folder))
		}
	}
	return p
}

func (p *textPlugins) folder(kind, dir string) {
	found, _ := filepath.Glob(filepath.Join(dir, "*.py")) // a folder whose name is a pattern is not looked into
	for _, path := range found {
		if kind == "lookup" {
			p.lookups[strings.TrimSuffix(filepath.Base(path), ".py")] = true
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the run will say so
		}
		for _, m := range quotedWord.FindAllStringSubmatch(string(text), -1) {
			p.words[kind][m[1]] = true
		}
	}
}

var errNotRun = errors.New("cannot run a plugin: nothing is run here")

// plugin finds a plugin; it can be named, not run.
func (p *textPlugins) plugin(kind, name string) (jinja.Builtin, bool) {
	ok := p.words[kind][name] || kind == "lookup" && p.lookups[name]
	return jinja.Builtin{Name: name, Params: "*args, **kwargs", TakesUndefined: true, Fn: func(*jinja.Call) (any, error) { return nil, errNotRun }}, ok
}
