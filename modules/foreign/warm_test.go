package foreign_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"play/modules/foreign"
	"play/modules/value"
)

// packed makes a zip with a small ansible of its own and one module.
func packed(t *testing.T, dir, text string, more map[string]string) string {
	t.Helper()
	files := map[string]string{
		"ansible/__init__.py": "", "ansible/module_utils/__init__.py": "", "ansible/modules/__init__.py": "",
		"ansible/module_utils/basic.py": "import json, os\n_ANSIBLE_ARGS = None\nLOADED_BY = os.getpid()\n" +
			"def args(): return json.loads(_ANSIBLE_ARGS.decode())['ANSIBLE_MODULE_ARGS']\n" +
			"def done(**result): print(json.dumps(result))\n",
		"ansible/modules/m.py": "from ansible.module_utils import basic\n" + text,
	}
	maps.Copy(files, more)
	var data bytes.Buffer
	z := zip.NewWriter(&data)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(dir, "kept-")
	if err == nil {
		_, err = f.Write(data.Bytes())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// python is a Python that can serve warmly, or the test is skipped.
func python(t *testing.T) string {
	t.Helper()
	for _, path := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(path, "-c", "import socket, os; socket.socket.recvmsg, os.set_blocking").Run() == nil {
			if full, err := exec.LookPath(path); err == nil {
				return full
			}
		}
	}
	t.Skip("there is no Python 3.5 or later here")
	return ""
}

// warmly describes a run of a module in a fork.
func warmly(t *testing.T, w *foreign.Warm, text string, more map[string]string) *foreign.Program {
	t.Helper()
	interpreter := python(t)
	p := program(t, "python", "", interpreter)
	p.File, p.Package, p.Warm = packed(t, p.TmpDir, text, more), "ansible.modules.m", w
	return p
}

func newWarm(t *testing.T) *foreign.Warm {
	w := &foreign.Warm{}
	t.Cleanup(w.Close)
	return w
}

// answer runs the module and returns its result.
func answer(t *testing.T, p *foreign.Program) *value.Dict {
	t.Helper()
	out, err := foreign.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func number(t *testing.T, d *value.Dict, key string) string {
	t.Helper()
	v, ok := d.Get(key)
	if !ok {
		t.Fatalf("no %q in %s", key, value.Repr(d))
	}
	return value.Str(v)
}

// TestWarmForks: calls share what was loaded, and nothing else.
func TestWarmForks(t *testing.T) {
	t.Parallel()
	text := "import os, sys\nfrom ansible.module_utils import noted\nnoted.CALLS.append(1)\na = basic.args()\nfds = [os.readlink('/proc/self/fd/' + f) for f in os.listdir('/proc/self/fd') if int(f) > 2 and os.path.exists('/proc/self/fd/' + f)]\n" +
		"basic.done(base=basic.LOADED_BY, noted=noted.BY, calls=len(noted.CALLS), pid=os.getpid(), who=a['who'], name=__name__, argv=sys.argv," +
		" stdin=sys.stdin.read(), x=os.environ.get('X'), cwd=os.getcwd(), fds=fds, file=__file__)\nos.chdir('/'); os.environ['X'] = 'changed'\n"
	more := map[string]string{"ansible/module_utils/noted.py": "import os\nCALLS = []\nBY = os.getpid()\n"}
	p := warmly(t, newWarm(t), text, more)
	p.Env, p.Dir = append(p.Env, "X=1"), p.TmpDir
	var base, noted, pids []string
	cold := *p
	cold.Warm = nil
	open := number(t, answer(t, &cold), "fds")
	for range 4 {
		out := answer(t, p)
		if fds := number(t, out, "fds"); fds != open {
			t.Errorf("open files %s, and of a process of its own %s", fds, open)
		}
		got, _ := value.EncodeJSON(out, value.WireJSON())
		wants(t, got, `"calls":1`, `"who":"a 'b' $c {{ d }}"`, `"name":"__main__"`, `"argv":["ansible.modules.m"]`, `"stdin":""`, `"x":"1"`, `"cwd":"`+p.TmpDir+`"`, "kept-")
		base, noted, pids = append(base, number(t, out, "base")), append(noted, number(t, out, "noted")), append(pids, number(t, out, "pid"))
	}
	if slices.Sort(base); base[0] != base[3] {
		t.Errorf("loaded by several interpreters: %v", base)
	}
	if noted[0] != pids[0] || noted[2] != noted[1] || noted[3] != noted[1] || noted[1] == pids[1] {
		t.Errorf("from the second call on one fork should have loaded the module's imports: %v in %v", noted, pids)
	}
	if slices.Sort(pids); len(slices.Compact(pids)) != 4 {
		t.Errorf("processes %v", pids)
	}
}

// TestWarmHostile: whatever a module does, it does to its own call.
func TestWarmHostile(t *testing.T) {
	t.Parallel()
	w := newWarm(t)
	for name, c := range map[string]struct{ text, want string }{
		"noise":            {"print('noise')\nbasic.done(a=1)\nprint('more')\n", "junk after the JSON data: more"},
		"closes all":       {"import os\nos.write(1, b'{\"a\": 2}')\nos.closerange(0, 100)\n", `"a":2`},
		"forks":            {"import os\nos.fork()\nos.getpid() == os.getpgid(0)\nbasic.done(a=3)\nos._exit(0) if os.getppid() == 1 else None\n", `{`},
		"stays behind":     {"import os, time\nif os.fork() == 0:\n  time.sleep(20)\n  os._exit(0)\nbasic.done(a=4)\n", `"a":4`},
		"exits oddly":      {"import os\nos._exit(77)\n", `"rc":77`},
		"is killed":        {"import os\nos.kill(os.getpid(), 11)\n", `"rc":-11`},
		"kills parent":     {"import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(0.2)\nbasic.done(a=5)\n", `"a":5`},
		"kills group":      {"import os\nos.kill(0, 9)\n", `"rc":-9`},
		"kills warm":       {"import os\nup = open('/proc/%d/stat' % os.getppid()).read().rsplit(')', 1)[1].split()[1]\nos.kill(int(up), 9)\nbasic.done(a=6)\n", `"a":6`},
		"raises":           {"raise ValueError('odd')\n", `ValueError: odd`},
		"sleeps orphaned":  {"import os, time\nos.kill(os.getppid(), 9)\nprint('{\"a\": 9}', flush=True)\ntime.sleep(600)\n", `"a":9`},
		"leaves its group": {"import os, subprocess\nos.setsid()\nsubprocess.run(['true'], preexec_fn=os.setsid, check=True)\nbasic.done(own=os.getsid(0) == os.getpid())\n", `"own":true`},
		"leaks":            {"import os\nkept = [os.dup(1) for _ in range(50)]\nbasic.done(a=7)\n", `"a":7`},
		"templates":        {"basic.done(msg='{{ lookup(1) }}')\n", `"msg":"{{ lookup(1) }}"`},
		"huge":             {"import sys\nfor _ in range(60): sys.stdout.write('x' * 1000000)\n", "at most"},
		"imports badly":    {"import nosuchmodule\n", "No module named"},
		"breaks forks":     {"import sys, os, json\nos.fork = None\nsys.modules.clear()\nprint('{\"a\": 8}')\n", `"a":8`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := warmly(t, w, c.text, nil)
			for range 3 {
				wants(t, result(t, p), c.want)
			}
		})
	}
}

// TestWarmCommands: run_command's own function for new processes runs where it has
// a umask to set, and is left out where it would do nothing.
func TestWarmCommands(t *testing.T) {
	t.Parallel()
	basic := "import json, os, subprocess\n_ANSIBLE_ARGS = None\ndef done(**result): print(json.dumps(result))\n" +
		"def run_command(umask=None):\n    def preexec():\n        os.write(2, b'ran ')\n        if umask: os.umask(umask)\n" +
		"    p = subprocess.Popen(['sh', '-c', 'umask'], stdout=subprocess.PIPE, preexec_fn=preexec)\n" +
		"    return [p.communicate()[0].decode().strip(), isinstance(p, subprocess.Popen), p.returncode]\n"
	text := "import os, subprocess\nos.umask(0o22)\nr, w = os.pipe()\nos.dup2(w, 2)\nfound = [basic.run_command(), basic.run_command(0o77)]\n" +
		"own = subprocess.Popen(['true'], preexec_fn=lambda: os.write(2, b'own')).wait()\nbasic.done(found=found, ran=os.read(r, 100).decode())\n"
	p := warmly(t, newWarm(t), text, map[string]string{"ansible/module_utils/basic.py": basic})
	for range 3 {
		wants(t, result(t, p), `"found":[["0022",true,0],["0077",true,0]]`, `"ran":"ran own"`)
	}
}

// TestWarmHangs: the end of its time ends a module's whole group, and the next
// call is served.
func TestWarmHangs(t *testing.T) {
	t.Parallel()
	w := newWarm(t)
	hang := "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nchild = os.fork()\n" +
		"open('pids', 'a').write('%d ' % os.getpid())\ntime.sleep(600)\n"
	p := warmly(t, w, hang, nil)
	p.Dir = p.TmpDir
	why := errors.New("too long")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for range 1000 {
			if text, _ := os.ReadFile(filepath.Join(p.TmpDir, "pids")); len(strings.Fields(string(text))) == 2 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		cancel(why)
	}()
	if _, err := foreign.Run(ctx, p); err != why {
		t.Errorf("got %v", err)
	}
	text, err := os.ReadFile(filepath.Join(p.TmpDir, "pids"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range strings.Fields(string(text)) {
		gone(t, pid)
	}
	wants(t, result(t, warmly(t, w, "basic.done(a=1)\n", nil)), `"a":1`)
}

// gone waits for a process to end.
func gone(t *testing.T, pid string) {
	t.Helper()
	for range 500 {
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %s still runs", pid)
}

// TestWarmAtOnce: calls run side by side.
func TestWarmAtOnce(t *testing.T) {
	t.Parallel()
	w := newWarm(t)
	var wait sync.WaitGroup
	for i := range 3 {
		p := warmly(t, w, fmt.Sprintf("a = basic.args()\nbasic.done(module=%d, n=a['n'], blob=a['blob'])\n", i), nil)
		for n := range 6 {
			own := *p
			own.Args = value.DictOf("n", n, "blob", strings.Repeat("b", 300_000))
			wait.Go(func() {
				out, err := foreign.Run(t.Context(), &own)
				if err != nil {
					t.Error(err)
					return
				}
				text, _ := value.EncodeJSON(out, value.WireJSON())
				if want := fmt.Sprintf(`{"module":%d,"n":%d,"blob":"bbb`, i, n); !strings.HasPrefix(text, want) || len(text) < 300_000 {
					t.Errorf("got %.80s, want %s", text, want)
				}
			})
		}
	}
	wait.Wait()
}

// TestWarmOtherUtils: a zip with module_utils of another content has its own
// interpreter, and so has another environment.
func TestWarmOtherUtils(t *testing.T) {
	t.Parallel()
	w := newWarm(t)
	text := "import os\nfrom ansible.module_utils import u\nbasic.done(u=u.X, base=basic.LOADED_BY, y=os.environ.get('Y'))\n"
	seen := map[string]bool{}
	for i, c := range []struct{ utils, y string }{{"X = 1\n", "1"}, {"X = 2\n", "1"}, {"X = 1\n", "2"}} {
		p := warmly(t, w, text, map[string]string{"ansible/module_utils/u.py": c.utils})
		p.Env = append(os.Environ(), "Y="+c.y)
		out := answer(t, p)
		if number(t, out, "u") != strings.TrimSpace(c.utils[4:]) || number(t, out, "y") != c.y {
			t.Errorf("%d: %s", i, value.Repr(out))
		}
		seen[number(t, out, "base")] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d interpreters", len(seen))
	}
}

// TestWarmFallsBack: where there can be no warm interpreter, each call has its own.
func TestWarmFallsBack(t *testing.T) {
	t.Parallel()
	w := newWarm(t)
	p := warmly(t, w, "import os\nbasic.done(own=basic.LOADED_BY == os.getpid())\n", map[string]string{"ansible/module_utils/basic.py": "import json, os, sys\n" +
		"if sys.path[0] and 'gc' in sys.modules and 'ast' in sys.modules: os._exit(3)\nLOADED_BY = os.getpid()\ndef done(**r): print(json.dumps(r))\n"})
	for range 2 {
		wants(t, result(t, p), `"own":true`)
	}
	p = warmly(t, w, "basic.done()\n", nil)
	p.Interpreter = []string{"/nosuch/python"}
	wants(t, result(t, p), "need to set the interpreter")
	w.Close()
	wants(t, result(t, warmly(t, w, "import os\nbasic.done(own=basic.LOADED_BY == os.getpid())\n", nil)), `"own":true`)
}

// TestWarmLeavesNothing: interpreters end with Close, also when they hang.
func TestWarmLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWarm(t)
	text := "import os\nfrom ansible.module_utils import slow\nbasic.done(base=basic.LOADED_BY)\n"
	p := warmly(t, w, text, map[string]string{"ansible/module_utils/slow.py": "import os, time\nif os.path.exists('hang'):\n  open('pid', 'w').write(str(os.getpid()))\n  time.sleep(600)\n"})
	p.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	base := number(t, answer(t, p), "base")
	hang := "import os, time\nif basic.LOADED_BY != os.getpid() and basic._ANSIBLE_ARGS is None:\n  open(os.environ['PIDFILE'], 'w').write(str(os.getpid()))\n  time.sleep(600)\n"
	q := warmly(t, w, "from ansible.module_utils import slow\nbasic.done(base=basic.LOADED_BY)\n", map[string]string{"ansible/module_utils/slow.py": "from ansible.module_utils import basic\n" + hang})
	file := filepath.Join(q.TmpDir, "pid")
	q.Env = append(os.Environ(), "PIDFILE="+file)
	second := number(t, answer(t, q), "base")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	go func() {
		for range 1000 {
			if text, _ := os.ReadFile(file); len(text) > 0 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		cancel(why)
	}()
	if _, err := foreign.Run(ctx, q); err != why {
		t.Errorf("a module whose imports hang in the fork that loads them: %v", err)
	}
	template, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	for _, pid := range []string{base, second, string(template)} {
		gone(t, pid)
	}
}

// TestWarmEndsWithItsAgent: an interpreter whose socket is closed ends, and so
// does what runs in it.
func TestWarmEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	if file := os.Getenv("WARM_TEST_ZIP"); file != "" { // the agent that is killed
		p := program(t, "python", "", python(t))
		p.File, p.Package, p.Warm, p.Dir = file, "ansible.modules.m", &foreign.Warm{}, filepath.Dir(file)
		_, _ = foreign.Run(t.Context(), p)
		return
	}
	p := warmly(t, nil, "import os, time\nopen('new', 'w').write('%d %d' % (os.getpid(), basic.LOADED_BY))\nos.rename('new', 'pids')\ntime.sleep(600)\n", nil)
	cmd := exec.Command(os.Args[0], "-test.run=^TestWarmEndsWithItsAgent$")
	cmd.Env = append(os.Environ(), "WARM_TEST_ZIP="+p.File)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []string
	for range 1000 {
		text, _ := os.ReadFile(filepath.Join(p.TmpDir, "pids"))
		if pids = strings.Fields(string(text)); len(pids) == 2 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	_ = cmd.Process.Kill() // it is waited for next
	_ = cmd.Wait()
	if len(pids) != 2 {
		t.Fatal("the module did not begin")
	}
	for _, pid := range pids {
		gone(t, pid)
	}
}
