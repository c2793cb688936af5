package engine

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// forbidden lists which folders a folder must not import, tests included.
var forbidden = map[string][]string{
	"modules":          {"play/engine", "play/strategy", "play/action", "play/connection", "play/cmd"},
	"modules/value":    {"play/"},
	"modules/wire":     {"play/"},
	"connection":       {"play/engine", "play/strategy", "play/action", "play/cmd"},
	"action":           {"play/strategy", "play/cmd"},
	"engine":           {"play/strategy", "play/action", "play/connection", "play/cmd"},
	"engine/source":    {"play/"},
	"engine/event":     {"play/engine/task", "play/engine/playbook", "play/engine/vars"},
	"engine/jinja":     {"play/engine/playbook", "play/engine/inventory", "play/engine/vars", "play/engine/task", "play/engine/event", "golang.org/x/crypto/ssh"},
	"engine/yamlload":  {"play/engine/playbook", "play/engine/inventory", "play/engine/vars", "play/engine/task"},
	"engine/playbook":  {"play/engine/inventory", "play/engine/vars", "play/engine/task", "play/engine/iterator"},
	"engine/inventory": {"play/engine/playbook", "play/engine/vars", "play/engine/task"},
	"engine/iterator":  {"play/engine/vars", "play/engine/task", "play/engine/event", "play/engine/inventory"},
	"engine/vars":      {"play/engine/task", "play/engine/iterator", "play/engine/event"},
	"engine/task":      {"play/engine/iterator", "play/engine/output"},
	"engine/live":      {"play/engine/task", "play/engine/playbook", "play/engine/vars", "play/engine/jinja"},
	"engine/output":    {"play/engine/task", "play/engine/playbook", "play/engine/vars", "play/engine/jinja"},
	"engine/history":   {"play/engine/task", "play/engine/playbook", "play/engine/vars", "play/engine/jinja", "play/engine/inventory"},
	"engine/drift":     {"play/engine/task", "play/engine/playbook", "play/engine/vars", "play/engine/inventory"},
	"engine/lint":      {"play/engine/task", "play/engine/vars", "play/engine/inventory", "play/engine/event"},
	"engine/schema":    {"play/engine/task", "play/engine/vars", "play/engine/inventory", "play/engine/event", "play/engine/jinja"},
	"engine/report":    {"play/engine/event", "play/engine/task", "play/engine/playbook", "play/engine/vars", "play/engine/inventory"},
	"strategy":         {"play/action", "play/connection", "play/cmd", "play/engine/output"},
	"cmd/play-agent":   {"play/engine", "play/strategy", "play/action", "play/connection", "golang.org/x/crypto/ssh", "github.com/flosch"},
}

// allowed are exceptions by importing file's folder.
var allowed = map[string][]string{
	"modules/wire":  {"play/modules/value"},
	"engine/source": {"play/engine/source"},
}

func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		rel, _ := filepath.Rel(root, filepath.Dir(path))
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range file.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			if bad(rel, name) {
				t.Errorf("%s must not import %s", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func bad(folder, imported string) bool {
	for f, list := range forbidden {
		if folder != f && !strings.HasPrefix(folder, f+"/") {
			continue
		}
		for _, prefix := range list {
			if under(imported, prefix) && !excepted(folder, imported) {
				return true
			}
		}
	}
	return false
}

func under(name, prefix string) bool {
	return name == prefix || strings.HasPrefix(name, strings.TrimSuffix(prefix, "/")+"/")
}

func excepted(folder, imported string) bool {
	if under(imported, "play/"+folder) {
		return true
	}
	for _, a := range allowed[folder] {
		if under(imported, a) {
			return true
		}
	}
	return false
}
