package modules_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"play/modules"
)

//go:embed testdata/names/names.tsv
var recordedNames string

// TestNames: every native module stands for exactly the full names that
// ansible-core's collections lead to it by.
func TestNames(t *testing.T) {
	t.Parallel()
	homes, ends := map[string][]string{}, map[string]string{}
	for line := range strings.Lines(recordedNames) {
		full, end, routed := strings.Cut(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(full, "#") {
			continue
		}
		if !routed {
			end = full
		}
		ends[full] = end
		if !strings.HasPrefix(full, "ansible.builtin.") || end == full {
			homes[end] = append(homes[end], full)
		}
	}
	for _, m := range modules.All() {
		own := m.FullNames()[0]
		if strings.HasPrefix(m.Name, "_") || len(homes[own]) == 0 && !elsewhere(ends, m.Name) {
			continue // younger than the record
		}
		got, want := m.FullNames(), homes[own]
		for _, full := range want {
			hint := ".Formerly"
			collection, same := strings.CutSuffix(full, "."+m.Name)
			if same {
				hint = ".In"
			}
			if !slices.Contains(got, full) {
				t.Errorf("%s also stands for %s: add %q to its %s", m.Name, full, collection, hint)
			}
		}
		for _, full := range got {
			if ends[full] != own {
				t.Errorf("%s does not stand for %s: the reference has %q there", m.Name, full, ends[full])
			}
		}
	}
}

// elsewhere reports whether a module's short name leads to a collection, or is
// a name that only collections have.
func elsewhere(ends map[string]string, name string) bool {
	for full := range ends {
		if strings.HasSuffix(full, "."+name) {
			return true
		}
	}
	return false
}
