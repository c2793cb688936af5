package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"play/engine/event"
	"play/engine/inventory"
	"play/engine/modulefind"
	"play/engine/pyhost"
	"play/engine/source"
	"play/engine/vault"
	"play/engine/yamlload"
	"play/modules/value"
)

// pluginFolders are the folders of plugins in Python by kind: their name beside a
// playbook and in roles, and the setting that lists more.
var pluginFolders = map[string]struct{ folder, setting string }{
	"filter":    {"filter_plugins", "DEFAULT_FILTER_PLUGIN_PATH"},
	"test":      {"test_plugins", "DEFAULT_TEST_PLUGIN_PATH"},
	"lookup":    {"lookup_plugins", "DEFAULT_LOOKUP_PLUGIN_PATH"},
	"inventory": {"inventory_plugins", "DEFAULT_INVENTORY_PLUGIN_PATH"},
	"vars":      {"vars_plugins", "DEFAULT_VARS_PLUGIN_PATH"},
	"callback":  {"callback_plugins", "DEFAULT_CALLBACK_PLUGIN_PATH"},
}

// newPlugins finds the operator's plugins in Python: beside the playbooks, in the
// roles there and on the roles path, where the configuration says, and in
// collections. The end of ctx ends their process.
func newPlugins(ctx context.Context, h *host, o *options, f *modulefind.Finder, environ []string, sink event.Sink) *pyhost.Host {
	beside, roles := pluginPlaces(h, o)
	collections := slices.Clone(o.CollectionsPath)
	for _, dir := range beside {
		collections = append([]string{filepath.Join(dir, "collections")}, collections...)
	}
	folders := map[string][]string{}
	for kind, p := range pluginFolders {
		folders[kind] = foldersOfPlugins(p.folder, beside, roles)
		more, _ := o.Config.Lookup(p.setting)
		folders[kind] = append(folders[kind], pathsOf(more)...)
	}
	return pyhost.New(pyhost.Options{Context: ctx, Core: f.Core, Env: environ, Collections: collections, Folders: folders, Root: f.Root,
		Warn: func(msg string) { sink.Warning(msg, source.Pos{}) }})
}

// unlock hands the vault's passwords to the plugins in Python; what these decrypt
// is noted as a secret.
func (s *session) unlock(secrets yamlload.Decrypter) {
	known, ok := secrets.(*vault.Secrets)
	if !ok {
		return
	}
	var passwords []pyhost.Password
	for _, secret := range known.List {
		passwords = append(passwords, pyhost.Password{ID: secret.ID, Bytes: secret.Password})
	}
	s.plugins.Unlock(passwords, s.secrets.AddPlaintext)
}

// varsPlugins are the operator's vars plugins; nil: there are none.
func (s *session) varsPlugins() inventory.VarsPlugins {
	enabled, _ := s.opts.Config.Lookup("VARIABLE_PLUGINS_ENABLED")
	if !s.plugins.HasVars(pathsOf(enabled)) {
		return nil
	}
	return func(dir, stage string, about []inventory.Entity) (*value.Dict, error) {
		return s.plugins.Vars(dir, stage, about, func(text string) (any, error) { return s.env.Load(text, source.Pos{File: dir}) })
	}
}

// pluginPlaces are the folders of the playbooks, and those that hold roles.
func pluginPlaces(h *host, o *options) (beside, roles []string) {
	for _, p := range o.Playbooks {
		if dir := filepath.Dir(h.path(p)); !slices.Contains(beside, dir) {
			beside = append(beside, dir)
		}
	}
	for _, dir := range beside {
		roles = append(roles, filepath.Join(dir, "roles"))
	}
	return beside, append(roles, o.RolesPath...)
}

// foldersOfPlugins are the folders of one name beside playbooks and in roles.
func foldersOfPlugins(name string, beside, roles []string) []string {
	var out []string
	for _, dir := range beside {
		out = append(out, filepath.Join(dir, name))
	}
	for _, dir := range roles {
		found, _ := filepath.Glob(filepath.Join(dir, "*", name)) // a folder whose name is a pattern is not looked into
		out = append(out, found...)
	}
	return out
}

// unsupportedKinds are the kinds of plugins in Python that play does not run, by
// folder.
var unsupportedKinds = []struct{ folder, kind string }{
	{"action_plugins", "action"}, {"connection_plugins", "connection"}, {"strategy_plugins", "strategy"},
}

// unsupported lists the plugins in Python that are not run, from the folders
// beside playbooks and in roles; of actions it counts those that play has itself.
// It is "" when there are none.
func unsupported(beside, roles []string, native func(name string) bool) string {
	var parts []string
	for _, k := range unsupportedKinds {
		names := pluginNames(foldersOfPlugins(k.folder, beside, roles))
		if len(names) == 0 {
			continue
		}
		part := k.kind + ": " + strings.Join(names, ", ")
		own := len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !native(n) }))
		if k.kind == "action" {
			part += fmt.Sprintf(" (%d of %d have a native equivalent)", own, len(names))
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return "these plugins in Python are not run: " + strings.Join(parts, "; ")
}

// pluginNames are the names of the Python files in folders, sorted.
func pluginNames(folders []string) []string {
	var names []string
	for _, dir := range folders {
		files, _ := filepath.Glob(filepath.Join(dir, "*.py")) // a folder whose name is a pattern is not looked into
		for _, f := range files {
			name := strings.TrimSuffix(filepath.Base(f), ".py")
			if name != "__init__" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// plugins warns once of plugins that are not run.
func (p *preflight) plugins() {
	beside, roles := pluginPlaces(p.s.host, p.s.opts)
	known := knownModules(nil)
	if msg := unsupported(beside, roles, func(name string) bool { return known.known[name] }); msg != "" {
		p.s.sink.Warning(msg, source.Pos{})
	}
}
