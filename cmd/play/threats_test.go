package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// threatRun lays out files in a folder of their own and runs play on site.yml
// there; it returns stdout and stderr together.
func threatRun(t *testing.T, files map[string]string, args ...string) (dir, output string) {
	t.Helper()
	dir = t.TempDir()
	files["hosts"] = recordedHosts
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("play", append([]string{"-i", "hosts", "site.yml"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "ANSIBLE_NOCOLOR=1", "ANSIBLE_GATHERING=explicit"}
	out, _ := cmd.CombinedOutput() // the caller judges by what was written
	return dir, string(out)
}

// injection is text that a host might send to run a command on the control
// machine.
const injection = `{{ lookup('pipe','touch CANARY') }}`

// TestT1HostDataIsNeverATemplate lets a host's text arrive on every way into
// the run and go through everything that evaluates.
func TestT1HostDataIsNeverATemplate(t *testing.T) {
	t.Parallel()
	dir, out := threatRun(t, map[string]string{
		"payload":      injection + "\n",
		"payload.json": `{"ansible_facts": {"evil": "` + injection + `"}}`,
		"t.j2":         "{{ r.stdout }} {{ f }} {{ r.stdout | default('x') }} {{ [r.stdout] | join(',') }}\n",
		"inc.yml":      "- debug: msg=\"{{ passed }}\"\n",
		"site.yml": `
- hosts: h1,h2
  vars: {from_play: "{{ r.stdout | default('') }}"}
  tasks:
  - command: cat payload
    args: {chdir: "{{ playbook_dir }}"}
    register: r
  - shell: cat payload >&2; cat payload
    args: {chdir: "{{ playbook_dir }}"}
    register: e
  - set_fact:
      f: "{{ r.stdout }}"
      list: ["{{ r.stdout }}", {k: "{{ r.stdout }}"}]
      cacheable: true
  - set_fact: {g: "{{ f }}", "h": "{{ from_play }}", i: "{{ e.stderr }}{{ e.stdout }}"}
  - debug: msg="{{ r.stdout }} {{ f }} {{ g }} {{ h }} {{ i }} {{ list }} {{ from_play }} {{ ansible_facts.f }} {{ vars.f }}"
  - debug: var=f
  - debug: var=list
  - debug: var={{ f }}
    ignore_errors: true
  - debug: msg={{ item }}
    loop: ["{{ f }}", "{{ r.stdout_lines }}"]
  - debug: msg={{ item }}
    loop: "{{ r.stdout_lines }}"
    loop_control: {label: "{{ item }}"}
  - debug: msg={{ item }}
    with_items: "{{ list }}"
  - debug: msg={{ item }}
    with_dict: {k: "{{ f }}"}
  - debug: msg=when
    when: f is defined and f
  - debug: msg=bare
    when: f
    ignore_errors: true
  - assert: {that: ["'lookup' in f", "f == r.stdout"], success_msg: "{{ f }}"}
  - assert: {that: "f == ''", fail_msg: "{{ f }}"}
    ignore_errors: true
  - fail: {msg: "{{ f }}"}
    ignore_errors: true
    register: failed
  - debug: msg="{{ failed.msg }} {{ hostvars.h2.f }} {{ hostvars['h1'].r.stdout }}"
  - debug: msg=delegated
    delegate_to: "{{ f }}"
    ignore_errors: true
  - template: {src: t.j2, dest: "{{ playbook_dir }}/rendered.{{ inventory_hostname }}"}
  - copy: {content: "{{ f }}", dest: "{{ playbook_dir }}/copied.{{ inventory_hostname }}"}
  - include_tasks: inc.yml
    vars: {passed: "{{ f }}"}
  - name: "named {{ f }}"
    command: echo "{{ f }}"
    environment: {E: "{{ f }}"}
    changed_when: f is defined
    failed_when: f == ''
    notify: "handler {{ f }}"
    ignore_errors: true
    when: false
  - command: cat payload
    args: {chdir: "{{ playbook_dir }}"}
    async: 20
    poll: 1
    register: job
  - debug: msg="{{ job.stdout }} {{ job.stdout | to_json | from_json }} {{ job.stdout | replace('a','a') }} {{ job.stdout + '' }}"
  - add_host: {name: "new {{ f }}", groups: [evil], ansible_connection: local, v: "{{ f }}"}
  - group_by: {key: "{{ f }}"}
  - debug: msg="{{ groups }} {{ groups.evil | map('extract', hostvars, 'v') | list }} {{ group_names }}"
  - set_stats: {data: {s: "{{ f }}"}}
  - include_vars: {file: payload.json, name: loaded}
    ignore_errors: true
- hosts: evil
  tasks:
  - debug: msg="{{ v }} {{ inventory_hostname }}"
    ignore_errors: true
`}, "-vv")
	if _, err := os.Stat(filepath.Join(dir, "CANARY")); err == nil {
		t.Fatalf("the host's text was evaluated:\n%s", out)
	}
	for _, name := range []string{"rendered.h1", "copied.h2"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(data), injection) {
			t.Errorf("%s holds %q, %v", name, data, err)
		}
	}
	if !strings.Contains(out, "PLAY RECAP") || strings.Count(out, "lookup('pipe'") < 40 {
		t.Errorf("the text did not come through literally:\n%s", out)
	}
}

// TestT2FactsCannotRedirect: a fact of the name of a connection variable is
// dropped with a warning, for the host itself and for a delegated one.
func TestT2FactsCannotRedirect(t *testing.T) {
	t.Parallel()
	facts := `#!/bin/sh
echo '{"ansible_facts": {"ansible_host": "evil.example", "ansible_ssh_common_args": "-o ProxyCommand=evil", "ansible_connection": "ssh", "ansible_python_interpreter": "/evil", "fine": 1}}'
`
	_, out := threatRun(t, map[string]string{
		"library/evil": facts,
		"site.yml": `
- hosts: h1
  tasks:
  - evil:
  - evil:
    delegate_to: h2
    delegate_facts: true
  - debug: msg="h1 {{ ansible_host }} {{ ansible_connection }} {{ ansible_ssh_common_args | default('unset') }} {{ fine }}"
  - debug: msg="h2 {{ hostvars.h2.ansible_host | default('unset') }} {{ hostvars.h2.ansible_connection }} {{ hostvars.h2.ansible_ssh_common_args | default('unset') }} {{ hostvars.h2.fine }}"
  - command: "true"
    delegate_to: h2
`})
	for _, want := range []string{"h1 h1 local unset 1", "h2 unset local unset 1", "changed: [h1 -> h2]", "failed=0"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
	if strings.Count(out, "facts that only the operator may set") != 2 {
		t.Errorf("no warning for each host:\n%s", out)
	}
}

// TestT4NoLog runs a secret through tasks that end in every way; it may be
// nowhere in what the outputs show.
func TestT4NoLog(t *testing.T) {
	t.Parallel()
	const site = `
- hosts: h1,lost
  vars: {secret: hunter2canary}
  tasks:
  - block:
    - command: echo {{ secret }}
    - debug: {msg: "{{ secret }}"}
    - debug: {var: secret}
    - set_fact: {kept: "{{ secret }}"}
    - command: sh -c 'echo {{ secret }}; exit 1'
      ignore_errors: true
    - fail: {msg: "{{ secret }}"}
      ignore_errors: true
    - assert: {that: "secret == 'x'", fail_msg: "{{ secret }}"}
      ignore_errors: true
    - debug: {msg: "{{ secret }}"}
      when: secret == 'x'
    - command: echo {{ item }}
      loop: ["{{ secret }}", "{{ secret }}2"]
      loop_control: {label: "{{ item }}"}
    - command: test {{ item }} = x
      loop: ["{{ secret }}"]
      ignore_errors: true
    - copy: {content: "{{ secret }}\n", dest: "{{ playbook_dir }}/f.{{ inventory_hostname }}"}
    - copy: {content: "{{ secret }}\nmore\n", dest: "{{ playbook_dir }}/f.{{ inventory_hostname }}"}
      check_mode: true
    - command: echo {{ secret }}
      async: 20
      poll: 1
    - command: sleep 5 {{ secret }}
      async: 1
      poll: 1
      ignore_errors: true
    - command: sleep 5 {{ secret }}
      timeout: 1
      ignore_errors: true
    - command: echo {{ secret }}
      register: r
      until: r.stdout == 'x'
      retries: 1
      delay: 0
      ignore_errors: true
    - command: "{{ missing }} {{ secret }}"
      ignore_errors: true
    - template: {src: none.j2, dest: "/{{ secret }}"}
      ignore_errors: true
    no_log: true
  - debug: msg=end
`
	files := func() map[string]string {
		return map[string]string{"site.yml": site,
			"more": "lost ansible_connection=ssh ansible_host=127.0.0.1 ansible_port=1 ansible_ssh_retries=0\n"}
	}
	for _, callback := range []string{"default", "json", "minimal", "oneline", "yaml"} {
		t.Run(callback, func(t *testing.T) {
			t.Parallel()
			f := files()
			f["ansible.cfg"] = "[defaults]\nstdout_callback = " + callback + "\ndisplay_args_to_stdout = true\n"
			_, out := threatRun(t, f, "-i", "more", "-vvvv", "--diff")
			if strings.Contains(out, "hunter2canary") {
				for _, line := range strings.Split(out, "\n") {
					if strings.Contains(line, "hunter2canary") {
						t.Error("shown:", line)
					}
				}
			}
			if !strings.Contains(out, "no_log: true") || !strings.Contains(out, "end") {
				t.Errorf("the tasks did not run:\n%s", out)
			}
		})
	}
}

// chosenFiles are tasks that use a file of the control machine that a host named:
// R/ stands for the folder of the case, as the host sent it.
var chosenFiles = map[string]string{
	"copy":            `copy: {src: "R/f", dest: "OUT"}`,
	"lazy":            `copy: {src: "{{ lazy }}/lazy/f", dest: "OUT"}`,
	"fact":            `copy: {src: "{{ evil }}/fact/f", dest: "OUT"}`,
	"fact_dict":       `copy: {src: "{{ ansible_facts['evil'] }}/fact_dict/f", dest: "OUT"}`,
	"set_fact":        `copy: {src: "{{ kept }}/set_fact/f", dest: "OUT"}`,
	"hostvars":        `copy: {src: "{{ hostvars.h1.kept ~ '/hostvars/f' }}", dest: "OUT"}`,
	"vars":            `copy: {src: "{{ vars['kept'] + '/vars/f' }}", dest: "OUT"}`,
	"loop":            `{copy: {src: "{{ item.stdout }}/loop/f", dest: "OUT"}, loop: "{{ many.results }}"}`,
	"dots":            `copy: {src: "../../../../../../../../../..R/f", dest: "OUT"}`,
	"template":        `template: {src: "R/f", dest: "OUT"}`,
	"unarchive":       `unarchive: {src: "R/f", dest: "{{ playbook_dir }}"}`,
	"script":          `script: "R/s.sh x"`,
	"assemble":        `assemble: {src: "R", dest: "OUT", remote_src: false, regexp: ^f$}`,
	"include_vars":    `include_vars: "R/v.yml"`,
	"include_dir":     `include_vars: {dir: "R", files_matching: v.yml}`,
	"include_tasks":   `include_tasks: "R/t.yml"`,
	"include_role":    `include_role: {name: "R/role"}`,
	"include_item":    `{include_tasks: inc.yml, loop: "{{ many.results }}"}`,
	"lookup":          `debug: msg="{{ lookup('file', r.stdout ~ '/lookup/f') }}"`,
	"lookup_template": `debug: msg="{{ lookup('template', r.stdout ~ '/lookup_template/f') }}"`,
	"lookup_local":    `debug: msg="{% for p in [r.stdout] %}{{ lookup('file', p ~ '/lookup_local/f') }}{% endfor %}"`,
	"with_file":       `{debug: {msg: "{{ item }}"}, with_file: "R/f"}`,
	"in_template":     `template: {src: looks.j2, dest: "OUT"}`,
	"jinja_include":   `template: {src: includes.j2, dest: "OUT"}`,
	"module_defaults": `{copy: {dest: "OUT"}, module_defaults: {copy: {src: "R/f"}}}`,
	"args":            `{copy: {dest: "OUT"}, args: {src: "R/f"}}`,
}

// TestT3HostsChooseNoFiles: a file of the control machine that a host's data
// names, outside the playbook's folders, is warned of, and refused with --strict,
// on whatever way the name came.
func TestT3HostsChooseNoFiles(t *testing.T) {
	t.Parallel()
	away := filepath.Join(t.TempDir(), "away")
	site := `
- hosts: h1
  vars: {lazy: "{{ r.stdout }}"}
  tasks:
  - command: echo ` + away + `
    register: r
  - command: echo ` + away + `
    register: many
    loop: [1, 2]
  - set_fact: {kept: "{{ r.stdout }}"}
  - evil:
`
	for name, task := range chosenFiles {
		writeFiles(t, filepath.Join(away, name), map[string]string{"f": "SECRET\n", "v.yml": "stolen: 1\n", "t.yml": "- debug: msg=SECRET\n",
			"s.sh": "#!/bin/sh\necho SECRET\n", "role/tasks/main.yml": "- debug: msg=SECRET\n"})
		task = strings.NewReplacer("R/", "{{ r.stdout }}/"+name+"/", `"R"`, `"{{ r.stdout }}/`+name+`"`, "OUT", "{{ playbook_dir }}/out."+name).Replace(task)
		site += "  - block:\n    - " + task + "\n    rescue:\n    - debug: msg=\"refused " + name + ";\"\n"
	}
	files := func() map[string]string {
		return map[string]string{"site.yml": site,
			"inc.yml":      "- copy: {src: \"{{ item.stdout }}/include_item/f\", dest: \"{{ playbook_dir }}/out.include_item\"}\n",
			"looks.j2":     "{{ lookup('file', r.stdout ~ '/in_template/f') }}\n",
			"includes.j2":  "{% include r.stdout ~ '/jinja_include/f' %}\n",
			"library/evil": "#!/bin/sh\necho '{\"ansible_facts\": {\"evil\": \"" + away + "\"}}'\n"}
	}
	_, warned := threatRun(t, files())
	warned = strings.Join(strings.Fields(warned), "")
	dir, out := threatRun(t, files(), "--strict")
	if strings.Contains(out, "SECRET") {
		t.Error("a file is shown in spite of --strict")
	}
	for name := range chosenFiles {
		if !strings.Contains(warned, "chosethefile\""+away+"/"+name) {
			t.Errorf("%s: no warning", name)
		}
		if _, err := os.Stat(filepath.Join(dir, "out."+name)); err == nil || !strings.Contains(out, "refused "+name+";") {
			t.Errorf("%s: not refused with --strict", name)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestT3OperatorsChooseFiles: what --strict does not concern.
func TestT3OperatorsChooseFiles(t *testing.T) {
	t.Parallel()
	away := filepath.Join(t.TempDir(), "away")
	writeFiles(t, away, map[string]string{"f": "fine\n", "s.sh": "#!/bin/sh\necho fine\n"})
	_, out := threatRun(t, map[string]string{"files/Debian.conf": "a\n", "vars/Debian.yml": "b: 1\n", "t.j2": "{{ r.stdout }} {{ lookup('file', mine) }}\n",
		"library/evil": "#!/bin/sh\necho '{\"ansible_facts\": {\"family\": \"Debian\"}}'\n",
		"site.yml": `
- hosts: h1
  vars: {mine: "` + away + `/f"}
  vars_files: ["vars/{{ family | default('Debian') }}.yml"]
  tasks:
  - evil:
  - command: echo Debian
    register: r
  - copy: {src: "{{ r.stdout }}.conf", dest: "{{ playbook_dir }}/out"}
  - copy: {src: "{{ family }}.conf", dest: "{{ playbook_dir }}/out"}
  - copy: {src: "{{ mine }}", dest: "{{ playbook_dir }}/out.{{ r.stdout }}"}
  - copy: {content: "{{ r.stdout }} {{ lookup('file', mine) }} {{ lookup('file', '` + away + `/f') }}", dest: "{{ playbook_dir }}/out2"}
  - template: {src: t.j2, dest: "{{ playbook_dir }}/out3"}
  - script: ` + away + `/s.sh {{ r.stdout }}
  - fetch: {src: "` + away + `/f", dest: "` + away + `/fetched", flat: true}
    register: fetched
  - copy: {src: "{{ fetched.dest }}", dest: "{{ playbook_dir }}/out4"}
  - command: echo ` + away + `/f
    delegate_to: localhost
    register: here
  - copy: {src: "{{ here.stdout }}", dest: "{{ playbook_dir }}/out5"}
`}, "--strict")
	if strings.Contains(out, "chose") || !strings.Contains(out, "failed=0") || !strings.Contains(out, "unreachable=0") {
		t.Error(out)
	}
}

// writeFiles lays out files in a folder; they may be run.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestT7FetchStaysInItsFolder: neither what a host is called nor the name of
// its file leads out of the folder that fetch writes to.
func TestT7FetchStaysInItsFolder(t *testing.T) {
	t.Parallel()
	dir, out := threatRun(t, map[string]string{
		"in/secret": "x\n",
		"more":      "../../evil ansible_connection=local\n.. ansible_connection=local\n",
		"site.yml": `
- hosts: all
  tasks:
  - fetch: {src: "{{ playbook_dir }}/in/secret", dest: "{{ playbook_dir }}/in/got"}
  - fetch: {src: "{{ playbook_dir }}/in/../../../../../../../../..{{ playbook_dir }}/in/secret", dest: "{{ playbook_dir }}/in/dots"}
  - fetch: {src: "{{ playbook_dir }}/in/./secret", dest: "{{ playbook_dir }}/in/flat/", flat: true}
  - fetch: {src: "{{ playbook_dir }}/in/..", dest: "{{ playbook_dir }}/in/up/", flat: true}
    ignore_errors: true
`}, "-i", "more")
	fetched := 0
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() != "secret" {
			return err
		}
		fetched++
		if !strings.HasPrefix(path, filepath.Join(dir, "in")+"/") {
			t.Error("outside the folder:", path)
		}
		return nil
	})
	if err != nil || fetched < 10 {
		t.Errorf("%d files, %v:\n%s", fetched, err, out)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(dir)), "evil*")); len(left) > 0 {
		t.Error("outside the folder:", left)
	}
}

// TestT11NothingRunsBeforeAllIsKnown: a task that cannot be run is found before
// the first host is contacted.
func TestT11NothingRunsBeforeAllIsKnown(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	contacted := make(chan struct{}, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Close()
			contacted <- struct{}{}
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	dir, out := threatRun(t, map[string]string{
		"far": "far ansible_host=127.0.0.1 ansible_port=" + port + "\n",
		"site.yml": `
- hosts: all
  tasks:
  - command: touch {{ playbook_dir }}/RAN
  - command: "true"
  - {include_tasks: later.yml}
- hosts: far
  tasks:
  - {name: fifth, no_such_module: {}}
`,
		"later.yml": "- debug: msg={{ 1 | no_such_filter }}\n",
	}, "-i", "far")
	if _, err := os.Stat(filepath.Join(dir, "RAN")); err == nil {
		t.Error("a task ran")
	}
	select {
	case <-contacted:
		t.Error("a host was contacted")
	default:
	}
	for _, want := range []string{"no_such_module", "no_such_filter", "site.yml:9", "later.yml:1", "nothing was run"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not named in:\n%s", want, out)
		}
	}
}
