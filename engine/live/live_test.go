package live_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"play/engine/event"
	"play/engine/live"
	"play/engine/output"
	"play/modules/value"
)

// stage is a run that is shown on a terminal model, with a clock that tests set.
type stage struct {
	mu   sync.Mutex
	at   time.Time
	vt   *vt
	view *live.View
	p    *live.Painter
	sink event.Sink
	pipe bytes.Buffer // what a pipe would get
}

func newStage(cols, rows int, o live.Options) *stage {
	s := &stage{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), vt: newVT(cols, rows)}
	o.Now = s.now
	s.view = live.NewView(o)
	s.p = live.NewPainter(live.PainterOptions{Terminal: s.vt, Block: s.view.Block, Now: s.now,
		Size: func() (int, int) { return s.vt.cols, s.vt.rows }})
	out := s.p.Writer(s.vt)
	s.sink = event.Locked(s.view, output.NewDefault(output.Options{Out: io.MultiWriter(&s.pipe, out), Err: io.Discard, Color: o.Color}))
	return s
}

func (s *stage) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

func (s *stage) pass(d time.Duration) {
	s.mu.Lock()
	s.at = s.at.Add(d)
	s.mu.Unlock()
	s.p.Redraw()
}

func hosts(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("web%03d", i+1)
	}
	return list
}

func (s *stage) begin(n, tasks int) *event.Task {
	s.sink.PlaybookStart("site.yml")
	s.sink.PlayStart(&event.Play{ID: "p1", Name: "Web servers", Hosts: hosts(n), Tasks: tasks})
	t := &event.Task{ID: "1", Name: "web : Install packages", Action: "apt"}
	s.sink.TaskStart(t)
	return t
}

func (s *stage) end(t *event.Task, host string, status event.Status) {
	s.sink.Result(&event.Result{Host: host, Task: t, Status: status, Result: value.DictOf("changed", false, "msg", "no such package")})
}

// block is the end of the screen from the line that says which task it is.
func (s *stage) block() string {
	text := s.vt.screen()
	return text[strings.LastIndex(text, "\ntask ")+1:]
}

type earlier map[string]time.Duration

func (e earlier) Expected(playbook, task string) time.Duration { return e[playbook+":"+task] }

