package pyhost_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"play/engine/inventory"
	"play/engine/jinja"
	"play/engine/modulefind"
	"play/engine/pyhost"
	"play/engine/source"
	"play/modules/value"
)

// files are a playbook's folder with plugins of all kinds.
var files = map[string]string{
	"filter_plugins/mine.py": `
import datetime, os, time
from jinja2 import pass_environment
def shout(v, mark='!', *more, **kw): return v.upper() + mark + ''.join(more) + ','.join(sorted(kw))
@pass_environment
def envy(env, v): return env.__class__.__name__ and v
def kinds(v): return [1, 2.5, None, True, (1, 'a'), {1: 'x'}, 2**70, b'\xff', datetime.datetime(2020, 1, 2, 3, 4, 5)]
def types(v): return [type(i).__name__ for i in v]
def boom(v): raise ValueError('odd ' + v)
def evil(v): return '{{ 1 + 1 }}'
def noisy(v):
    print('noise'); os.write(1, b'noise')
    return v
def hang(v): open(v, 'w').close(); time.sleep(600)
def die(v): os._exit(3)
def leave(v): raise SystemExit(0)
class FilterModule(object):
    def filters(self):
        return {n: f for n, f in globals().items() if n in ('shout', 'envy', 'kinds', 'types', 'boom', 'evil', 'noisy', 'hang', 'die', 'leave')}
NAMES = ['shout', 'envy', 'kinds', 'types', 'boom', 'evil', 'noisy', 'hang', 'die', 'leave']
`,
	"filter_plugins/broken.py": "'other'\nimport nosuchmodule\n",
	"filter_plugins/upper.py":  "class FilterModule:\n    def filters(self): return {'upper': lambda v: 'own ' + v}\n",
	"test_plugins/t.py":        "class TestModule(object):\n    def tests(self): return {'tall': lambda v, than=2: v > than}\n",
	"lookup_plugins/seen.py": `from ansible.plugins.lookup import LookupBase
class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        return [[t, variables.get(t), 'nosuch' in variables, sorted(variables)] for t in terms] + [kwargs]
`,
	"coll/ansible_collections/my/coll/plugins/filter/cf.py": "class FilterModule(object):\n    def filters(self): return {'incoll': lambda v: 'coll ' + v}\n",
	"coll/ansible_collections/my/coll/plugins/lookup/cl.py": "from ansible.plugins.lookup import LookupBase\nclass LookupModule(LookupBase):\n    def run(self, terms, variables=None, **kwargs): return ['cl ' + t for t in terms]\n",
}

// world writes the files and makes an environment with their plugins.
func world(t *testing.T, ctx context.Context, core string) (env *jinja.Env, dir string, warned *[]string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	finder := &modulefind.Finder{Collections: []string{dir + "/coll"}}
	warned = &[]string{}
	h := pyhost.New(pyhost.Options{Context: ctx, Core: core, Env: append(os.Environ(), "HOME="+dir, "PYTHONDONTWRITEBYTECODE=1"), Collections: finder.Collections, Root: finder.Root,
		Folders: map[string][]string{"filter": {dir + "/none", dir + "/filter_plugins"}, "test": {dir + "/test_plugins"}, "lookup": {dir + "/lookup_plugins"}},
		Warn:    func(msg string) { *warned = append(*warned, msg) }})
	t.Cleanup(h.Close)
	return jinja.NewEnv(jinja.Options{Plugin: h.Plugin}), dir, warned
}

// core is the installed ansible-core, or the test is skipped.
func core(t *testing.T) string {
	t.Helper()
	dir := modulefind.FindCore(os.Getenv)
	if dir == "" {
		t.Skip("ansible-core, which Python plugins need, is not installed here")
	}
	return dir
}

