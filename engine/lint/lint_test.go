package lint_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"play/engine/jinja"
	"play/engine/lint"
)

func linter() *lint.Linter { return lint.New(jinja.NewEnv(jinja.Options{})) }

// TestRules tries a text for each rule: the lines where it must find something,
// and none besides.
func TestRules(t *testing.T) {
	t.Parallel()
	l := linter()
	head := "- hosts: all\n  tasks:\n"
	for name, c := range map[string]struct{ text, want string }{
		"syntax":             {"a: [\n", "syntax:1"},
		"duplicate-key":      {head + "    - name: x\n      debug: {msg: a, msg: b}\n", "duplicate-key:4"},
		"unknown-keyword":    {"- hosts: all\n  taks: []\n  tasks:\n    - name: x\n      ping:\n      whn: y\n    - block: []\n      loop: []\n", "unknown-keyword:2 unknown-keyword:6 unknown-keyword:8"},
		"unknown-module":     {head + "    - name: x\n      copyy: {}\n    - name: y\n      some.coll.any: {}\n", "unknown-module:4"},
		"unknown-option":     {head + "    - name: x\n      copy: {src: a, dst: b, dest: c}\n    - name: y\n      set_fact: {any: 1}\n", "unknown-option:4"},
		"bad-choice":         {head + "    - name: x\n      file: {path: a, state: instaled}\n    - name: y\n      file: {path: a, state: '{{ s }}'}\n", "bad-choice:4"},
		"unknown-filter":     {head + "    - name: x\n      debug: {msg: '{{ a | nofilter }} {{ b is notest }}'}\n      when: c | alsono\n      with_nolookup: []\n", "unknown-filter:4 unknown-filter:4 unknown-filter:5 unknown-filter:6"},
		"template-syntax":    {head + "    - name: x\n      debug: {msg: '{{ a b }}'}\n      when: c ==\n", "template-syntax:4 template-syntax:5"},
		"deprecated-include": {head + "    - name: x\n      include: other.yml\n", "deprecated-include:4"},
		"bare-variable":      {head + "    - name: x\n      ping:\n      with_items: things\n    - name: y\n      ping:\n      with_items: [a]\n", "bare-variable:5"},
		"bad-mode":           {head + "    - name: x\n      file: {path: a, mode: 644}\n    - name: y\n      file: {path: a, mode: 0644}\n    - name: z\n      file: {path: a, mode: '644'}\n", "bad-mode:4"},
		"mixed-arguments":    {head + "    - name: x\n      copy: src=a dest=b\n      args: {mode: '0644'}\n    - name: y\n      command: id\n      args: {chdir: /}\n      changed_when: false\n", "mixed-arguments:5"},
		"when-braces":        {head + "    - name: x\n      ping:\n      when: \"{{ a }}\"\n    - name: y\n      ping:\n      when: [a, \"b == '{{ c }}'\"]\n", "when-braces:5 when-braces:8"},
		"loose-condition":    {head + "    - name: x\n      ping:\n      when: a | length\n    - name: y\n      ping:\n      when: a | length > 0\n    - name: z\n      ping:\n      when: out.stdout\n    - name: v\n      ping:\n      when: flag\n", "loose-condition:5 loose-condition:11"},
		"become-user-alone":  {"- hosts: all\n  become_user: a\n", "become-user-alone:2"},
		"become":             {"- hosts: all\n  become: true\n  tasks:\n    - name: x\n      ping:\n      become_user: a\n", ""},
		"no-changed-when":    {head + "    - name: x\n      command: id\n    - name: y\n      command: id\n      args: {creates: /x}\n    - name: z\n      shell: id > x\n      changed_when: false\n", "no-changed-when:4"},
		"shell-not-needed":   {head + "    - name: x\n      shell: ls -l /tmp\n      changed_when: false\n    - name: y\n      shell: ls | wc\n      changed_when: false\n    - name: z\n      shell: cd /x\n      changed_when: false\n", "shell-not-needed:4"},
		"truthy":             {"- hosts: all\n  become: yes\n  tasks:\n    - name: x\n      copy: {src: a, dest: b, backup: on}\n", "truthy:2 truthy:5"},
		"unnamed-task":       {head + "    - ping:\n    - name: x\n      ping:\n", "unnamed-task:3"},
		"noqa":               {head + "    - ping: # noqa\n    - file: {path: a, mode: 644} # noqa: bad-mode\n", "unnamed-task:4"},
		"no playbook":        {"- name: x\n  hosts: y\n- {a: 1, mode: 644}\n", ""},
		"vars":               {"mode: 644\nbecome: yes\n", ""},
		"vault":              {"$ANSIBLE_VAULT;1.1;AES256\n3132\n", ""},
		"several":            {"---\n- hosts: all\n  roles: []\n---\nx: 1\n", ""},
	} {
		var got []string
		for _, f := range l.File("site.yml", []byte(c.text)) {
			got = append(got, fmt.Sprintf("%s:%d", f.Rule, f.Pos.Line))
		}
		if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" && len(got)+len(c.want) > 0 {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestFix puts right what it can, leaves everything else as it is, and finds
// nothing to do the second time.
func TestFix(t *testing.T) {
	t.Parallel()
	before := `# a comment
- hosts: all   # kept
  become: yes
  tasks:
    - name: "ä"
      file: {path: "é", mode: 644, state: touch, force: no}  # kept
      when: "{{ a and
             b }}"
    - name: y
      file:
        mode: 1777
        path: x
      when:
        - "{{ c.d }}"
        - '{{ e == "f" }}'
      with_items: things.more
`
	after := `# a comment
- hosts: all   # kept
  become: true
  tasks:
    - name: "ä"
      file: {path: "é", mode: "0644", state: touch, force: false}  # kept
      when: "{{ a and
             b }}"
    - name: y
      file:
        mode: "01777"
        path: x
      when:
        - "c.d"
        - '{{ e == "f" }}'
      with_items: "{{ things.more }}"
`
	l := linter()
	got, n := lint.Fix([]byte(before), l.File("site.yml", []byte(before)))
	if diff := cmp.Diff(after, string(got)); diff != "" || n != 6 {
		t.Errorf("%d edits:\n%s", n, diff)
	}
	again, n := lint.Fix(got, l.File("site.yml", got))
	if n != 0 || string(again) != string(got) {
		t.Errorf("the second time %d edits were made", n)
	}
}

// refused tells whether a recorded run ended before any task: its playbook is
// wrong on purpose.
func refused(a *txtar.Archive) bool {
	return strings.Contains(string(a.Comment), "exit status 4") || strings.Contains(string(a.Comment), "exit status 1\n")
}

// ownModules tells which modules an archive brings itself.
func ownModules(a *txtar.Archive) func(string) bool {
	return func(name string) bool {
		name = name[strings.LastIndexByte(name, '.')+1:]
		return slices.ContainsFunc(a.Files, func(f txtar.File) bool {
			base := filepath.Base(f.Name)
			return strings.TrimSuffix(base, filepath.Ext(base)) == name && !strings.HasSuffix(base, ".yml")
		})
	}
}

// TestRecorded looks at every recorded playbook: those that ran have no error to
// find, but for the few that are about one.
func TestRecorded(t *testing.T) {
	t.Parallel()
	paths, _ := filepath.Glob("../../cmd/play/testdata/recorded/*.txtar")
	base := linter()
	n, alarms := 0, 0
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l := *base
		l.Known = ownModules(a)
		for _, f := range a.Files {
			if filepath.Ext(f.Name) != ".yml" {
				continue
			}
			n++
			for _, found := range l.File(f.Name, f.Data) {
				if found.Level == lint.Error && !refused(a) {
					alarms++
					t.Logf("%s %s: %s: %s", filepath.Base(path), found.Pos, found.Rule, found.Msg)
				}
			}
		}
	}
	if n < 100 || alarms > n/20 {
		t.Errorf("%d alarms in %d files", alarms, n)
	}
}
