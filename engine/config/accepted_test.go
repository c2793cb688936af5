package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryNameIsAccepted: no variable and no entry of ansible.cfg that Ansible,
// or a collection beside it, knows is warned of.
func TestEveryNameIsAccepted(t *testing.T) {
	t.Parallel()
	var environ []string
	for _, name := range strings.Fields(pluginEnv) {
		if strings.HasPrefix(name, "ANSIBLE_") {
			environ = append(environ, name+"=")
		}
	}
	sections := map[string][]string{}
	for _, o := range Options() {
		for _, place := range o.Ini {
			section, key, _ := strings.Cut(place, ".")
			if !slices.Contains(sections[section], key) {
				sections[section] = append(sections[section], key)
			}
		}
	}
	if len(environ) < 400 || len(sections) < 20 {
		t.Fatalf("%d variables, %d sections", len(environ), len(sections))
	}
	l := newLoader(Source{Environ: environ})
	for _, w := range l.unknown(&iniFile{}) {
		t.Error(w)
	}
	var text strings.Builder
	for section, keys := range sections {
		fmt.Fprintf(&text, "[%s]\n", section)
		for _, key := range keys {
			fmt.Fprintf(&text, "%s=\n", key)
		}
	}
	path := filepath.Join(t.TempDir(), "ansible.cfg")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := readINI(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range newLoader(Source{}).unknown(file) {
		t.Error(w)
	}
}

// TestInitIsReadBack: a first configuration with everything commented out is
// read, and changes nothing.
func TestInitIsReadBack(t *testing.T) {
	t.Parallel()
	first, err := Load(Source{Dir: t.TempDir(), Home: "/home/me", System: "/nonexistent"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ansible.cfg")
	if err := os.WriteFile(path, []byte(first.Init(Choice{}, "ini", true)), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Load(Source{Environ: []string{"ANSIBLE_CONFIG=" + path}, Dir: t.TempDir(), Home: "/home/me", System: "/nonexistent"})
	if err != nil || len(again.Warnings) > 0 {
		t.Fatalf("%v %q", err, again.Warnings)
	}
	if changed := again.Dump(Choice{Kind: "all"}, true); changed != "CONFIG_FILE() = "+path+"\n" {
		t.Errorf("a configuration with everything commented out changes %s", changed)
	}
}
