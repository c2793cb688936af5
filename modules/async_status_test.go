package modules

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/modules/value"
)

// The answers are what ansible-core 2.14.18 shows for the same status files
// (module and action plugin together, which here are one).
func TestAsyncStatus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"j1.1": `{"started": 1, "finished": 0, "ansible_job_id": "j1.1"}`,
		"j2.2": `{"started": 1, "finished": 1, "ansible_job_id": "j2.2", "changed": true, "rc": 0, "stdout": "x"}`,
		"gone": `{"started": 1, "finished": 1, "ansible_job_id": "gone"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ jid, mode, want string }{
		{"j1.1", "status", "{'changed': False, 'ansible_job_id': 'j1.1', 'started': 1, 'finished': 0, 'results_file': 'DIR/j1.1', 'stdout': '', 'stderr': ''}"},
		{"j2.2", "status", "{'changed': True, 'ansible_job_id': 'j2.2', 'started': 1, 'finished': 1, 'results_file': 'DIR/j2.2', 'stdout': 'x', 'stderr': '', 'rc': 0}"},
		{"none", "status", "could not find job {'changed': False, 'ansible_job_id': 'none', 'started': 1, 'finished': 1, 'results_file': 'DIR/none', 'stdout': '', 'stderr': ''}"},
		{"gone", "cleanup", "{'changed': False, 'ansible_job_id': 'gone', 'started': 0, 'finished': 0, 'erased': 'DIR/gone', 'stdout': '', 'stderr': ''}"},
		{"gone", "cleanup", "could not find job {'changed': False, 'ansible_job_id': 'gone', 'started': 1, 'finished': 1, 'erased': 'DIR/gone', 'stdout': '', 'stderr': ''}"},
		{"../j1.1", "status", "could not find job {'changed': False, 'ansible_job_id': '../j1.1', 'started': 1, 'finished': 1, 'results_file': 'DIR/../j1.1', 'stdout': '', 'stderr': ''}"},
	} {
		r, err := runModule(t, t.Context(), "async_status", value.DictOf("jid", tc.jid, "mode", tc.mode, "_async_dir", dir), nil)
		got := value.Repr(r)
		var f *Failure
		if errors.As(err, &f) {
			got = f.Msg + " " + value.Repr(f.With)
		}
		if got = strings.ReplaceAll(got, dir, "DIR"); got != tc.want {
			t.Errorf("%s of %s\n got %s\nwant %s", tc.mode, tc.jid, got, tc.want)
		}
	}
}
