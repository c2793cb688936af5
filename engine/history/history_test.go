package history_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"play/engine/event"
	"play/engine/history"
	"play/engine/source"
	"play/modules/value"
)

// clock is a time that moves one second with each look.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

// record tells a recorder of a run of two tasks on n hosts.
func record(r *history.Recorder, n int, at time.Time) {
	var hosts []string
	for i := range n {
		hosts = append(hosts, fmt.Sprintf("web%d", i+1))
	}
	r.PlaybookStart("/site.yml")
	r.PlayStart(&event.Play{ID: "1", Name: "all", Hosts: hosts, Pos: source.Pos{File: "/site.yml", Line: 1}})
	counts := map[string]event.Counts{}
	for i, name := range []string{"copy : motd", "restart"} {
		task := &event.Task{ID: fmt.Sprint(i), Name: name, Action: "copy", Diff: true, Pos: source.Pos{File: "/site.yml", Line: 3 + i}}
		r.TaskStart(task)
		for _, h := range hosts {
			res := value.DictOf("changed", i == 0, "msg", "the secret canary is here", "dest", "/etc/motd",
				"diff", value.DictOf("before", "old\n", "after", "new canary\n"))
			r.Result(&event.Result{Host: h, Task: task, Changed: i == 0, Result: res, Start: at, End: at.Add(2 * time.Second)})
			counts[h] = event.Counts{OK: 2, Changed: 1}
		}
	}
	r.Stats(hosts, counts, nil)
}

func about(c *clock) history.About {
	return history.About{Kind: history.KindRun, Version: "1", User: "me", Dir: "/", Now: c.Now,
		Options: history.Options{Playbooks: []string{"/site.yml"}, Tags: []string{"a"}},
		Mask:    func(s string) string { return strings.ReplaceAll(s, "canary", "***") }}
}

// TestKeep keeps a run and reads it again.
func TestKeep(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "history.db")
	c := newClock()
	r := history.NewRecorder(path, about(c))
	record(r, 3, c.now.Add(3*time.Second))
	id, err := r.Close(history.End{Code: 2})
	if err != nil || id != 1 {
		t.Fatalf("run %d, %v", id, err)
	}
	s := open(t, path)
	list, err := s.List(0)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if got := list[0]; got.Hosts != 3 || got.Total != (history.Counts{OK: 6, Changed: 3}) || got.Code != 2 || !got.Finished() || got.Options.Tags[0] != "a" {
		t.Errorf("%+v", got)
	}
	run, err := s.Load(0)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Tasks) != 2 || len(run.Results) != 6 || len(run.Plays) != 1 || run.Hosts[2].Name != "web3" || run.Tasks[0].Took < 2*time.Second {
		t.Errorf("%+v", run)
	}
	want := history.Result{Task: 0, Host: 1, Status: history.Changed, Start: 2 * time.Second, Took: 2 * time.Second,
		Detail: &history.Detail{Msg: "the secret *** is here", Path: "/etc/motd", Diff: "--- before\n+++ after\n@@ -1 +1 @@\n-old\n+new ***\n"}}
	if diff := cmp.Diff(want, run.Results[1]); diff != "" {
		t.Error(diff)
	}
	private(t, path)
}

// private checks that no file beside path can be read by others or holds the
// canary.
func private(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(filepath.Dir(path))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	files, _ := filepath.Glob(path + "*")
	for _, f := range files {
		data, err := os.ReadFile(f)
		info, err2 := os.Stat(f)
		if err != nil || err2 != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(data), "canary") {
			t.Errorf("%s: %v, %v, %v", f, info.Mode(), err, err2)
		}
	}
}

