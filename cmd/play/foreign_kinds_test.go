package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"play/engine/modulefind"
)

// kindNeeds are the programs that modules of testdata/foreign/kinds are written
// for, by the names of their results; those of sh need nothing more.
var kindNeeds = map[string]string{
	"k_old_python": "/usr/bin/python3", "k_json_python": "/usr/bin/python3", "k_json_quote": "/usr/bin/python3", "k_new": "/usr/bin/python3",
	"k_perl": "perl -MJSON::PP -e 1", "k_node": "node", "k_binary": "gcc",
}

// kindDiffers are results that are not compared, since play refuses PowerShell
// modules before it looks for a program that could run them.
var kindDiffers = map[string]string{
	"k_power": "PowerShell module", "k_power_old": "PowerShell module", "k_power_cs": "PowerShell module",
}

// TestKindsAsRecorded runs a module of each kind and compares its result with
// ansible-playbook's, which testdata/foreign/record_kinds.py kept.
func TestKindsAsRecorded(t *testing.T) {
	t.Parallel()
	var recorded struct{ Results map[string]map[string]any }
	readJSON(t, "testdata/foreign/kinds.json", &recorded)
	top := t.TempDir()
	root := filepath.Join(top, "root")
	if err := os.CopyFS(root, os.DirFS("testdata/foreign/kinds")); err != nil {
		t.Fatal(err)
	}
	if node, err := exec.LookPath("node"); err == nil {
		if err := os.Symlink(node, filepath.Join(root, "node")); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(root, "library", "k_binary")
	if gcc, err := exec.LookPath("gcc"); err == nil {
		if text, err := exec.Command(gcc, "-o", binary, filepath.Join(root, "binary.c")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	} else if err := os.WriteFile(binary, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(top, "out.json")
	text, code := playIn(t, top, "-i", "localhost,", filepath.Join(root, "site.yml"), "-e", "root="+root, "-e", "out="+out)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	var results map[string]map[string]any
	readJSON(t, out, &results)
	for name, want := range recorded.Results {
		t.Run(name, func(t *testing.T) { compareKind(t, name, results[name], want, root) })
	}
}

func compareKind(t *testing.T, name string, got, want map[string]any, root string) {
	if part := kindDiffers[name]; part != "" {
		if msg, _ := got["msg"].(string); !strings.Contains(msg, part) || got["failed"] != true {
			t.Errorf("got %v", got)
		}
		return
	}
	if program := kindNeeds[name]; program != "" {
		words := strings.Fields(program)
		if _, err := exec.LookPath(words[0]); err != nil || len(words) > 1 && exec.Command(words[0], words[1:]...).Run() != nil {
			t.Skipf("there is no %s here", program)
		}
	}
	if name == "k_new" && modulefind.FindCore(os.Getenv) == "" {
		t.Skip("there is no ansible-core here, whose module_utils it takes")
	}
	if name == "k_rc" || name == "k_none" { // play keeps the warning in the result, and says that nothing changed
		delete(got, "warnings")
		delete(got, "changed")
		delete(want, "changed")
	}
	if g, w := steady(got, root), steady(want, root); !reflect.DeepEqual(g, w) {
		gt, _ := json.Marshal(g)
		wt, _ := json.Marshal(w)
		t.Errorf("\n got %s\nwant %s", gt, wt)
	}
}
