package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// secretModule tells who it is and where it has found its argument: in command
// lines, environments and files that it may read.
const secretModule = `#!/usr/bin/python3
import glob, os, pwd
from ansible.module_utils.basic import AnsibleModule

def holds(path, secret):
    try:
        with open(path, 'rb') as f:
            return secret in f.read(1 << 24)
    except (OSError, IOError):
        return False

def main():
    module = AnsibleModule(argument_spec=dict(secret=dict(no_log=True)))
    secret = module.params['secret'].encode()
    paths = glob.glob('/proc/[0-9]*/cmdline') + glob.glob('/proc/[0-9]*/environ')
    for top in (os.path.dirname(module.tmpdir), os.path.expanduser('~/.ansible'), os.path.expanduser('~/.cache')):
        for folder, _, files in os.walk(top):
            paths += [os.path.join(folder, name) for name in files]
    module.exit_json(user=pwd.getpwuid(os.geteuid()).pw_name, found=[p for p in paths if holds(p, secret)], looked=len(paths) > 3,
                     said='got %d letters' % len(secret), stdin=os.read(0, 1).decode())

main()
`

// TestForeignBecome: a Python module of one's own runs warm as another user, whom
// sudo makes, and its arguments stand in no file, command line or environment.
func TestForeignBecome(t *testing.T) {
	t.Parallel()
	needsCore(t) // whose module_utils the module takes
	if said, err := exec.Command("sudo", "-n", "-u", "nobody", "true").CombinedOutput(); err != nil || len(said) > 0 {
		t.Skipf("sudo does not make one nobody here without a word: %v %s", err, said)
	}
	dir := publicDir(t)
	home := filepath.Join(dir, "home")
	writeFiles(t, dir, map[string]string{
		"home/.keep":             "",
		"library/look_around.py": secretModule,
		"site.yml": `- hosts: localhost
  gather_facts: false
  vars: {ansible_python_interpreter: /usr/bin/python3, word: CANARY}
  tasks:
    - look_around: {secret: "{{ word }}-foreign-{{ item }}"}
      loop: [1, 2, 3]
      become: "{{ other }}"
      become_user: nobody
      register: r
    - debug: {msg: "{{ r.results | map(attribute='user') | join(' ') }}; {{ r.results | map(attribute='said') | unique | join }}; {{ r.results | map(attribute='looked') | join(' ') }}"}
    - debug: {msg: "found {{ r.results | map(attribute='found') | flatten }}"}
    - assert: {that: "r.results | map(attribute='stdin') | join == ''"}
`})
	for other, user := range map[string]string{"true": "nobody", "false": ""} {
		cmd := exec.Command(os.Args[0], "-i", "localhost,", "-c", "local", "-vv", "site.yml", "-e", "other="+other)
		cmd.Dir = dir
		cmd.Env = []string{"PLAY_TEST_MAIN=1", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + home, "LC_ALL=C.UTF-8", "ANSIBLE_NOCOLOR=1", "TMPDIR=" + home}
		text, err := cmd.CombinedOutput()
		out := string(text)
		if err != nil || !strings.Contains(out, `"msg": "found []"`) || !strings.Contains(out, "; got 16 letters; True True True") {
			t.Errorf("become %s: %v\n%s", other, err, out)
		}
		if user != "" && !strings.Contains(out, `"msg": "nobody nobody nobody; `) {
			t.Errorf("it ran as another user than %q:\n%s", user, out)
		}
		if strings.Contains(out, "CANARY-foreign") {
			t.Errorf("the output has the secret:\n%s", out)
		}
	}
	_ = filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !isAgent(d.Name()) {
			if data, _ := os.ReadFile(path); strings.Contains(string(data), "CANARY-foreign") {
				t.Errorf("the secret stands in %s", path)
			}
		}
		return nil
	})
}
