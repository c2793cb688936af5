package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"play/connection/contract"
	"play/engine/modulefind"
)

// needsCore skips a test where there is no ansible-core; where ansible-playbook
// is installed and nothing may be skipped, it must be found.
func needsCore(t *testing.T) *modulefind.Finder {
	t.Helper()
	f := &modulefind.Finder{Core: modulefind.FindCore(os.Getenv)}
	if f.Core == "" {
		_, err := exec.LookPath("ansible-playbook")
		contract.Need(t, err != nil || os.Getenv(contract.NoSkip) == "", "ansible-playbook is here and its package is not found")
		t.Skip("there is no ansible-core here")
	}
	return f
}

// needsVersion skips a test where ansible-core is another one than was recorded.
func needsVersion(t *testing.T, recorded string) *modulefind.Finder {
	t.Helper()
	f := needsCore(t)
	if !strings.Contains(recorded, "core "+f.Version()+"]") {
		t.Skipf("ansible-core is %s here, and what was recorded is %s", f.Version(), recorded)
	}
	return f
}

// TestPluginsAsRecorded: callback plugins are told what ansible-playbook tells
// them, and vars plugins give the variables that they give there.
func TestPluginsAsRecorded(t *testing.T) {
	t.Parallel()
	var recorded struct {
		Version string
		Status  int
		Last    []string
		Events  []map[string]any
	}
	readJSON(t, "testdata/foreign/plugins.json", &recorded)
	needsVersion(t, recorded.Version)
	dir, root := pluginBook(t)
	out, code := playIn(t, dir, "-i", "hosts", "--vault-password-file", "password", "site.yml", "-e", "root="+root)
	if code != recorded.Status {
		t.Errorf("exit code %d, want %d\n%s", code, recorded.Status, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := lines[max(0, len(lines)-2):]; !slices.Equal(last, recorded.Last) {
		t.Errorf("it ends with %q, want %q", last, recorded.Last)
	}
	for _, want := range []string{"Failure using method (v2_playbook_on_stats) in callback plugin\n(<ansible.plugins.callback.broken.CallbackModule object at ", "odd"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	got := eventsOf(t, filepath.Join(root, "told"), root)
	for _, host := range []any{"a", "b", nil} { // hosts run side by side
		if g, w := ofHost(got, host), ofHost(recorded.Events, host); !reflect.DeepEqual(g, w) {
			compareEvents(t, host, g, w)
		}
	}
}

// pluginBook copies the playbook with its plugins, since Python writes beside
// what it loads.
func pluginBook(t *testing.T) (dir, root string) {
	t.Helper()
	dir, root = t.TempDir(), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/foreign/plugins")); err != nil {
		t.Fatal(err)
	}
	return dir, root
}

// playIn runs play in a folder.
func playIn(t *testing.T, dir string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Dir = dir
	root := ""
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, "root="); ok {
			root = v
		}
	}
	cmd.Env = []string{"PLAY_TEST_MAIN=1", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + root, "LC_ALL=C.UTF-8", "ANSIBLE_NOCOLOR=1",
		"TOLD=" + filepath.Join(root, "told"), "TOLD_MARK=sum", "PYTHONDONTWRITEBYTECODE=1"}
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func eventsOf(t *testing.T, path, root string) []map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var events []map[string]any
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e map[string]any
		if err := json.Unmarshal([]byte(strings.ReplaceAll(lines.Text(), root, "{top}")), &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func ofHost(events []map[string]any, host any) []map[string]any {
	var own []map[string]any
	for _, e := range events {
		if e["host"] == host {
			own = append(own, e)
		}
	}
	return own
}

func compareEvents(t *testing.T, host any, got, want []map[string]any) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		var g, w map[string]any
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if !reflect.DeepEqual(g, w) {
			gt, _ := json.Marshal(g)
			wt, _ := json.Marshal(w)
			t.Errorf("event %d of %v\n got %s\nwant %s", i, host, gt, wt)
			return
		}
	}
}