func eval(t *testing.T, ctx context.Context, env *jinja.Env, text string) (any, error) {
	t.Helper()
	tmpl, err := env.Template(text, source.Pos{File: "p.yml", Line: 3, Col: 1})
	if err != nil {
		t.Fatal(err)
	}
	other, err := env.Load("{{ base | string | shout }}", source.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	return tmpl.Value(&jinja.Context{Go: ctx, Vars: jinja.Vars{Dict: value.DictOf("base", 5, "other", other)}})
}

func TestPlugins(t *testing.T) {
	t.Parallel()
	env, _, warned := world(t, t.Context(), core(t))
	for _, c := range []struct{ text, want string }{
		{"{{ 'a' | shout }}", `'A!'`},
		{"{{ 'a' | shout('?', 'b', k=1) }}", `'A?bk'`},
		{"{{ ['q', 'w'] | map('shout') | list }}", `['Q!', 'W!']`},
		{"{{ 'a' | upper }}", `'own a'`},
		{"{{ 'A' | ansible.builtin.lower }}", `'a'`},
		{"{{ [3 is tall, 3 is tall(than=4), 3 is not tall] }}", `[True, False, False]`},
		{"{{ 'n' | noisy | envy }}", `'n'`},
		{"{{ 1 | kinds }}", "[1, 2.5, None, True, (1, 'a'), {1: 'x'}, 1180591620717411303424, '\\udcff', '2020-01-02 03:04:05']"},
		{"{{ ['a', 1, 1.5, {'a': 1}, [1], none, true, '2020-01-02' | to_datetime('%Y-%m-%d')] | types }}", `['str', 'int', 'float', 'dict', 'list', 'NoneType', 'bool', 'datetime']`},
		{"{{ lookup('seen', 'other', opt=1, wantlist=True) }}", `[['other', '5!', False, []], {'opt': 1}]`},
		{"{{ 'x' | my.coll.incoll }} {{ lookup('my.coll.cl', 'z') }}", `'coll x cl z'`},
		{"{{ 'v' | evil }}", `'{{ 1 + 1 }}'`},
		{"{{ nosuch | shout }}", "error: p.yml:3:11: 'nosuch' is undefined"},
		{"{{ 'v' | boom }}", `error: p.yml:3:8: the filter plugin "boom" failed: ValueError: odd v`},
		{"{{ 'v' | leave }}", `wants to end the program`},
		{"{{ 'v' | shout(1, 2) }}", `TypeError`},
		{"{{ 'v' | other }}", `No filter named 'other'`},
		{"{{ 'v' | die }}", `the Python process for plugins has ended`},
		{"{{ 'again' | shout }}", `'AGAIN!'`},
	} {
		got, err := eval(t, t.Context(), env, c.text)
		shown := value.Repr(got)
		if err != nil {
			shown = "error: " + err.Error()
		}
		if shown != c.want && (err == nil || !strings.Contains(shown, c.want)) {
			t.Errorf("%s\n got %s\nwant %s", c.text, shown, c.want)
		}
	}
	if all := strings.Join(*warned, "\n"); !strings.Contains(all, "broken.py") || !strings.Contains(all, "nosuchmodule") || len(*warned) != 1 {
		t.Errorf("warned %q", all)
	}
}

// TestHangingPluginEndsWithTheRun: the end of the evaluation's context ends it.
func TestHangingPluginEndsWithTheRun(t *testing.T) {
	t.Parallel()
	env, dir, _ := world(t, t.Context(), core(t))
	why := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	mark := filepath.Join(dir, "begun")
	go func() {
		for range 1000 {
			if _, err := os.Stat(mark); err == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		cancel(why)
	}()
	if _, err := eval(t, ctx, env, "{{ '"+mark+"' | hang }}"); err == nil || !strings.Contains(err.Error(), why.Error()) {
		t.Errorf("got %v", err)
	}
	if got, err := eval(t, t.Context(), env, "{{ 'on' | shout }}"); got != "ON!" {
		t.Errorf("afterwards: %v %v", got, err)
	}
}

// TestHangingPluginEndsAlone: a call that waits behind one that hangs is served.
func TestHangingPluginEndsAlone(t *testing.T) {
	t.Parallel()
	env, dir, _ := world(t, t.Context(), core(t))
	ctx, cancel := context.WithCancel(t.Context())
	mark := filepath.Join(dir, "begun")
	hung, served := make(chan error, 1), make(chan error, 4)
	go func() {
		_, err := eval(t, ctx, env, "{{ '"+mark+"' | hang }}")
		hung <- err
	}()
	for range 1000 {
		if _, err := os.Stat(mark); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	for range cap(served) {
		go func() {
			got, err := eval(t, t.Context(), env, "{{ 'on' | shout }}")
			if err == nil && got != "ON!" {
				err = fmt.Errorf("got %v", got)
			}
			served <- err
		}()
	}
	time.Sleep(100 * time.Millisecond) // most of them wait by now; the others come later, which is served as well
	cancel()
	if err := <-hung; err == nil {
		t.Error("the one that hangs has ended well")
	}
	for range cap(served) {
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// TestInventory: a plugin's groups and variables arrive as data.
func TestInventory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"inventory_plugins/fleetdb.py": `from ansible.plugins.inventory import BaseInventoryPlugin
DOCUMENTATION = """
name: fleetdb
short_description: a list of hosts
options:
  plugin: {description: its name, required: true}
  count: {description: how many, type: int, default: 1}
"""
class InventoryModule(BaseInventoryPlugin):
    NAME = 'fleetdb'
    def verify_file(self, path): return path.endswith('hosts.yml')
    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        print('noise')
        inventory.add_group('web')
        inventory.add_group('all_web')
        inventory.add_child('all_web', 'web')
        inventory.set_variable('web', 'port', 80)
        for i in range(self.get_option('count')):
            inventory.add_host('w%d' % i, group='web')
            inventory.set_variable('w%d' % i, 'tag', '{{ 1 + 1 }}')
`,
		"hosts.yml":     "plugin: fleetdb\ncount: 2\n",
		"bad/hosts.yml": "plugin: nosuch.coll.db\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	h := pyhost.New(pyhost.Options{Context: t.Context(), Core: core(t), Env: append(os.Environ(), "HOME="+dir), Root: func(string) string { return "" },
		Folders: map[string][]string{"inventory": {dir + "/inventory_plugins"}}})
	t.Cleanup(h.Close)
	inv, err := inventory.Load([]string{dir + "/hosts.yml"}, inventory.Options{Env: jinja.NewEnv(jinja.Options{}), Plugin: h.Inventory})
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := inv.Match("all_web", "")
	if err != nil || len(hosts) != 2 || hosts[1].Name != "w1" {
		t.Fatalf("%v %v", hosts, err)
	}
	layers, err := inv.Layers("w1", "")
	shown := ""
	for _, l := range layers {
		shown += value.Repr(l.Vars)
	}
	if err != nil || !strings.Contains(shown, "{'port': 80}") || !strings.Contains(shown, "'tag': '{{ 1 + 1 }}'") {
		t.Errorf("%s %v", shown, err)
	}
	_, err = inventory.Load([]string{dir + "/bad/hosts.yml"}, inventory.Options{Plugin: h.Inventory})
	if err == nil || !strings.Contains(err.Error(), "nosuch.coll.db") {
		t.Errorf("got %v", err)
	}
}

// TestWithoutCore: what to install is said where a plugin is used, and nothing
// is said of standard names.
func TestWithoutCore(t *testing.T) {
	t.Parallel()
	env, _, _ := world(t, t.Context(), "")
	if got, err := eval(t, t.Context(), env, "{{ 'A' | lower }}"); got != "a" || err != nil {
		t.Errorf("%v %v", got, err)
	}
	for _, text := range []string{"{{ 'a' | shout }}", "{{ lookup('seen', 'base') }}", "{{ 'a' | my.coll.incoll }}"} {
		if _, err := eval(t, t.Context(), env, text); err == nil || !strings.Contains(err.Error(), "apt install ansible-core") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := exec.LookPath("python3"); err != nil {
		return
	}
	env, _, _ = world(t, t.Context(), "/nosuch/lib/python3/dist-packages/ansible")
	if _, err := eval(t, t.Context(), env, "{{ 'a' | shout(1, 2, 3) | die }}"); err == nil {
		t.Error("no error")
	}
}
