package output_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"play/engine/event"
	"play/engine/output"
)

// TestRecordedCallbacks replays runs that had callbacks of callbacks_enabled,
// and compares what is shown, but for times, and the files written.
func TestRecordedCallbacks(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/callbacks/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no recordings found: %v", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			files := readCase(t, path)
			rec := readEvents(t, files["events"])
			dir := t.TempDir()
			var out, errs bytes.Buffer
			sink := event.Locked(withCallbacks(t, rec, files[""], dir, &out, &errs)...)
			rec.replay(t, sink)
			if diff := cmp.Diff(timeless(string(files["stdout"])), timeless(out.String())); diff != "" {
				t.Errorf("stdout differs (-ansible +play):\n%s", diff)
			}
			if errs.Len() > 0 {
				t.Errorf("stderr: %s", errs.String())
			}
			sameFiles(t, files, dir)
		})
	}
}

// withCallbacks makes the sinks of a case, from the environment in its comment.
func withCallbacks(t *testing.T, rec *recording, comment []byte, dir string, out, errs *bytes.Buffer) []event.Sink {
	t.Helper()
	env := map[string]string{}
	for _, m := range regexp.MustCompile(`([A-Z_]+)=(\S+)`).FindAllSubmatch(comment, -1) {
		env[string(m[1])] = string(m[2])
	}
	o := rec.outputOptions(out, errs)
	c := output.Callbacks{TreeDir: dir, Local: time.UTC, JUnit: output.JUnitOptions{
		Dir: dir, TaskClass: env["JUNIT_TASK_CLASS"] == "true", RelativeTo: env["JUNIT_TASK_RELATIVE_PATH"],
		FailOnChange: env["JUNIT_FAIL_ON_CHANGE"] == "true", FailOnIgnore: env["JUNIT_FAIL_ON_IGNORE"] == "true",
	}, ReportWriteError: func(err error) { t.Error(err) }}
	sinks := []event.Sink{output.NewDefault(o)}
	for _, name := range strings.Split(env["ANSIBLE_CALLBACKS_ENABLED"], ",")[1:] {
		s, ok := output.Callback(name, o, c)
		if !ok {
			t.Fatalf("there is no callback %q", name)
		}
		sinks = append(sinks, s)
	}
	return sinks
}

// timeless replaces the times of day and durations of a text, and sorts lists
// of what took how long.
func timeless(text string) string {
	for _, r := range []struct{ from, to string }{
		{`[A-Z][a-z]+day \d\d [A-Z][a-z]+ \d{4}  \d\d:\d\d:\d\d [+-]\d{4}`, "DAY"},
		{`\d:\d\d:\d\d\.\d{3}`, "TIME"}, {`TIME \*+ `, "TIME * "}, {`\d+ seconds`, "N seconds"}, {`-+ \d+\.\d\ds\n`, "- TOOK\n"},
	} {
		text = regexp.MustCompile(r.from).ReplaceAllString(text, r.to)
	}
	head, list, ok := strings.Cut(text, strings.Repeat("=", 79))
	if !ok {
		return text
	}
	lines := strings.Split(list, "\n")
	slices.Sort(lines)
	return head + strings.Join(lines, "\n")
}

// sameFiles compares the files that a run left with the recorded ones.
func sameFiles(t *testing.T, files map[string][]byte, dir string) {
	t.Helper()
	got := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		name := regexp.MustCompile(`-\d+\.\d+\.xml$`).ReplaceAllString(e.Name(), "-TIME.xml")
		got[name] = strings.TrimRight(string(data), "\n") + "\n"
	}
	want := map[string]string{}
	for name, data := range files {
		if name, ok := strings.CutPrefix(name, "made/"); ok {
			want[name] = string(data)
		}
	}
	for _, m := range []map[string]string{got, want} {
		for name, data := range m {
			if strings.HasSuffix(name, ".xml") {
				m[name] = xmlTree(t, data)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files differ (-ansible +play):\n%s", diff)
	}
}

// xmlTree lists an XML document's elements, attributes but for times, and texts.
func xmlTree(t *testing.T, data string) string {
	t.Helper()
	var b strings.Builder
	d := xml.NewDecoder(strings.NewReader(data))
	for {
		token, err := d.Token()
		if err != nil {
			return b.String()
		}
		switch token := token.(type) {
		case xml.StartElement:
			fmt.Fprintf(&b, "<%s", token.Name.Local)
			for _, a := range token.Attr {
				if a.Name.Local != "time" {
					fmt.Fprintf(&b, " %s=%q", a.Name.Local, a.Value)
				}
			}
			b.WriteString(">\n")
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				b.WriteString(text + "\n")
			}
		case xml.EndElement:
			fmt.Fprintf(&b, "</%s>\n", token.Name.Local)
		}
	}
}
