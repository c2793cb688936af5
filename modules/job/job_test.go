package job_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/modules/job"
	"play/modules/value"
)

func at(t *testing.T, id string) *job.File {
	t.Helper()
	f, err := job.At(filepath.Join(t.TempDir(), "a", "b"), id)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLifeOfAJob(t *testing.T) {
	t.Parallel()
	f := at(t, "j1.2")
	if _, err := f.Read(); !errors.Is(err, job.ErrNone) {
		t.Errorf("before: %v", err)
	}
	if err := f.Start(job.Job{Module: "shell"}); err != nil {
		t.Fatal(err)
	}
	s, err := f.Read()
	if want := "{'started': 1, 'finished': 0, 'ansible_job_id': 'j1.2'}"; err != nil || value.Repr(s) != want {
		t.Errorf("running: %s %v", value.Repr(s), err)
	}
	if err := f.Finish(value.DictOf("changed", true, "finished", 0, "x", "y")); err != nil {
		t.Fatal(err)
	}
	s, err = f.Read()
	if want := "{'started': 1, 'finished': 1, 'ansible_job_id': 'j1.2', 'changed': True, 'x': 'y'}"; err != nil || value.Repr(s) != want {
		t.Errorf("finished: %s %v", value.Repr(s), err)
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
	if err := f.Remove(); !errors.Is(err, job.ErrNone) {
		t.Errorf("again: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(f.Path())); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestWrappersThatAreGone(t *testing.T) {
	t.Parallel()
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	boot := `"boot": "` + strings.TrimSpace(string(id)) + `"`
	for name, who := range map[string]string{
		"another boot":     `{"pid": 1, "start": "1", "boot": "x"}`,
		"no such process":  `{"pid": 4194304, "start": "1", ` + boot + `}`,
		"another process":  `{"pid": 1, "start": "x", ` + boot + `}`,
		"not a dict":       `5`,
		"without a number": `{"pid": "1", ` + boot + `}`,
	} {
		f := at(t, "j")
		if err := os.MkdirAll(filepath.Dir(f.Path()), 0o700); err != nil {
			t.Fatal(err)
		}
		text := `{"started": 1, "finished": 0, "ansible_job_id": "j", "_play": ` + who + `}`
		if err := os.WriteFile(f.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := f.Read()
		text = value.Repr(s)
		if err != nil || !strings.Contains(text, "'finished': 1,") || !strings.Contains(text, "'failed': True, 'msg': 'the async job was lost") {
			t.Errorf("%s: %s %v", name, value.Repr(s), err)
		}
	}
}

// TestOtherWrappers reads a file as Ansible's own wrapper leaves it.
func TestOtherWrappers(t *testing.T) {
	t.Parallel()
	f := at(t, "j")
	if err := os.MkdirAll(filepath.Dir(f.Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Path(), []byte(`{"started": 1, "finished": 0, "ansible_job_id": "j"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := f.Read(); err != nil || value.Repr(s) != "{'started': 1, 'finished': 0, 'ansible_job_id': 'j'}" {
		t.Errorf("%s %v", value.Repr(s), err)
	}
	for _, text := range []string{"", `{"started": 1`, `[]`, "\xff"} {
		if err := os.WriteFile(f.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Read(); err == nil || errors.Is(err, job.ErrNone) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzID checks that no id leads out of its folder (T10).
func FuzzID(f *testing.F) {
	for _, id := range []string{"j123.45", "../x", "a/b", "", ".", "..", "x;y", "a\x00"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		file, err := job.At("/jobs", id)
		if err != nil {
			return
		}
		if filepath.Dir(file.Path()) != "/jobs" || filepath.Base(file.Path()) != id || strings.ContainsAny(id, "/\\ $`'\";|&<>*?\n\x00") {
			t.Errorf("%q is %s", id, file.Path())
		}
	})
}
