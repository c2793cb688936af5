package playbook

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"play/engine/jinja"
	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

var update = flag.Bool("update", false, "write the golden parts of testdata again")

// some knows the modules that the tests use.
type some struct{}

func (some) Known(name string) bool {
	for _, n := range (some{}).Names() {
		if n == name {
			return true
		}
	}
	return false
}

func (some) Native(full string) string {
	if full == "community.general.service" {
		return "service"
	}
	return ""
}

func (some) Names() []string {
	return []string{"command", "copy", "debug", "file", "ping", "service", "set_fact", "shell", "template", "user", "posix.net.sysctl"}
}

// TestGolden loads site.yml of each archive in testdata and compares the
// outline of what was loaded, or the errors and warnings, with its last file.
func TestGolden(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			golden(t, path)
		})
	}
}

func golden(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	want := ""
	for i, f := range archive.Files {
		if f.Name == "want" {
			want = string(f.Data)
			archive.Files = archive.Files[:i]
			break
		}
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := load(dir)
	if *update {
		archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// load is the outline of dir's site.yml, or its errors, with warnings first.
func load(dir string) string {
	var b strings.Builder
	tell := func(msg string, pos source.Pos) {
		b.WriteString(strings.ReplaceAll("warning "+pos.String()+": "+msg+"\n", dir+"/", ""))
	}
	l := testLoader(dir)
	l.Warn, l.YAML.Warn = tell, tell
	pb, err := l.Load(filepath.Join(dir, "site.yml"))
	if err != nil {
		for _, one := range flatten(err) {
			b.WriteString(strings.ReplaceAll(one, dir, ".") + "\n")
		}
		return b.String()
	}
	b.WriteString(outline(pb, dir))
	return b.String()
}

func testLoader(dir string) *Loader {
	return &Loader{
		YAML:            &yamlload.Loader{Env: jinja.NewEnv(jinja.Options{})},
		Modules:         some{},
		RolesPath:       []string{filepath.Join(dir, "more")},
		CollectionsPath: []string{filepath.Join(dir, "collections")},
		ExtraVars:       value.DictOf("extra", "given"),
	}
}

// flatten lists errors with their hints.
func flatten(err error) []string {
	list := []error{err}
	if several, ok := err.(*Errors); ok {
		list = several.List
	}
	var lines []string
	for _, e := range list {
		line := e.Error()
		if placed, ok := e.(*source.Error); ok && placed.Hint != "" {
			line += " (" + placed.Hint + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// FuzzLoad loads any text as a playbook: it must be read or refused.
func FuzzLoad(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	env := jinja.NewEnv(jinja.Options{})
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "site.yml")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l := testLoader(dir)
		l.YAML.Env = env
		pb, err := l.Load(path)
		if err == nil && pb == nil {
			t.Error("neither a playbook nor an error")
		}
	})
}
