package playbook

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"play/engine/jinja"
	"play/modules/value"
)

// TestListTasks compares the order, names and tags of what is loaded with what
// ansible-core listed for the same files (see testdata/record_list.py).
func TestListTasks(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/list/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			dir := tree(t, files)
			pb, err := testLoader(dir).Load(filepath.Join(dir, "site.yml"))
			if err != nil {
				t.Fatal(err)
			}
			got, want := listTasks(t, pb), sortTags(files["want"])
			if got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			os.RemoveAll(dir)
		})
	}
}

var listedTags = regexp.MustCompile(`TAGS: \[(.*)\]`)

// sortTags puts the tags of each line in one order: a play's have none.
func sortTags(text string) string {
	return listedTags.ReplaceAllStringFunc(text, func(m string) string {
		tags := strings.FieldsFunc(listedTags.FindStringSubmatch(m)[1], func(r rune) bool { return r == ',' || r == ' ' })
		slices.Sort(tags)
		return "TAGS: [" + strings.Join(tags, ", ") + "]"
	})
}

func listTasks(t *testing.T, pb *Playbook) string {
	var b strings.Builder
	b.WriteString("\nplaybook: site.yml\n")
	for i, p := range pb.Plays {
		name := p.Name
		if name == nil {
			name = p.Hosts
		}
		fmt.Fprintf(&b, "\n  play #%d (%v): %v\tTAGS: [%s]\n    tasks:\n", i+1, p.Hosts, name, evaluated(t, p.Tags))
		nodes := slices.Clone(p.PreTasks)
		for _, r := range p.Roles {
			nodes = append(nodes, r)
		}
		for _, task := range listed(append(append(nodes, p.Tasks...), p.PostTasks...)) {
			if tags := evaluated(t, task.AllTags()); !strings.Contains(tags, "never") {
				fmt.Fprintf(&b, "      %s\tTAGS: [%s]\n", listName(task), tags)
			}
		}
	}
	return b.String()
}

// listed are the tasks that a listing shows: those in the bodies of blocks.
func listed(nodes []Node) []*Task {
	var tasks []*Task
	for _, n := range nodes {
		switch n := n.(type) {
		case *Block:
			tasks = append(tasks, listed(n.Body)...)
		case *Task:
			tasks = append(tasks, n)
		}
	}
	return tasks
}

func listName(t *Task) string {
	switch name := t.Name.(type) {
	case string:
		if t.Role != nil {
			return t.Role.Name + " : " + name
		}
		return name
	case *jinja.Template:
		return name.Source
	}
	return stripPrefix(t.Written)
}

// evaluated lists tags as text, sorted, each once.
func evaluated(t *testing.T, tags []any) string {
	ctx := &jinja.Context{Vars: jinja.Vars{Dict: value.DictOf("extra", "given")}}
	var all []string
	for _, tag := range tags {
		v, err := ctx.Resolve(tag)
		if err != nil {
			t.Error(err)
		}
		list, ok := tagsOf(v)
		if !ok {
			t.Errorf("no tags: %v", v)
		}
		for _, one := range list {
			all = append(all, one.(string))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}
