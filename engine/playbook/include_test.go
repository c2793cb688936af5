package playbook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/engine/source"
	"play/modules/value"
)

// tree writes files below a temporary folder and returns it.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// first loads site.yml and returns its first play's first task.
func first(t testing.TB, dir string) (*Loader, *Task) {
	t.Helper()
	l := testLoader(dir)
	pb, err := l.Load(filepath.Join(dir, "site.yml"))
	if err != nil {
		t.Fatal(err)
	}
	n := pb.Plays[0].Tasks[0]
	for {
		b, ok := n.(*Block)
		if !ok {
			return l, n.(*Task)
		}
		n = b.Body[0]
	}
}

func show(nodes ...Node) string {
	o := outliner{root: "none"}
	o.nodes(0, "nodes", nodes)
	return o.b.String()
}

func TestIncludeTasks(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"site.yml": `
- hosts: all
  tasks:
    - block:
        - name: inc
          include_tasks: {file: "{{ f }}", apply: {become: yes, tags: [deep], when: later, vars: {a: 1}}}
          vars: {v: "{{ w }}"}
          tags: own
          when: never_inherited
          no_log: yes
      when: around
      tags: outer
`,
		"more.yml": "- ping:\n  tags: mine\n- include_tasks: sub/next.yml\n",
	})
	l, task := first(t, dir)
	b, path, err := l.IncludeTasks("more.yml", task, value.DictOf("file", "more.yml"), value.DictOf("item", "{{ data }}"))
	if err != nil {
		t.Fatal(err)
	}
	if path != filepath.Join(dir, "more.yml") {
		t.Errorf("path %q", path)
	}
	want := `nodes:
  implicit - become=true tags=["deep"] when=(later) vars={a: 1} params={v: <{{ w }}>, item: "{{ data }}"}
  body:
    task - ping {} tags=["outer", "deep", "mine"] when=(around & later)
    task - include_tasks {_raw_params: "sub/next.yml"} tags=["outer", "deep"] when=(around & later)
`
	if got := show(b); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	inner := b.Body[0].(*Task)
	if a, ok := inner.Inherit("become"); !ok || a.Value != true {
		t.Errorf("become is %v", a.Value)
	}
	if _, ok := inner.Inherit("no_log"); ok {
		t.Error("the include's own keywords must not reach its tasks")
	}
	if chain := inner.VarChain(); len(chain) != 1 || chain[0] != b.Vars {
		t.Errorf("vars chain of %d", len(chain))
	}
	if _, ok := task.Vars.Get("item"); ok {
		t.Error("the include task itself was changed")
	}
	if _, _, err := l.IncludeTasks("absent.yml", task, nil, nil); err == nil || !strings.Contains(err.Error(), "Could not find or access 'absent.yml' on the Ansible Controller.") {
		t.Errorf("absent: %v", err)
	}
}

