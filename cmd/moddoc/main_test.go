package main

import (
	"os"
	"strings"
	"testing"

	"play/action"
	"play/modules/moddoc"
)

// TestCoverage holds the promise about native modules.
func TestCoverage(t *testing.T) {
	t.Parallel()
	c, err := covered()
	if err != nil {
		t.Fatal(err)
	}
	if c.Percent() < 97 {
		t.Errorf("%.2f %% of the uses are native, want 97 %%: missing are %v", c.Percent(), c.Missing)
	}
}

// TestTableIsUpToDate compares docs/modules.md with what is there.
func TestTableIsUpToDate(t *testing.T) {
	t.Parallel()
	var now strings.Builder
	if err := table(&now, os.DirFS("../..")); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/modules.md")
	if err != nil || string(page) != now.String() {
		t.Errorf("docs/modules.md is not what the code says (%v): run make docs", err)
	}
}

// TestActionsAreTold wants an entry for every action that is no module.
func TestActionsAreTold(t *testing.T) {
	t.Parallel()
	for _, name := range action.Names() {
		if e, ok := moddoc.Find(name); !ok || e.Examples == "" {
			t.Errorf("there is no modules/moddoc/data/%s.yml", name)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"x"}, {"table", "x"}} {
		if err := run(args, nil); err == nil || !strings.Contains(err.Error(), "usage") {
			t.Errorf("%q: %v", args, err)
		}
	}
	var out strings.Builder
	if err := run([]string{"coverage"}, &out); err != nil || !strings.HasPrefix(out.String(), "native: 9") {
		t.Errorf("got %v, %s", err, &out)
	}
}
