package main

import (
	"context"
	"path/filepath"
	"slices"

	"play/engine/event"
	"play/engine/modulefind"
	"play/engine/pyhost"
	"play/engine/source"
)

// pluginFolders are the folders of plugins in Python by kind: their name beside a
// playbook and in roles, and the setting that lists more.
var pluginFolders = map[string]struct{ folder, setting string }{
	"filter":    {"filter_plugins", "DEFAULT_FILTER_PLUGIN_PATH"},
	"test":      {"test_plugins", "DEFAULT_TEST_PLUGIN_PATH"},
	"lookup":    {"lookup_plugins", "DEFAULT_LOOKUP_PLUGIN_PATH"},
	"inventory": {"inventory_plugins", "DEFAULT_INVENTORY_PLUGIN_PATH"},
}

// newPlugins finds the operator's plugins in Python: beside the playbooks, in the
// roles there and on the roles path, where the configuration says, and in
// collections. The end of ctx ends their process.
func newPlugins(ctx context.Context, h *host, o *options, f *modulefind.Finder, sink event.Sink) *pyhost.Host {
	var beside []string
	for _, p := range o.Playbooks {
		if dir := filepath.Dir(h.path(p)); !slices.Contains(beside, dir) {
			beside = append(beside, dir)
		}
	}
	roles := slices.Clone(o.RolesPath)
	collections := slices.Clone(o.CollectionsPath)
	for _, dir := range beside {
		roles = append(roles, filepath.Join(dir, "roles"))
		collections = append([]string{filepath.Join(dir, "collections")}, collections...)
	}
	folders := map[string][]string{}
	for kind, p := range pluginFolders {
		folders[kind] = foldersOfPlugins(p.folder, beside, roles)
		more, _ := o.Config.Lookup(p.setting)
		folders[kind] = append(folders[kind], pathsOf(more)...)
	}
	return pyhost.New(pyhost.Options{Context: ctx, Core: f.Core, Env: h.Environ, Collections: collections, Folders: folders, Root: f.Root,
		Warn: func(msg string) { sink.Warning(msg, source.Pos{}) }})
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
