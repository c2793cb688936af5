package main

import (
	"errors"
	"strings"

	"play/action"
	"play/engine/modulefind"
	"play/modules"
)

// moduleNames is the set of modules and actions.
type moduleNames struct {
	known  map[string]bool
	names  []string
	full   map[string]string // community.general.ufw → ufw; former short names too
	finder *modulefind.Finder
}

// knownModules are the names that tasks may use: those of native modules and
// actions, and those that finder finds.
func knownModules(finder *modulefind.Finder) *moduleNames {
	m := &moduleNames{known: map[string]bool{}, full: map[string]string{}, finder: finder}
	for _, mod := range modules.All() {
		m.add(mod.Name, mod.Collections)
		for _, full := range mod.Former {
			m.full[full], m.full[full[strings.LastIndexByte(full, '.')+1:]] = mod.Name, mod.Name
		}
	}
	for _, n := range action.Names() {
		m.add(n, action.Collections[n])
	}
	return m
}

func (m *moduleNames) add(name string, collections []string) {
	for _, full := range modules.FullNames(name, collections) {
		m.full[full] = name
	}
	if !m.known[name] {
		m.known[name] = true
		m.names = append(m.names, name)
	}
}

// Known reports whether there is such a module or action.
func (m *moduleNames) Known(name string) bool { return m.known[name] || m.finder.Known(name) }

// Native is the short name of the native module that a full or former name
// means, by itself or by the routing of a collection on disk; "": there is none.
func (m *moduleNames) Native(full string) string {
	if name := m.full[full]; name != "" || !strings.Contains(full, ".") {
		return name
	}
	return m.full[m.finder.Redirected(full)]
}

// Removed tells that a collection says that its module is gone; nil: it does not.
func (m *moduleNames) Removed(name string) error {
	if m.known[name] || !strings.Contains(name, ".") {
		return nil
	}
	_, err := m.finder.Find(name, nil)
	var none *modulefind.NotFound
	if errors.As(err, &none) {
		return nil
	}
	return err
}

// Names lists them.
func (m *moduleNames) Names() []string { return m.names }
