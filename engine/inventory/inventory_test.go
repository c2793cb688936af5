package inventory

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"play/engine/source"
)

var update = flag.Bool("update", false, "write the golden files")

// inventoryCase is one recorded inventory of testdata/inventories.
type inventoryCase struct {
	Name, List, Export, Graph string
	GraphVars                 string `json:"graph_vars"`
	YAML                      string
	YAMLExport                string `json:"yaml_export"`
	Warnings                  []string
	Fails                     string
}

func TestInventories(t *testing.T) {
	t.Parallel()
	for _, c := range recorded[inventoryCase](t, "testdata/inventories.json") {
		if c.Fails != "" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			checkInventory(t, c)
		})
	}
}

// unpack writes a case's files and reads its command line.
func unpack(t *testing.T, name string) (dir string, sources []string, playbookDir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/inventories", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	archive := txtar.Parse(data)
	for _, f := range archive.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		mode := fs.FileMode(0o644)
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, mode); err != nil {
			t.Fatal(err)
		}
	}
	words := strings.Fields(string(archive.Comment))
	for i := 0; i+1 < len(words); i += 2 {
		if words[i] == "-i" {
			sources = append(sources, words[i+1])
		} else {
			playbookDir = filepath.Join(dir, words[i+1])
		}
	}
	return dir, sources, playbookDir
}

func checkInventory(t *testing.T, c inventoryCase) {
	dir, sources, playbookDir := unpack(t, c.Name)
	var warnings []string
	inv, err := Load(sources, Options{Dir: dir, Warn: func(msg string) { warnings = append(warnings, msg) }})
	r := &Render{Inventory: inv, PlaybookDir: playbookDir}
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(shortWarnings(dir, warnings), shortWarnings(dir, c.Warnings)) {
		t.Errorf("warnings %q, want %q", warnings, c.Warnings)
	}
	compare(t, "--list", listText(t, r, false), c.List)
	compare(t, "--list --yaml", listText(t, r, true), c.YAML)
	compare(t, "--graph", graphText(t, r, false), c.Graph)
	compare(t, "--graph --vars", graphText(t, r, true), c.GraphVars)
	r.Export = true
	compare(t, "--list --export", listText(t, r, false), c.Export)
	compare(t, "--list --yaml --export", listText(t, r, true), c.YAMLExport)
}

func shortWarnings(dir string, all []string) []string {
	out := make([]string, 0, len(all))
	for _, w := range all {
		// A merge key that is overridden is no repeated key here.
		if w = strings.ReplaceAll(w, dir, "."); !strings.HasPrefix(w, "While constructing a mapping") {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}

func listText(t *testing.T, r *Render, yaml bool) string {
	t.Helper()
	s, err := r.ListText(yaml)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func graphText(t *testing.T, r *Render, vars bool) string {
	t.Helper()
	s, err := r.Graph("all", vars)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func compare(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s\n%s\nwant\n%s", what, got, want)
	}
}

// errorPlace is how a located error begins.
var errorPlace = regexp.MustCompile(`^\S+(:\d+(:\d+)?)?: cannot `)

// TestInventoryErrors compares the errors of all inventories that Ansible
// refuses with testdata/errors.txt; -update writes it.
func TestInventoryErrors(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, c := range recorded[inventoryCase](t, "testdata/inventories.json") {
		if c.Fails == "" {
			continue
		}
		dir, sources, _ := unpack(t, c.Name)
		inv, err := Load(sources, Options{Dir: dir})
		if err == nil {
			_, err = (&Render{Inventory: inv}).List()
		}
		if err == nil {
			t.Errorf("%s: no error", c.Name)
			continue
		}
		text := strings.ReplaceAll(err.Error(), dir+"/", "")
		if !errorPlace.MatchString(text) {
			t.Errorf("error without a place: %s", text)
		}
		var located *source.Error
		if errors.As(err, &located) && located.Hint != "" {
			text += "\n    hint: " + strings.ReplaceAll(located.Hint, dir+"/", "")
		}
		got.WriteString(c.Name + "\n    " + text + "\n")
	}
	if *update {
		if err := os.WriteFile("testdata/errors.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "errors", got.String(), string(want))
}