// TestCallbacksAsk: what a callback asks is answered before any host ran, also
// where a vars file is read for it and warned of; what no_log and a vault hide
// stays hidden.
func TestCallbacksAsk(t *testing.T) {
	t.Parallel()
	needsCore(t)
	dir, root := t.TempDir(), t.TempDir()
	writeFiles(t, dir, map[string]string{
		"hosts":              "[web]\na ansible_connection=local\n",
		"group_vars/web.yml": "port: 1\nport: 2\nother: \"{{ port }}\"\nlocked: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6162\n",
		"callback_plugins/asker.py": "from ansible.inventory.host import Host\nfrom ansible.plugins.callback import CallbackBase\n" +
			"class CallbackModule(CallbackBase):\n    CALLBACK_NAME = 'asker'\n" +
			"    def v2_playbook_on_play_start(self, play):\n        v = play.get_variable_manager().get_vars(play=play, host=Host('a'))\n" +
			"        print('ASKED %s %s %s %s' % (v['port'], v['other'], 'locked' in v, v['hostvars']['a']['port']))\n" +
			"    def v2_playbook_on_task_start(self, task, is_conditional):\n        print('WRITTEN %s' % task.args)\n" +
			"    def v2_runner_on_ok(self, result):\n        print('TRIED %s %s' % (result._task.args, sorted(result._task.serialize())[0]))\n",
		"site.yml": "- hosts: web\n  gather_facts: false\n  tasks:\n    - debug: {msg: \"hush{{ port }}\"}\n      no_log: true\n" +
			"    - debug: {msg: \"hush{{ port }}\"}\n      no_log: \"{{ port == 2 }}\"\n    - debug: {msg: \"say {{ port }}\"}\n",
	})
	out, code := playIn(t, dir, "-i", "hosts", "site.yml", "-e", "root="+root)
	for _, want := range []string{"ASKED 2 {{ port }} False 2", "WRITTEN {'censored'", "TRIED {'censored'", "WRITTEN {'msg': 'say {{ port }}'}", "TRIED {'msg': 'say 2'} _uuid", "duplicate"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if code != 0 || strings.Contains(out, "hush") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestCallbackIsTheOutput: a stdout callback of the operator's shows the run.
func TestCallbackIsTheOutput(t *testing.T) {
	t.Parallel()
	needsCore(t)
	dir, root := t.TempDir(), t.TempDir()
	writeFiles(t, dir, map[string]string{
		"ansible.cfg": "[defaults]\nstdout_callback = plain\ncallbacks_enabled = quietly, nosuch\n",
		"callback_plugins/plain.py": "DOCUMENTATION = \"\"\"\nname: plain\ntype: stdout\nshort_description: plain\nextends_documentation_fragment: [default_callback]\n\"\"\"\n" +
			"from ansible.plugins.callback.default import CallbackModule as Default\n" +
			"class CallbackModule(Default):\n    CALLBACK_TYPE = 'stdout'\n    CALLBACK_NAME = 'plain'\n" +
			"    def v2_runner_on_ok(self, result):\n        self._display.display('fine on ' + result._host.get_name() + ': ' + self._dump_results(result._result))\n",
		"callback_plugins/quietly.py": "from ansible.plugins.callback import CallbackBase\n" +
			"class CallbackModule(CallbackBase):\n    CALLBACK_NAME = 'quietly'\n    CALLBACK_NEEDS_ENABLED = True\n" +
			"    def v2_on_any(self, *args, **kwargs):\n        self._display.display('any %d' % len(args)) if not args else None\n" +
			"    def v2_playbook_on_stats(self, stats):\n        self._display.warning('quietly done')\n",
		"site.yml": "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - debug: {msg: hi}\n    - fail: {msg: no}\n      ignore_errors: true\n",
	})
	out, code := playIn(t, dir, "site.yml", "-e", "root="+root)
	for _, want := range []string{"PLAY [localhost] ***", "TASK [debug] ***", "fine on localhost: {", "...ignoring", "PLAY RECAP", "ok=2", "quietly done", `there is no callback "nosuch"`} {
		if !strings.Contains(strings.ReplaceAll(out, "\n", " "), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if code != 0 || strings.Contains(out, "ok: [localhost]") || strings.Count(out, "PLAY RECAP") != 1 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestCallbackDies: a callback that ends its process ends neither the run nor the
// process of other plugins.
func TestCallbackDies(t *testing.T) {
	t.Parallel()
	needsCore(t)
	dir, root := t.TempDir(), t.TempDir()
	writeFiles(t, dir, map[string]string{
		"callback_plugins/dies.py":   "import os\nfrom ansible.plugins.callback import CallbackBase\nclass CallbackModule(CallbackBase):\n    def v2_playbook_on_task_start(self, task, is_conditional):\n        os._exit(3)\n",
		"filter_plugins/shouting.py": "class FilterModule:\n    def filters(self): return {'shout': lambda v: v + '!'}\n",
		"site.yml":                   "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - debug: {msg: \"{{ 'hi' | shout }}\"}\n",
	})
	out, code := playIn(t, dir, "site.yml", "-e", "root="+root)
	if code != 0 || !strings.Contains(out, `"msg": "hi!"`) || strings.Count(out, "cannot tell the callback plugins of v2_playbook_on_task_start") != 1 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestCallbacksWithoutCore: it is said what callback and vars plugins need.
func TestCallbacksWithoutCore(t *testing.T) {
	t.Parallel()
	if modulefind.FindCore(func(string) string { return "" }) != "" {
		t.Skip("there is an ansible-core here")
	}
	dir, root := pluginBook(t)
	says := func(want string) {
		out, _ := playIn(t, dir, "-i", "hosts", "site.yml", "-e", "root="+root)
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want+": no ansible-core is installed here") {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	says("cannot run the vars plugins")
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "vars_plugins")), os.RemoveAll(filepath.Join(dir, "roles/web/vars_plugins"))); err != nil {
		t.Fatal(err)
	}
	says("cannot run the callback plugins")
}

// TestVarsPluginStages: at every stage a plugin's variables arrive where those
// of ansible-playbook 2.14 do, and text that it makes is data.
func TestVarsPluginStages(t *testing.T) {
	t.Parallel()
	needsCore(t)
	for _, setting := range []string{"run_vars_plugins = demand", "run_vars_plugins = start", "[vars_st]\nstage = inventory", "[vars_st]\nstage = all"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			dir, root := t.TempDir(), t.TempDir()
			writeFiles(t, dir, map[string]string{
				"ansible.cfg": "[defaults]\n" + setting + "\n",
				"hosts":       "[web]\na ansible_connection=local st_a=inventory st_all=inventory\n",
				"site.yml":    "- hosts: a\n  gather_facts: false\n  tasks: [{debug: {msg: \"{{ [st_a, st_web, st_all, evil] | join(' ') }}\"}}]\n",
				"vars_plugins/st.py": "DOCUMENTATION = '''\nname: st\nshort_description: says what it is asked about\noptions:\n  stage: {ini: [{key: stage, section: vars_st}]}\n" +
					"extends_documentation_fragment: [vars_plugin_staging]\n'''\nfrom ansible.plugins.vars import BaseVarsPlugin\nclass VarsModule(BaseVarsPlugin):\n" +
					"    def get_vars(self, loader, path, entities, cache=True):\n        return dict({'st_' + e.name: type(e).__name__ for e in entities}, evil='{{ 1 + 1 }}')\n",
			})
			out, code := playIn(t, dir, "-i", "hosts", "site.yml", "-e", "root="+root)
			if code != 0 || !strings.Contains(out, `"msg": "Host Group inventory {{ 1 + 1 }}"`) {
				t.Errorf("exit code %d\n%s", code, out)
			}
		})
	}
}

// TestCollectionsAsRecorded: short and full names, redirects, module_utils and
// filters of a collection and of roles are found as ansible-playbook finds them,
// which testdata/foreign/record_collections.py kept.
func TestCollectionsAsRecorded(t *testing.T) {
	t.Parallel()
	var recorded struct {
		Messages   []string
		Deprecated string
	}
	readJSON(t, "testdata/foreign/collections.json", &recorded)
	needsCore(t)
	dir, root := t.TempDir(), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/foreign/collections")); err != nil {
		t.Fatal(err)
	}
	out, code := playIn(t, dir, "-i", "localhost,", "-c", "local", "site.yml", "-e", "root="+root)
	var messages []string
	for _, line := range strings.Split(out, "\n") {
		if msg, ok := strings.CutPrefix(strings.TrimSpace(line), `"msg": `); ok {
			messages = append(messages, msg)
		}
	}
	if code != 0 || !slices.Equal(messages, recorded.Messages) {
		t.Errorf("exit code %d, messages\n %q\nwant\n %q\n%s", code, messages, recorded.Messages, out)
	}
	if !strings.Contains(strings.Join(strings.Fields(out), " "), recorded.Deprecated) {
		t.Errorf("no %q in\n%s", recorded.Deprecated, out)
	}
}
