package playbook

import (
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// coreGroups are the action groups of ansible.builtin: each stands for those of
// collections.
var coreGroups = map[string][]string{
	"acme":   {"community.crypto.acme"},
	"aws":    {"amazon.aws.aws", "community.aws.aws"},
	"azure":  {"azure.azcollection.azure"},
	"cpm":    {"wti.remote.cpm"},
	"docker": {"community.general.docker", "community.docker.docker"},
	"gcp":    {"google.cloud.gcp"},
	"k8s":    {"community.kubernetes.k8s", "community.general.k8s", "community.kubevirt.k8s", "community.okd.k8s", "kubernetes.core.k8s"},
	"os":     {"openstack.cloud.os"},
	"ovirt":  {"ovirt.ovirt.ovirt", "community.general.ovirt"},
	"vmware": {"community.vmware.vmware"},
}

// InGroup reports whether an action group such as "ns.coll.group" ("aws" for one
// of ansible.builtin's) has an action of the given name, as tasks have it.
func (l *Loader) InGroup(group, action string) bool {
	return l.actionGroup(group)[action]
}

// actionGroup lists a group's actions, and keeps them. Groups may extend others.
func (l *Loader) actionGroup(group string) map[string]bool {
	l.mu.Lock()
	known := l.groups[group]
	l.mu.Unlock()
	if known != nil {
		return known
	}
	all := map[string]bool{}
	l.addGroup(group, all, map[string]bool{})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.groups == nil {
		l.groups = map[string]map[string]bool{}
	}
	l.groups[group] = all
	return all
}

func (l *Loader) addGroup(group string, all, seen map[string]bool) {
	if seen[group] {
		return
	}
	seen[group] = true
	group = strings.TrimPrefix(group, "ansible.builtin.")
	if !strings.Contains(group, ".") {
		for _, other := range coreGroups[group] {
			l.addGroup(other, all, seen)
		}
		return
	}
	parts := strings.SplitN(group, ".", 3)
	if len(parts) < 3 {
		return
	}
	collection := parts[0] + "." + parts[1]
	for _, entry := range l.groupEntries(collection, parts[2]) {
		var name string
		if entry.Decode(&name) == nil {
			l.addAction(collection, name, all)
			continue
		}
		var meta struct {
			Metadata struct {
				Extend []string `yaml:"extend_group"`
			} `yaml:"metadata"`
		}
		if entry.Decode(&meta) != nil {
			continue // what cannot be read adds nothing, as in the rest of the file
		}
		for _, other := range meta.Metadata.Extend {
			if strings.Count(other, ".") < 2 {
				other = collection + "." + other
			}
			l.addGroup(other, all, seen)
		}
	}
}

// addAction adds an action under every name that a task may have for it.
func (l *Loader) addAction(collection, name string, all map[string]bool) {
	if !strings.Contains(name, ".") {
		name = collection + "." + name
	}
	all[name] = true
	all[stripPrefix(name)] = true
	if l.Modules == nil {
		return
	}
	if native := l.Modules.Native(name); native != "" {
		all[native] = true
	}
}

// groupEntries reads a group of a collection's meta/runtime.yml.
func (l *Loader) groupEntries(collection, group string) []yaml.Node {
	text, err := os.ReadFile(l.collectionDir(collection, filepath.Join("meta", "runtime.yml")))
	if err != nil {
		return nil
	}
	var file struct {
		Groups map[string][]yaml.Node `yaml:"action_groups"`
	}
	_ = yaml.Unmarshal(text, &file) // what cannot be read has no groups, as the reference has it
	return file.Groups[group]
}
