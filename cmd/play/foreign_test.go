package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"play/engine/modulefind"
)

// TestPythonModulesAsRecorded runs modules of collections and compares their
// results with ansible-playbook's, which testdata/foreign/record.py kept.
func TestPythonModulesAsRecorded(t *testing.T) {
	t.Parallel()
	var recorded struct {
		Version string
		Results map[string]any
	}
	readJSON(t, "testdata/foreign/results.json", &recorded)
	core := modulefind.Finder{Core: modulefind.FindCore(os.Getenv)}
	if !strings.Contains(recorded.Version, "core "+core.Version()+"]") || core.Root("community.general") == "" {
		t.Skipf("the modules themselves are not here: they are those of the package ansible with %s", recorded.Version)
	}
	top := t.TempDir()
	root := filepath.Join(top, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	book, err := filepath.Abs("testdata/foreign/modules.yml")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(top, "out.json")
	cmd := exec.Command(os.Args[0], "-i", "localhost,", book, "-e", "root="+root, "-e", "out="+out)
	cmd.Dir = top
	cmd.Env = []string{"PLAY_TEST_MAIN=1", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + top, "LC_ALL=C.UTF-8", "ANSIBLE_NOCOLOR=1"}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var results map[string]any
	readJSON(t, out, &results)
	if len(results) != len(recorded.Results) {
		t.Errorf("%d results, want %d", len(results), len(recorded.Results))
	}
	for name, want := range recorded.Results {
		got := steady(results[name], root)
		if want = steady(want, root); !reflect.DeepEqual(got, want) {
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(want)
			t.Errorf("%s\n got %s\nwant %s", name, g, w)
		}
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// random are the keys of results that no two runs share: keys, times, and the
// names of scratch files.
var random = []string{"fingerprint", "fingerprints", "public_key", "public_key_fingerprints", "serial_number", "signature",
	"notAfter", "notBefore", "not_after", "not_before", "exception", "module_stderr", "stderr", "stderr_lines", "src", "checksum", "md5sum",
	"subject_key_identifier", "extensions_by_oid", "diff", "size"}

// steady takes out of a result what differs from run to run.
func steady(v any, root string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			if !slices.Contains(random, k) {
				out[k] = steady(item, root)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = steady(item, root)
		}
		return out
	case string:
		return strings.ReplaceAll(v, root, "{root}")
	}
	return v
}
