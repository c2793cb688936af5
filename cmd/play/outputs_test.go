package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"play/modules/shellquote"
	"play/modules/value"
)

// leastEqualRuns is how many whole runs must show what ansible-playbook shows.
const leastEqualRuns = 100

// outputHosts is the inventory of recorded outputs that bring none.
const outputHosts = `h1 ansible_connection=local ansible_python_interpreter=/usr/bin/python3
h2 ansible_connection=local ansible_python_interpreter=/usr/bin/python3
h3 ansible_connection=local ansible_python_interpreter=/usr/bin/python3
`

// TestWholeRuns runs play on the playbooks of the outputs that were recorded of
// ansible-playbook 2.14 and compares stdout and stderr byte for byte, and the
// exit status. Folders, times, job ids and the names of temporary files are
// replaced on both sides. A case that says "differs: …" in its comment, with the
// reason, is left out; the events it holds are replayed elsewhere.
func TestWholeRuns(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../engine/output/testdata/recorded/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, p := range paths {
		archive, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		r := &wholeRun{recordedCase{path: p, archive: archive}}
		if r.header("differs") != "" {
			continue
		}
		compared++
		t.Run(strings.TrimSuffix(filepath.Base(p), ".txtar"), func(t *testing.T) {
			t.Parallel()
			r.dir = t.TempDir()
			r.check(t)
		})
	}
	if compared < leastEqualRuns {
		t.Errorf("%d runs are compared, want at least %d", compared, leastEqualRuns)
	}
}

// wholeRun is a recorded output that is run again.
type wholeRun struct{ recordedCase }

func (r *wholeRun) check(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil && r.python() {
		t.Skip("a module of the case needs python3")
	}
	r.layOut(t)
	stdout, stderr, status := r.run(t)
	if r.python() && strings.Contains(stdout, "no ansible-core is installed here") {
		t.Skip("a module of the case needs ansible-core's module_utils")
	}
	if want := r.wantStatus(); status != want {
		t.Errorf("exit status %d, want %d", status, want)
	}
	sides := []struct{ name, want, got string }{
		{"stdout", r.file("stdout"), stdout},
		{"stderr", r.file("stderr"), stderr},
	}
	for _, s := range sides {
		if diff := cmp.Diff(r.comparable(s.want), r.comparable(s.got)); diff != "" {
			t.Errorf("%s (-ansible +play):\n%s", s.name, diff)
		}
	}
}

func (r *wholeRun) python() bool {
	for _, f := range r.archive.Files {
		if strings.HasPrefix(f.Name, "library/") {
			return true
		}
	}
	return false
}

// layOut writes the case's files into its folder.
func (r *wholeRun) layOut(t *testing.T) {
	files := append([]txtar.File{{Name: "hosts", Data: []byte(outputHosts)}}, r.archive.Files...)
	for _, f := range files {
		if f.Name == "stdout" || f.Name == "stderr" || f.Name == "events" || strings.HasPrefix(f.Name, "made/") {
			continue
		}
		path := filepath.Join(r.dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, recordedFolder.ReplaceAllLiteral(f.Data, []byte(r.dir)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run starts play as record.py started ansible-playbook, or ansible.
func (r *wholeRun) run(t *testing.T) (stdout, stderr string, status int) {
	args := append(r.words(t, "command"), r.words(t, "args")...)
	switch {
	case r.header("command") == "":
		args = append([]string{"-i", "hosts", "site.yml"}, args...)
	case args[0] == "ansible":
		args[0] = "adhoc"
	}
	cmd := exec.Command("play", args...)
	cmd.Dir = r.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "LC_ALL=C.UTF-8", "ANSIBLE_CONFIG=",
		"ANSIBLE_FORKS=1", "ANSIBLE_ASYNC_DIR=" + filepath.Join(r.dir, ".async")}, r.words(t, "env")...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	stdout = out.String()
	if stdout != "" && !strings.HasSuffix(stdout, "\n") {
		stdout += "\n" // as the recordings have it
	}
	return stdout, errs.String(), cmd.ProcessState.ExitCode()
}

func (r *wholeRun) words(t *testing.T, header string) []string {
	words, err := shellquote.Split(string(recordedFolder.ReplaceAllLiteral([]byte(r.header(header)), []byte(r.dir))))
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// recordedFolder is where the recorded runs ran.
var recordedFolder = regexp.MustCompile(`/tmp/play-record[-a-z0-9]*`)

// passing is what differs from run to run.
var passing = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d+Z?`), "TIME"},
	{regexp.MustCompile(`\b\d:\d\d:\d\d\.\d+`), "DELTA"},
	{regexp.MustCompile(`\bj\d+\.[0-9a-f]+`), "JID"},
	{regexp.MustCompile(`\b\d{10}\.\d+`), "STAMP"},
	{regexp.MustCompile(`/\.ansible_async/`), "/.async/"},
	// The source of a copied text or a rendered template is a temporary file, of
	// which play has none.
	{regexp.MustCompile(`DIR/\.ansible/tmp/ansible-local-[^/\s"]*/tmp[^/\s"]*/([^\s"\x1b]+)`), "DIR/$1"},
	{regexp.MustCompile(`(DIR|/root)/\.ansible/tmp/[^\s"\x1b]*`), "content"},
	{regexp.MustCompile(`"_original_basename": "(tmp[^"]*)?"`), `"_original_basename": ""`},
	// Where both look at the same moments a job is asked after more or less often.
	{regexp.MustCompile(`(?m)^(\x1b\[[0-9;]*m)?ASYNC POLL on .*\n`), ""},
	{regexp.MustCompile(`(?m)^(\x1b\[[0-9;]*m)?Skipping callback .*\n`), ""},
	// Which moment a warning of a pattern comes at, and words about connections,
	// are play's own.
	{regexp.MustCompile(`(?m)^(\x1b\[[0-9;]*m)?\[WARNING\]: Could not match supplied host pattern, ignoring: .*\n`), ""},
	{regexp.MustCompile(`(?m)^<[^<>\s]+> [A-Z]+.*\n`), ""},
}

// comparable is a stream without what differs from run to run.
func (r *wholeRun) comparable(text string) string {
	if doc, err := value.DecodeJSON([]byte(text)); err == nil && strings.HasPrefix(text, "{") {
		text, _ = value.EncodeJSON(withoutRunsOwn(doc), value.JSONOptions{Multiline: true, Indent: "    ", SortKeys: true})
	}
	text = strings.ReplaceAll(recordedFolder.ReplaceAllLiteralString(text, "DIR"), r.dir, "DIR")
	for _, p := range passing {
		text = p.pattern.ReplaceAllString(text, p.name)
	}
	return text
}

// withoutRunsOwn takes out of a document what names a run: ids, durations and
// Ansible's internal keys.
func withoutRunsOwn(v any) any {
	switch v := v.(type) {
	case *value.List:
		for i, item := range v.Items {
			v.Items[i] = withoutRunsOwn(item)
		}
	case *value.Dict:
		for _, k := range v.Keys() {
			name := fmt.Sprint(k)
			if name == "duration" || name == "id" || strings.HasPrefix(name, "_ansible_") {
				v.Delete(k)
				continue
			}
			item, _ := v.GetKey(k)
			v.Set(name, withoutRunsOwn(item))
		}
	}
	return v
}
