package config

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"play/engine/source"
)

// freeSections hold the options of plugins and other tools, of which no list
// is kept.
var freeSections = []string{"callback", "galaxy", "inventory", "jsonfile", "doc_", "lookup", "vars_", "hashi", "mitogen", "tags", "play_"}

// extraEnv are variables that mean something without being options.
var extraEnv = []string{"ANSIBLE_CONFIG", "ANSIBLE_INVENTORY", "ANSIBLE_DEBUG", "ANSIBLE_VAULT_PASSWORD_FILE", "ANSIBLE_UNSAFE_WRITES"}

// toolEnv begins the variables of programs around Ansible.
var toolEnv = []string{"ANSIBLE_TEST_", "ANSIBLE_LINT", "ANSIBLE_RUNNER", "ANSIBLE_NAVIGATOR", "ANSIBLE_BUILDER", "ANSIBLE_MODULE_", "ANSIBLE_CALLBACK_DIY_"}

// pluginEnv lists the variables that plugins of collections read too.
//
//go:embed env.txt
var pluginEnv string

// unknown words a warning for each entry of the file, and each ANSIBLE_*
// variable, that is no option of Ansible or of a collection.
func (l *loader) unknown(file *iniFile) []string {
	places, env := knownNames()
	var warnings []string
	sections := map[string]bool{}
	for _, e := range file.entries {
		keys, known := places[e.section]
		switch {
		case slices.Contains(keys, e.key) || isFree(e.section):
		case !known:
			if !sections[e.section] {
				sections[e.section] = true
				warnings = append(warnings, fmt.Sprintf("%s: unknown section [%s] in the configuration, ignoring it", e.pos, e.section))
			}
		default:
			warnings = append(warnings, fmt.Sprintf("%s: unknown option %q in [%s], ignoring it%s", e.pos, e.key, e.section, didYouMean(e.key, keys)))
		}
	}
	for _, entry := range l.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "ANSIBLE_") || slices.Contains(env, name) {
			continue
		}
		if !slices.ContainsFunc(toolEnv, func(p string) bool { return strings.HasPrefix(name, p) }) {
			warnings = append(warnings, fmt.Sprintf("unknown option %s in the environment, ignoring it%s", name, didYouMean(name, env)))
		}
	}
	return warnings
}

func isFree(section string) bool {
	return slices.ContainsFunc(freeSections, func(p string) bool { return strings.HasPrefix(section, p) })
}

func didYouMean(word string, known []string) string {
	if near := source.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// knownNames lists the keys of each section and the variables.
func knownNames() (places map[string][]string, env []string) {
	places = map[string][]string{}
	env = append(slices.Clone(extraEnv), strings.Fields(pluginEnv)...)
	for _, o := range Options() {
		env = append(env, o.Env...)
		for _, p := range o.Ini {
			section, key, _ := strings.Cut(p, ".")
			places[section] = append(places[section], strings.ToLower(key))
		}
	}
	return places, env
}