// TestBlock looks at the block's lines while a task runs.
func TestBlock(t *testing.T) {
	t.Parallel()
	s := newStage(80, 24, live.Options{Lines: true, Expected: earlier{"site.yml:": 3 * time.Minute, "site.yml:web : Install packages": 40 * time.Second}})
	task := s.begin(20, 7)
	for i, h := range hosts(20) {
		s.sink.HostStart(h, task)
		s.pass(time.Second)
		if i < 10 {
			s.end(task, h, []event.Status{event.OK, event.Failed}[i%5/4])
		}
	}
	s.sink.(event.Liner).Line("web011", task, "\x1b[1mUnpacking\x1b[0m vim\r 10%\r 20% done\r\n")
	s.sink.(event.Liner).Line("web012", task, "\x1b]0;owned\aGet: 日本\x01")
	s.pass(time.Second)
	want := strings.Join([]string{
		"task 1 of 7: web : Install packages · play Web servers",
		"▕███████████████░░░░░░░░░░░░░░░▏ 10/20 hosts done, 10 running, 2 failed",
		"0:21 of about 3:00 · this task 0:21, before 0:40",
		"  web011   0:11  │ 20% done",
		"  web012   0:10  │ Get: 日本",
		"  web013   0:09",
		"  web014   0:08",
		"  web015   0:07",
	}, "\n")
	if got := s.block(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestNoLogLines shows nothing of what a no_log task prints.
func TestNoLogLines(t *testing.T) {
	t.Parallel()
	s := newStage(80, 24, live.Options{Lines: true})
	s.begin(2, 2)
	secret := &event.Task{ID: "2", Name: "hide", NoLog: true}
	s.sink.TaskStart(secret)
	s.sink.HostStart("web001", secret)
	s.sink.(event.Liner).Line("web001", secret, "canary")
	s.pass(time.Second)
	if text := s.vt.all(); strings.Contains(text, "canary") || !strings.Contains(text, "web001") {
		t.Errorf("the screen shows:\n%s", text)
	}
}

// TestScrolling compares what has scrolled by, once the block is gone, with what
// a pipe gets: on terminals of many sizes, with events in many orders, and with
// a terminal that changes its size in between.
func TestScrolling(t *testing.T) {
	t.Parallel()
	sizes := [][2]int{{80, 24}, {200, 50}, {40, 10}, {13, 5}, {100, 4}, {8, 3}, {1, 1}}
	for seed, size := range sizes {
		for _, n := range []int{1, 5, 50} {
			s := newStage(size[0], size[1], live.Options{Lines: true, Color: n == 5, ASCII: n == 50})
			s.act(rand.New(rand.NewSource(int64(seed*1000+n))), n)
			want := newVT(size[0], size[1])
			_, _ = want.Write(s.pipe.Bytes())
			if got := s.vt.all(); got != want.all() {
				t.Errorf("%d×%d, %d hosts: got:\n%s\nwant:\n%s", size[0], size[1], n, got, want.all())
			}
		}
	}
}

// act plays a run of three tasks in which hosts come and go by chance.
func (s *stage) act(r *rand.Rand, n int) {
	s.begin(n, 3)
	for i := range 3 {
		task := &event.Task{ID: fmt.Sprint(10 + i), Name: "wide 日本語のタスク " + strings.Repeat("x", r.Intn(100)), Action: "command"}
		s.sink.TaskStart(task)
		names := hosts(n)
		r.Shuffle(n, func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, h := range names {
			s.sink.HostStart(h, task)
			if r.Intn(3) == 0 {
				s.sink.(event.Liner).Line(h, task, strings.Repeat("語x", r.Intn(60)))
			}
			s.pass(time.Duration(r.Intn(200)) * time.Millisecond)
		}
		for _, h := range names {
			s.end(task, h, event.Status(r.Intn(4)))
			s.pass(time.Duration(r.Intn(200)) * time.Millisecond)
		}
	}
	s.sink.Stats(hosts(n), map[string]event.Counts{}, nil)
	s.p.Close()
	s.p.Redraw() // it stays away
}

// TestBlockFits looks that a block is never wider or higher than it may be, and
// never runs over the results.
func TestBlockFits(t *testing.T) {
	t.Parallel()
	for cols := 1; cols < 130; cols += 7 {
		for rows := 1; rows < 40; rows += 5 {
			s := newStage(cols, rows, live.Options{Lines: true, ASCII: cols%2 == 0})
			task := s.begin(200, 12)
			for _, h := range hosts(200) {
				s.sink.HostStart(h, task)
				s.sink.(event.Liner).Line(h, task, strings.Repeat("語", 80))
			}
			s.end(task, "web007", event.Failed)
			lines := s.view.Block(cols, rows)
			if len(lines) > max(1, rows/3) {
				t.Errorf("%d×%d: %d lines", cols, rows, len(lines))
			}
			for _, line := range lines {
				if output.Columns(line) >= cols || strings.Contains(line, "\n") {
					t.Errorf("%d×%d: %d columns: %q", cols, rows, output.Columns(line), line)
				}
			}
			if wanted := cols >= 12 && rows >= 4; wanted != (len(lines) > 0) {
				t.Errorf("%d×%d: the block is %q", cols, rows, lines)
			}
		}
	}
}

// TestResize draws for the new size and leaves nothing of the old block.
func TestResize(t *testing.T) {
	t.Parallel()
	s := newStage(100, 30, live.Options{})
	task := s.begin(9, 2)
	for _, h := range hosts(9) {
		s.sink.HostStart(h, task)
	}
	s.pass(time.Second)
	for _, size := range [][2]int{{40, 30}, {40, 12}, {120, 40}} {
		s.vt.resize(size[0], size[1])
		s.p.Resized()
		text := s.vt.screen()
		if n := strings.Count(text, "running"); n != 1 || !strings.HasSuffix(text, s.lastLine()) {
			t.Errorf("%v: the screen shows:\n%s", size, text)
		}
	}
	s.end(task, "web001", event.OK)
	s.p.Close()
	if text := s.vt.all(); strings.Contains(text, "running") || !strings.HasSuffix(text, "ok: [web001]") {
		t.Errorf("at the end:\n%s", text)
	}
}

func (s *stage) lastLine() string {
	lines := s.view.Block(s.vt.cols, s.vt.rows)
	return lines[len(lines)-1]
}

// TestQuestions keeps the block away while a line of text goes on, in the
// background, and between Suspend and Resume.
func TestQuestions(t *testing.T) {
	t.Parallel()
	s := newStage(80, 24, live.Options{})
	front := true
	s.p = live.NewPainter(live.PainterOptions{Terminal: s.vt, Block: s.view.Block, Now: s.now,
		Size: func() (int, int) { return 80, 24 }, Foreground: func() bool { return front }})
	task := s.begin(2, 2)
	s.sink.HostStart("web001", task)
	out := s.p.Writer(s.vt)
	shows := func(when string, want bool) {
		t.Helper()
		s.pass(time.Second)
		if got := strings.Contains(s.vt.screen(), "running"); got != want {
			t.Errorf("%s: shown %v, want %v:\n%s", when, got, want, s.vt.screen())
		}
	}
	shows("at first", true)
	fmt.Fprint(out, "Password: ")
	shows("while asked", false)
	fmt.Fprintln(out)
	shows("after the answer", true)
	s.p.Suspend()
	shows("while stopped", false)
	s.p.Resume()
	shows("when it goes on", true)
	s.p.Suspend()
	front = false
	s.p.Resume()
	shows("in the background", false)
}

// TestFree counts steps and tells the task of each host when hosts run free.
func TestFree(t *testing.T) {
	t.Parallel()
	s := newStage(80, 24, live.Options{ASCII: true})
	s.begin(4, 5)
	for i, h := range hosts(4) {
		task := &event.Task{ID: fmt.Sprint(10 + i), Name: fmt.Sprintf("job %d", i), Free: true}
		s.sink.TaskStart(task)
		s.sink.HostStart(h, task)
		if i == 0 {
			s.end(task, h, event.OK)
		}
	}
	s.pass(2 * time.Second)
	got := strings.Join(s.view.Block(80, 24), "\n")
	for _, want := range []string{"[#.............................] 1/20 steps done, 3 running", "  web002   0:02  job 1", "  web004   0:02  job 3"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// TestStartClose ends the drawing, also twice and when it never began.
func TestStartClose(t *testing.T) {
	t.Parallel()
	var drawn safeBuffer
	p := live.NewPainter(live.PainterOptions{Terminal: &drawn, Size: func() (int, int) { return 80, 24 },
		Block: func(int, int) []string { return []string{"here"} }})
	p.Start()
	p.Start()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(drawn.String(), "here"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was drawn")
		}
	}
	p.Close()
	p.Close()
	p.Start()
	if text := drawn.String(); !strings.HasSuffix(text, "\r\x1b[J") {
		t.Errorf("the block was not taken away: %q", text)
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// FuzzLine shows whatever a host says is its command's last line: the block stays
// as wide as it may be, and nothing in it steers the terminal.
func FuzzLine(f *testing.F) {
	for _, text := range []string{"\x1b[31mred", "a\x1b]0;title\ab", "\u009b2J", "語\xff\xfe\x1b", "\x1bP\x1b\\x", "\t\v\u2028\u202e"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := newStage(60, 24, live.Options{Lines: true})
		task := s.begin(1, 1)
		s.sink.HostStart("web001", task)
		s.sink.(event.Liner).Line("web001", task, text)
		for _, line := range s.view.Block(60, 24) {
			if output.Columns(line) >= 60 || strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("%q is shown as %q", text, line)
			}
		}
	})
}