func TestIncludeRole(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"site.yml":                     "- hosts: all\n  roles: [top]\n  tasks:\n    - import_role: {name: top}\n",
		"roles/top/tasks/main.yml":     "- include_role: {name: leaf, tasks_from: sub/x, apply: {become: yes}}\n  vars: {p: 1}\n",
		"roles/top/vars/main.yml":      "t: 1\n",
		"roles/leaf/tasks/sub/x.yml":   "- ping:\n  notify: h\n",
		"roles/leaf/handlers/main.yml": "- name: h\n  ping:\n",
		"roles/leaf/meta/main.yml":     "dependencies: [under]\n",
		"roles/under/tasks/main.yml":   "- debug:\n",
		"roles/leaf/vars/main.yml":     "l: 1\n",
	})
	l, task := first(t, dir)
	b, handlers, err := l.IncludeRole(task, task.Args, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(show(b), " rolevars={t: 1}", "")
	want := `nodes:
  implicit - role=top become=true params={p: 1}
  body:
    implicit - role=under under=leaf under=top once
    body:
      task - debug {}
    implicit - role=leaf rolevars={l: 1} under=top
    body:
      task - ping {} notify="h"
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if len(handlers) != 1 || !handlers[0].Handler || handlers[0].Role.Name != "leaf" {
		t.Errorf("handlers %v", handlers)
	}
	leaf := b.Body[1].(*Block)
	if a, ok := leaf.Body[0].(*Task).Inherit("become"); !ok || a.Value != true {
		t.Error("apply does not reach the role's tasks")
	}
	again, _, err := l.IncludeRole(task, task.Args, nil)
	if err != nil || again.Body[1].(*Block).Role != leaf.Role {
		t.Errorf("a second run of the include must share the Role (%v)", err)
	}
	if _, _, err := l.IncludeRole(task, value.DictOf("name", "laef"), nil); err == nil || !strings.Contains(err.Error(), "the role 'laef' was not found") {
		t.Errorf("unknown role: %v", err)
	}
}

func TestIncludeDepth(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"site.yml": "- hosts: all\n  tasks: [include_tasks: again.yml]\n", "again.yml": "- include_tasks: again.yml\n"})
	l, task := first(t, dir)
	for range 1000 {
		b, _, err := l.IncludeTasks("again.yml", task, task.Args, nil)
		if err != nil {
			if !strings.Contains(err.Error(), "includes nest deeper") {
				t.Fatal(err)
			}
			return
		}
		task = b.Body[0].(*Task)
	}
	t.Error("no end")
}

func TestManyMistakes(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("- hosts: all\n  tasks:\n")
	for i := range maxErrors + 10 {
		fmt.Fprintf(&b, "    - pong%d:\n", i)
	}
	dir := tree(t, map[string]string{"site.yml": b.String()})
	_, err := testLoader(dir).Load(filepath.Join(dir, "site.yml"))
	var several *Errors
	if !errors.As(err, &several) || len(several.List) != maxErrors || several.More != 10 {
		t.Fatalf("got %v", err)
	}
	var one *source.Error
	if !errors.As(err, &one) || one.Pos.Line != 3 {
		t.Errorf("the first mistake is %v", one)
	}
}

func TestArgumentSpec(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"site.yml":                        "- hosts: all\n  roles: [r]\n",
		"roles/r/meta/argument_specs.yml": "argument_specs:\n  main:\n    short_description: What it is\n    options: {x: {type: int}}\n",
		"roles/r/tasks/main.yml":          "- ping:\n",
	})
	l := testLoader(dir)
	l.Modules = nil
	pb, err := l.Load(filepath.Join(dir, "site.yml"))
	if err != nil {
		t.Fatal(err)
	}
	o := outliner{root: dir}
	o.nodes(0, "body", pb.Plays[0].Roles[0].Body)
	want := `body:
  task "Validating arguments against arg spec 'main' - What it is" validate_argument_spec {argument_spec: {x: {type: "int"}}, provided_arguments: {}, validate_args_context: {type: "role", name: "r", argument_spec_name: "main", path: "roles/r"}} tags=["always"]
  task - ping {}
`
	if got := strings.ReplaceAll(o.b.String(), dir+"/", ""); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestVarsFile(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"site.yml": "- hosts: all\n  vars_files: [a.yml]\n", "a.yml": "x: beside\n", "vars/a.yml": "x: inside\n", "b.yml": "x: b\n"})
	l := testLoader(dir)
	pb, err := l.Load(filepath.Join(dir, "site.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]string{"a.yml": "inside", "no.yml b.yml": "b"} {
		d, err := l.VarsFile(pb.Plays[0], strings.Fields(names))
		if err != nil {
			t.Fatal(err)
		}
		if x, _ := d.Get("x"); x != want {
			t.Errorf("%s: x is %v, want %s", names, x, want)
		}
	}
	if _, err := l.VarsFile(pb.Plays[0], []string{"no.yml"}); err == nil || !strings.Contains(err.Error(), "vars file no.yml was not found") {
		t.Errorf("got %v", err)
	}
}

// BenchmarkInclude shows that a repeated include costs the same each time.
func BenchmarkInclude(b *testing.B) {
	dir := tree(b, map[string]string{
		"site.yml": "- hosts: all\n  tasks: [include_tasks: more.yml]\n",
		"more.yml": strings.Repeat("- debug: msg=\"{{ item }} of {{ x }}\"\n  when: x is defined\n", 20)})
	l, task := first(b, dir)
	for b.Loop() {
		if _, _, err := l.IncludeTasks("more.yml", task, task.Args, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	var text strings.Builder
	text.WriteString("- hosts: all\n  tasks:\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "    - name: task %d\n      copy: {src: a, dest: \"/x/{{ item }}\"}\n      when: x == %d\n      loop: [1, 2]\n      tags: [a]\n", i, i)
	}
	dir := tree(b, map[string]string{"site.yml": text.String()})
	for b.Loop() {
		if _, err := testLoader(dir).Load(filepath.Join(dir, "site.yml")); err != nil {
			b.Fatal(err)
		}
	}
}
