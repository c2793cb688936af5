package main

import (
	"path/filepath"

	"play/action"
	"play/engine/ansiballz"
	"play/engine/modulefind"
	"play/modules"
	"play/modules/value"
)

// newFinder finds modules that are not native.
func newFinder(h *host, o *options) *modulefind.Finder {
	return &modulefind.Finder{Library: o.Settings.Library, Collections: o.CollectionsPath, Roles: o.RolesPath, Core: modulefind.FindCore(environment(h))}
}

// environment looks up variables of the caller's environment; one that is not
// set is "".
func environment(h *host) func(string) string {
	return func(name string) string {
		for _, entry := range h.Environ {
			if len(entry) > len(name) && entry[:len(name)] == name && entry[len(name)] == '=' {
				return entry[len(name)+1:]
			}
		}
		return ""
	}
}

// newForeign runs modules that are not native. Their zips are kept in the user's
// cache folder.
func newForeign(h *host, o *options, f *modulefind.Finder) *action.Foreign {
	getenv := environment(h)
	cache := getenv("XDG_CACHE_HOME")
	if home := getenv("HOME"); !filepath.IsAbs(cache) && home != "" {
		cache = filepath.Join(home, ".cache")
	}
	if cache != "" {
		cache = filepath.Join(cache, "play", "ansiballz")
	}
	native := map[string]bool{}
	for _, m := range modules.All() {
		native[m.Name] = true
	}
	utils, _ := o.Config.Lookup("DEFAULT_MODULE_UTILS_PATH")
	return &action.Foreign{Finder: f, Builder: &ansiballz.Builder{Finder: f, Cache: cache}, Native: native, Utils: pathsOf(utils)}
}

// pathsOf is a setting that is a list of paths.
func pathsOf(v any) []string {
	var out []string
	if l, ok := v.(*value.List); ok {
		for _, item := range l.Items {
			out = append(out, value.Str(item))
		}
	}
	return out
}
