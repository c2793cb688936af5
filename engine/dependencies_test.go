package engine

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestDependenciesAreNamed checks that docs/dependencies.md names the module
// of every import from outside.
func TestDependenciesAreNamed(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]string{}
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range file.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			if module := moduleOf(name); module != "" && !strings.Contains(string(doc), "`"+module) {
				missing[module] = path
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for module, path := range missing {
		t.Errorf("docs/dependencies.md does not name %s, which %s imports", module, path)
	}
}

// moduleOf is the module of an import path outside of the standard library and
// of play, without its version.
func moduleOf(path string) string {
	parts := strings.Split(path, "/")
	if !strings.Contains(parts[0], ".") {
		return ""
	}
	return strings.Join(parts[:min(len(parts), depthOf(parts[0]))], "/")
}

// depthOf is how many path elements name a module at a host.
func depthOf(host string) int {
	if host == "gopkg.in" {
		return 2
	}
	return 3
}
