package modules

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/modules/value"
)

// The expected results are those of ansible-core 2.14.18's script action.
func TestScript(t *testing.T) {
	t.Parallel()
	const text = "#!/bin/sh\necho \"args: $*\"; echo \"$0\" >&2; [ \"$1\" != 3 ] || exit 3\n"
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args  *value.Dict
		check bool
		want  string
	}{
		"arguments":         {value.DictOf("_raw_params", "sub/s.sh a 'b  c'"), false, "{'changed': True, 'rc': 0, 'stdout': 'args: a b  c\\n', 'stderr': 's.sh'}"},
		"a name in quotes":  {value.DictOf("_raw_params", "'my script.sh' a"), false, "{'changed': True, 'rc': 0, 'stdout': 'args: a\\n', 'stderr': 'my script.sh'}"},
		"cmd":               {value.DictOf("cmd", "s.sh x"), false, "{'changed': True, 'rc': 0, 'stdout': 'args: x\\n', 'stderr': 's.sh'}"},
		"shell reads them":  {value.DictOf("cmd", "s.sh $((1+1)) 2>&1 >/dev/null"), false, "{'changed': True, 'rc': 0, 'stdout': 's.sh', 'stderr': ''}"},
		"executable":        {value.DictOf("cmd", "s.sh", "executable", "/bin/cat"), false, "{'changed': True, 'rc': 0, 'stdout': " + value.Repr(text) + ", 'stderr': ''}"},
		"failure":           {value.DictOf("cmd", "s.sh 3"), false, "failed: {'changed': True, 'rc': 3, 'stdout': 'args: 3\\n', 'stderr': 's.sh'} non-zero return code"},
		"creates there":     {value.DictOf("cmd", "s.sh", "creates", there), false, "{'changed': False, 'skipped': True, 'msg': '{dir}/there exists, matching creates option'}"},
		"removes missing":   {value.DictOf("cmd", "s.sh", "removes", dir+"/none"), false, "{'changed': False, 'skipped': True, 'msg': '{dir}/none does not exist, matching removes option'}"},
		"relative chdir":    {value.DictOf("cmd", "s.sh", "chdir", "none"), false, "failed: {} chdir none must be an absolute path for a Unix-aware remote node"},
		"check":             {value.DictOf("cmd", "s.sh"), true, "{'changed': False, 'skipped': True, 'msg': 'Check mode is not supported for this task.'}"},
		"check and creates": {value.DictOf("cmd", "s.sh", "creates", dir+"/none"), true, "{'changed': True}"},
		"nothing":           {value.NewDict(), false, "failed: {} missing required arguments: cmd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			r, err := runModule(t, t.Context(), "script", tc.args, func(c *Call) {
				c.Body, c.TmpDir, c.Check = strings.NewReader(text), tmp, tc.check
			})
			got := scriptResult(r, err, tmp, dir)
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if left, _ := os.ReadDir(tmp); len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
		})
	}
}

// scriptResult prints a result without the folder names, which differ.
func scriptResult(r *value.Dict, err error, tmp, dir string) string {
	prefix, suffix := "", ""
	var f *Failure
	if errors.As(err, &f) {
		prefix, suffix, r = "failed: ", " "+f.Msg, f.With
		if r == nil {
			r = value.NewDict()
		}
	}
	for _, key := range []string{"stdout", "stderr"} {
		if v, ok := r.Get(key); ok && strings.HasPrefix(value.Str(v), tmp) {
			r.Set(key, filepath.Base(strings.TrimSpace(value.Str(v))))
		}
	}
	return prefix + strings.ReplaceAll(value.Repr(r), dir, "{dir}") + suffix
}
