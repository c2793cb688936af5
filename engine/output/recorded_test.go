package output_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"play/engine/output"
	"play/modules/value"
)

// TestRecorded replays runs of ansible-playbook 2.14 and compares both streams
// byte for byte. testdata/record/record.py made the recordings.
func TestRecorded(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/recorded/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no recordings found: %v", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			files := readCase(t, path)
			rec := readEvents(t, files["events"])
			var out, errs bytes.Buffer
			sink, ok := output.New(str(rec.options, "stdout_callback"), rec.outputOptions(&out, &errs))
			if !ok {
				t.Fatalf("no output of that name")
			}
			rec.replay(t, sink)
			if strings.HasPrefix(filepath.Base(path), "json") {
				sameDocument(t, files["stdout"], out.Bytes())
			} else if diff := cmp.Diff(string(files["stdout"]), wholeLines(out.String())); diff != "" {
				t.Errorf("stdout differs (-ansible +play):\n%s", diff)
			}
			if diff := cmp.Diff(string(files["stderr"]), errs.String()); diff != "" {
				t.Errorf("stderr differs (-ansible +play):\n%s", diff)
			}
		})
	}
}

// wholeLines ends the last line, as the recordings have it.
func wholeLines(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func readCase(t *testing.T, path string) map[string][]byte {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"": archive.Comment}
	for _, f := range archive.Files {
		files[f.Name] = f.Data
	}
	return files
}

// sameDocument compares two documents of the json output but for the times and
// for Ansible's internal keys, and looks that ours is printed as Ansible's is.
func sameDocument(t *testing.T, want, got []byte) {
	t.Helper()
	form := value.JSONOptions{Multiline: true, Indent: "    ", SortKeys: true}
	texts := make([]string, 2)
	for i, data := range [][]byte{want, got} {
		doc, err := value.DecodeJSON(data)
		if err != nil {
			t.Fatalf("cannot read document %d: %v", i, err)
		}
		if again, _ := value.EncodeJSON(doc, form); again+"\n" != string(data) {
			t.Errorf("document %d is not printed with sorted keys and an indent of 4", i)
		}
		texts[i], _ = value.EncodeJSON(withoutVolatile(doc), form)
	}
	if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
		t.Errorf("document differs (-ansible +play):\n%s", diff)
	}
}

func withoutVolatile(v any) any {
	switch v := v.(type) {
	case *value.List:
		for i, item := range v.Items {
			v.Items[i] = withoutVolatile(item)
		}
	case *value.Dict:
		for _, k := range v.Keys() {
			if name := k.(string); name == "duration" || strings.HasPrefix(name, "_ansible_") {
				v.Delete(k)
				continue
			}
			item, _ := v.GetKey(k)
			v.Set(k.(string), withoutVolatile(item))
		}
	}
	return v
}
