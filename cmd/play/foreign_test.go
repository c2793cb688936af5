package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPythonModulesAsRecorded runs modules of collections and compares their
// results with ansible-playbook's, which testdata/foreign/record.py kept.
func TestPythonModulesAsRecorded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"modules", "more", "internal", "servers"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recordedModules(t, name)
		})
	}
}

func recordedModules(t *testing.T, name string) {
	var recorded struct {
		Version string
		Results map[string]any
	}
	readJSON(t, "testdata/foreign/"+name+".json", &recorded)
	if needsVersion(t, recorded.Version).Root("community.general") == "" {
		t.Skipf("the modules themselves are not here: they are those of the package ansible with %s", recorded.Version)
	}
	top := publicDir(t)
	root := filepath.Join(top, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	book, err := filepath.Abs("testdata/foreign/" + name + ".yml")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(top, "out.json")
	args := []string{"-i", "localhost,", book, "-e", "root=" + root, "-e", "out=" + out}
	if name == "servers" {
		args = append(args, "-e", "redis="+startServers(t, root))
	}
	cmd := exec.Command(os.Args[0], args...)
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
	same := 0
	for name, want := range recorded.Results {
		got := steady(results[name], root)
		if want = steady(want, root); !reflect.DeepEqual(got, want) && !lacking(got) && !lacking(want) {
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(want)
			t.Errorf("%s\n got %s\nwant %s", name, g, w)
		} else if reflect.DeepEqual(got, want) {
			same++
		}
	}
	if same < len(recorded.Results)*2/3 {
		t.Errorf("%d of %d results could be compared: too many libraries and programs are missing here", same, len(recorded.Results))
	}
}

// missing are the words in which modules say what a machine lacks.
var missing = []string{"Failed to import the required Python library", "Failed to find required executable", "A MySQL module is required",
	"Please install the", "Could not import \"distutils\" and \"pkg_resources\""}

// lacking tells whether a module says that a library or a program is missing,
// which may be installed elsewhere.
func lacking(result any) bool {
	m, _ := result.(map[string]any)
	msg, _ := m["msg"].(string)
	return slices.ContainsFunc(missing, func(words string) bool { return strings.Contains(msg, words) })
}

// publicDir is a folder that other users can enter, as servers do.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "play-foreign-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// startServers starts database servers in a folder for the test's life and
// returns Redis's port.
func startServers(t *testing.T, root string) string {
	t.Helper()
	for _, program := range []string{"mariadbd", "mariadb-install-db", "redis-server", "redis-cli", "pg_lsclusters", "runuser"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s here: the test needs mariadb-server, postgresql, redis-server, python3-pymysql, python3-psycopg2 and python3-redis", program)
		}
	}
	cmd := exec.Command("sh", "testdata/foreign/servers.sh", root)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // the servers' own exit statuses say nothing here
	})
	line, _ := bufio.NewReader(out).ReadString('\n') // without a line there is no port
	words := strings.Fields(line)
	if len(words) != 2 || words[0] != "ready" {
		log, _ := os.ReadFile(filepath.Join(root, "servers.log"))
		t.Fatalf("the servers did not start: %s", log)
	}
	return words[1]
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
	"subject_key_identifier", "extensions_by_oid", "diff", "size", "server_version", "connector_version", "python_system_path", "python_version"}

// nodeName is the host's name as modules tell which Python lacks a library.
var nodeName = regexp.MustCompile(`on [^ ]+'s Python`)

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
		return nodeName.ReplaceAllString(strings.NewReplacer(root, "{root}", filepath.Dir(root), "{top}").Replace(v), "on {node}'s Python")
	}
	return v
}
