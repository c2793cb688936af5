package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"play/engine/history"
	"play/engine/report"
)

// big is a run of hosts × tasks with every kind of end in it.
func big(hosts, tasks int) *history.Run {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := &history.Run{Summary: history.Summary{ID: 7, Kind: history.KindRun, Version: "1", User: "me", Start: start, End: start.Add(time.Duration(tasks) * time.Second), Code: 2,
		Options: history.Options{Playbooks: []string{"/srv/site.yml"}}}}
	r.Plays = []history.Play{{Name: "all", Playbook: "/srv/site.yml"}}
	for h := range hosts {
		r.Hosts = append(r.Hosts, history.Host{Name: fmt.Sprintf("web%03d.example", h+1), Counts: history.Counts{OK: tasks, Failed: h % 250 / 249}})
	}
	for t := range tasks {
		r.Tasks = append(r.Tasks, history.Task{Name: fmt.Sprintf("base : task %d", t+1), Action: "copy", Place: fmt.Sprintf("/srv/roles/base/tasks/main.yml:%d:3", t+1),
			Start: time.Duration(t) * time.Second, Took: 900 * time.Millisecond})
		for h := range hosts {
			res := history.Result{Task: t, Host: h, Status: history.OK, Start: time.Duration(t) * time.Second, Took: time.Duration(1+(h*7+t*13)%900) * time.Millisecond}
			switch n := h*31 + t*17; {
			case n%41 == 0:
				res.Status, res.Detail = history.Changed, &history.Detail{Path: "/etc/app.conf", Diff: "--- before\n+++ after\n@@ -1 +1 @@\n-old\n+new\n"}
			case n%13 == 0:
				res.Status = history.Skipped
			case n%997 == 0:
				res.Status, res.Detail = history.Failed, &history.Detail{Msg: "cannot write", Stderr: "No space left on device"}
			}
			r.Results = append(r.Results, res)
		}
	}
	return r
}

func write(t *testing.T, r *history.Run) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Write(f, r); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// nasty is what a host could say to take over the page.
const nasty = `</script><script>document.title="taken"</script><img src=x onerror="document.title='taken'">`

func hostile() *history.Run {
	r := big(3, 4)
	r.Hosts[1].Name, r.Tasks[2].Name, r.Plays[0].Name, r.Options.Playbooks[0] = nasty, nasty, nasty, nasty
	r.Results[0].Status, r.Results[0].Detail = history.Failed, &history.Detail{Msg: nasty, Stdout: nasty, Diff: "+" + nasty, Items: []history.Item{{Label: nasty, Status: history.Failed}}}
	return r
}

// TestSelfContained checks that the page names nothing outside of it, and that
// no text of a host is markup.
func TestSelfContained(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(write(t, hostile()))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	if strings.Contains(page, "<img") || strings.Count(page, "</script>") != 2 || strings.Count(page, "<script") != 2 {
		t.Error("a text of a host is markup")
	}
	if m := regexp.MustCompile(`(?i)(src|href)\s*=\s*["'][^"']*|url\(|@import|https?://`).FindAllString(page, -1); len(m) != 1 || m[0] != `href="data:,` {
		t.Errorf("the page names things outside of it: %q", m)
	}
}

// TestCriticalPath follows what the run waited for.
func TestCriticalPath(t *testing.T) {
	t.Parallel()
	r := big(2, 3)
	for i, took := range []time.Duration{100, 900, 500, 200, 300, 400} {
		r.Results[i].Took = took * time.Millisecond
	}
	data, err := os.ReadFile(write(t, r))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(data), `id="data">`)
	text, _, _ := strings.Cut(after, "</script>")
	var page struct{ Path [][4]int64 }
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(page.Path); got != "[[0 1 0 900] [1 0 1000 500] [2 1 2000 400]]" {
		t.Error(got)
	}
}

// chromiumArgs make Chromium run by itself, without a window or a network.
func chromiumArgs(t *testing.T) []string {
	return []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--user-data-dir=" + lasting(t)}
}

// lasting is a folder that goes when the test does, unless what is left of a
// browser still writes to it.
func lasting(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "play-report-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // see above
	return dir
}

// browser runs Chromium without a window and returns what it printed.
func browser(t *testing.T, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(chromiumArgs(t), args...)...)
	cmd.Env = append(os.Environ(), "HOME="+lasting(t))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// dom is a page's document after its script ran.
func dom(t *testing.T, page string) string {
	t.Helper()
	return browser(t, "--virtual-time-budget=5000", "--dump-dom", "file://"+page)
}

// TestInBrowser checks what the script makes of a run.
func TestInBrowser(t *testing.T) {
	t.Parallel()
	got := dom(t, write(t, hostile()))
	if strings.Contains(got, "<title>taken") || strings.Contains(got, "<img") {
		t.Error("a host's text ran as a script")
	}
	for _, want := range []string{"data-ready=", "failed</span>", "&lt;img src=x", `id="failures"`, "3 hosts of 3"} {
		if !strings.Contains(got, want) {
			t.Errorf("the document lacks %q", want)
		}
	}
	if strings.Contains(got, `id="failures" hidden`) {
		t.Error("the failures are hidden")
	}
}

// TestLargeRun opens a run of 500 hosts × 200 tasks.
func TestLargeRun(t *testing.T) {
	t.Parallel()
	page := write(t, big(500, 200))
	info, err := os.Stat(page)
	if err != nil || info.Size() > 4<<20 {
		t.Errorf("the page has %d bytes, %v", info.Size(), err)
	}
	got := dom(t, page)
	ready := regexp.MustCompile(`data-ready="(\d+)"`).FindStringSubmatch(got)
	if ready == nil {
		t.Fatal("the page was not ready")
	}
	t.Logf("%d bytes, ready after %s ms", info.Size(), ready[1])
	if !strings.Contains(got, "500 hosts of 500, 200 tasks of 200") {
		t.Error("the matrix does not tell its size")
	}
}
