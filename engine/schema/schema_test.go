package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"play/engine/schema"
)

func compiled(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	doc, err := schema.Of(kind)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("play.json", parsed); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("play.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func check(s *jsonschema.Schema, text string) error {
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return err
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	inst, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		return err
	}
	return s.Validate(inst)
}

// TestKinds compiles every schema and tries a file of each kind, and one with a
// mistake.
func TestKinds(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct{ good, bad []string }{
		"playbook": {
			[]string{"- hosts: all\n  tasks: [{debug: {msg: hi}}, {block: [{ping: null}], when: x, rescue: [{fail: {msg: no}}]}]\n", "- import_playbook: other.yml\n",
				"- hosts: all\n  become: yes\n  serial: [1, '20%']\n  roles: [a, {role: b, x: 1}]\n  tasks: [{copy: 'src=a dest=b', with_items: [1]}, {my.own.module: {a: 1}}, {apt: {name: [a, b], state: '{{ s }}'}}]\n"},
			[]string{"- hosts: all\n  taks: []\n", "- hosts: all\n  tasks: [{copyy: {src: a}}]\n", "- tasks: []\n", "- hosts: all\n  tasks: [{copy: {src: a, dest: b, mod: 1}}]\n",
				"- hosts: all\n  tasks: [{file: {path: a, state: instaled}}]\n", "- hosts: all\n  tasks: [{file: {state: absent}}]\n", "- hosts: all\n  tasks: [{block: [], blok: 1}]\n",
				"- hosts: all\n  become: maybe\n", "- hosts: all\n  tasks: [{debug: {msg: x}, loop_control: {lable: x}}]\n"},
		},
		"tasks":     {[]string{"- ping:\n", "[]", "- command: id\n  register: x\n"}, []string{"a: 1", "- pong:\n", "- command: id\n  register: a-b\n"}},
		"handlers":  {[]string{"- name: x\n  listen: y\n  service: {name: a, state: restarted}\n"}, []string{"- name: x\n  lisen: y\n  ping:\n"}},
		"role-meta": {[]string{"dependencies: [a, {role: b}]\ngalaxy_info: {author: me}\n"}, []string{"dependancies: []\n", "dependencies: [{x: y}]\n"}},
		"inventory": {[]string{"all: {hosts: {a: {x: 1}, b: }, children: {web: {hosts: {c: }}}, vars: {y: 2}}\n", "plugin: x\nanything: 1\n", "web:\n"},
			[]string{"all: {host: {a: }}\n", "all: {children: {web: {hots: {}}}}\n"}},
		"vars": {[]string{"a: 1\nb_c: [x]\n"}, []string{"a-b: 1\n", "[]"}},
	} {
		s := compiled(t, kind)
		for _, text := range c.good {
			if err := check(s, text); err != nil {
				t.Errorf("%s refuses %q: %v", kind, text, err)
			}
		}
		for _, text := range c.bad {
			if check(s, text) == nil {
				t.Errorf("%s accepts %q", kind, text)
			}
		}
	}
	if _, err := schema.Of("nothing"); err == nil {
		t.Error("there is a schema of nothing")
	}
}

// special tells whether a recorded playbook is wrong on purpose, or brings
// modules of its own.
func special(a *txtar.Archive) bool {
	for _, f := range a.Files {
		if strings.Contains(f.Name, "library/") || strings.Contains(f.Name, "plugins/") {
			return true
		}
	}
	return strings.Contains(string(a.Comment), "exit status 4") || strings.Contains(string(a.Comment), "exit status 1\n")
}

// TestAccepts tries the examples and every recorded playbook: all but the few
// that are about a mistake are accepted.
func TestAccepts(t *testing.T) {
	t.Parallel()
	s := compiled(t, "playbook")
	texts := map[string]string{}
	examples, _ := filepath.Glob("../../examples/*.yml")
	for _, path := range examples {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(data)
	}
	recorded, _ := filepath.Glob("../../cmd/play/testdata/recorded/*.txtar")
	for _, path := range recorded {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if text := string(f.Data); !special(a) && strings.HasSuffix(f.Name, ".yml") && !strings.Contains(f.Name, "/") && strings.Contains(text, "hosts:") {
				texts[filepath.Base(path)+" "+f.Name] = text
			}
		}
	}
	if len(texts) < 100 {
		t.Fatalf("there are only %d playbooks", len(texts))
	}
	refused := 0
	for name, text := range texts {
		if err := check(s, text); err != nil {
			refused++
			t.Logf("%s: %v", name, err)
			if strings.HasPrefix(name, "../../examples") {
				t.Error("an example is refused")
			}
		}
	}
	if refused > len(texts)/20 {
		t.Errorf("%d of %d playbooks are refused", refused, len(texts))
	}
}