func open(t *testing.T, path string) *history.Store {
	t.Helper()
	s, err := history.OpenExisting(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestNoLog keeps nothing of a no_log task but how it ended, and of a loop the
// items that changed something.
func TestNoLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	r := history.NewRecorder(path, about(newClock()))
	r.PlaybookStart("/site.yml")
	hidden := &event.Task{ID: "1", Name: "hidden", NoLog: true}
	r.Result(&event.Result{Host: "a", Task: hidden, Status: event.Failed, Hint: "canary", Result: value.DictOf("msg", "x")})
	loop := &event.Task{ID: "2", Name: "loop", Diff: true}
	for _, item := range []string{"same", "other"} {
		r.Result(&event.Result{Host: "a", Task: loop, IsItem: true, Item: item, Changed: item == "other", Result: value.DictOf("path", "/"+item)})
	}
	r.Result(&event.Result{Host: "a", Task: loop, Loop: true, Changed: true, Result: value.DictOf("changed", true)})
	if _, err := r.Close(history.End{}); err != nil {
		t.Fatal(err)
	}
	run, err := open(t, path).Load(1)
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Results[0]; got.Status != history.Failed || got.Detail != nil {
		t.Errorf("%+v %+v", got, got.Detail)
	}
	want := []history.Item{{Label: "other", Status: history.Changed, Detail: history.Detail{Path: "/other"}}}
	if diff := cmp.Diff(want, run.Results[1].Detail.Items); diff != "" {
		t.Error(diff)
	}
}

// TestRetention forgets what is too old and what is too much.
func TestRetention(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	c := newClock()
	for i := range 6 {
		if i == 3 {
			c.now = c.now.Add(48 * time.Hour)
		}
		r := history.NewRecorder(path, about(c))
		record(r, 1, c.now)
		keep := history.Retention{Count: 5}
		if i == 5 {
			keep = history.Retention{Count: 2, Age: 24 * time.Hour}
		}
		if _, err := r.Close(history.End{Keep: keep}); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, path)
	list, err := s.List(0)
	if err != nil || len(list) != 2 || list[0].ID != 6 || list[1].ID != 5 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := s.Load(1); !errors.Is(err, history.ErrNoRun) {
		t.Errorf("%v", err)
	}
	d, err := s.Durations([]string{"/site.yml"})
	if err != nil || d.Expected("/site.yml", "restart") < 2*time.Second || d.Expected("/site.yml", "") < 2*time.Second || d.Expected("/other.yml", "x") != 0 {
		t.Errorf("%v, %v", d, err)
	}
}

// TestManyAtOnce keeps runs that go on at the same time.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	const n = 6
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c := newClock()
			r := history.NewRecorder(path, about(c))
			record(r, 20, c.now)
			if _, err := r.Close(history.End{}); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	list, err := open(t, path).List(0)
	if err != nil || len(list) != n {
		t.Fatalf("%d runs, %v", len(list), err)
	}
	for _, s := range list {
		if !s.Finished() || s.Total.OK != 40 {
			t.Errorf("%+v", s)
		}
	}
}

// TestBadFiles tells what is wrong with a history that cannot be used, and
// leaves it as it is.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer.db")
	r := history.NewRecorder(newer, about(newClock()))
	record(r, 1, time.Now())
	if _, err := r.Close(history.End{}); err != nil {
		t.Fatal(err)
	}
	setForm(t, newer, 7)
	for name, c := range map[string]struct{ path, text, want string }{
		"damaged":   {filepath.Join(dir, "damaged.db"), strings.Repeat("no database at all\n", 100), "if it is damaged, move the file away"},
		"newer":     {newer, "", "it has form 7, which a newer play wrote"},
		"directory": {dir, "", "cannot open the history"},
	} {
		if c.text != "" {
			if err := os.WriteFile(c.path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := history.NewRecorder(c.path, about(newClock()))
		record(r, 2, time.Now())
		if id, err := r.Close(history.End{}); err == nil || id != 0 || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %d, %v", name, id, err)
		}
	}
	if _, err := history.OpenExisting(filepath.Join(dir, "none.db")); !errors.Is(err, history.ErrNone) {
		t.Error(err)
	}
}

// setForm changes the form that a database says it has: four bytes of its
// header.
func setForm(t *testing.T, path string, form byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0, 0, 0, form}, 60); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNights finds, for each host, what the last drift run that examined it
// found.
func TestNights(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	a := about(newClock())
	a.Kind = history.KindDrift
	for i, examined := range [][]string{{"web1", "web2"}, {"web1"}} {
		r := history.NewRecorder(path, a)
		record(r, 2, time.Now())
		var found []history.Finding
		for _, h := range examined {
			found = append(found, history.Finding{Host: h, Task: "motd", Kind: "drift", Path: fmt.Sprint("/", i), First: time.UnixMicro(5)})
		}
		if _, err := r.Close(history.End{Findings: found, Examined: examined}); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, path)
	nights, err := s.LastNights(a.Options)
	if err != nil || len(nights) != 2 || nights["web1"].Run != 2 || nights["web2"].Run != 1 || nights["web2"].Findings[0].Path != "/0" ||
		nights["web1"].Findings[0].Path != "/1" {
		t.Errorf("%+v, %v", nights, err)
	}
	other := a.Options
	other.Tags = nil
	if nights, err := s.LastNights(other); err != nil || len(nights) != 0 {
		t.Errorf("%+v, %v", nights, err)
	}
}
