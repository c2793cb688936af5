package modules

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"play/modules/value"
)

// TestCommandArguments has what Ansible's controller does to arguments before
// its module sees them, and options that came after 2.14; the rest is recorded.
func TestCommandArguments(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		module string
		args   *value.Dict
		want   string // stdout, or the failure's message
	}{
		{"command", value.DictOf("cmd", "echo 'a  b'"), "a  b"},
		{"shell", value.DictOf("cmd", "echo a | tr a b"), "b"},
		{"shell", value.DictOf("argv", value.NewList("echo", "a b", "$HOME")), "a b $HOME"},
		{"command", value.DictOf("cmd", "echo", "argv", value.NewList("x")), "only command or argv can be given, not both"},
		{"command", value.DictOf("cmd", "echo $HOME ~", "expand_argument_vars", false), "$HOME ~"},
		{"command", value.DictOf("cmd", "echo a", "warn", false), "a"},
		{"command", value.DictOf("cmd", "printf '\\377\\000x'"), "\xff\x00x"},
	} {
		got := ""
		r, err := runModule(t, t.Context(), tc.module, tc.args, nil)
		var f *Failure
		if errors.As(err, &f) {
			got = f.Msg
		} else if err == nil {
			out, _ := r.Get("stdout")
			got = out.(string)
		}
		if got != tc.want {
			t.Errorf("%s %s: got %q, want %q", tc.module, value.Repr(tc.args), got, tc.want)
		}
	}
}

func TestCommandRunsInTheCallsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sub", "creates"), 0o700); err != nil {
		t.Fatal(err)
	}
	in := func(c *Call) { c.Dir = dir }
	r, err := runModule(t, t.Context(), "command", value.DictOf("_raw_params", "pwd", "chdir", "sub"), in)
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := r.Get("stdout"); out != filepath.Join(dir, "sub") {
		t.Errorf("got %s", value.Repr(r))
	}
	r, err = runModule(t, t.Context(), "command", value.DictOf("_raw_params", "pwd", "creates", "sub/c*"), in)
	if err != nil {
		t.Fatal(err)
	}
	if msg, _ := r.Get("msg"); msg != "Did not run command since 'sub/c*' exists" {
		t.Errorf("got %s", value.Repr(r))
	}
}

// shared is a writer for concurrent use.
type shared struct {
	mu sync.Mutex
	strings.Builder
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Builder.Write(p)
}

func TestCommandShowsItsOutputLive(t *testing.T) {
	t.Parallel()
	var live shared
	_, err := runModule(t, t.Context(), "shell", value.DictOf("_raw_params", "echo out; sleep 0.1; echo err >&2"), func(c *Call) { c.Output = &live })
	if err != nil || live.String() != "out\nerr\n" {
		t.Errorf("%q, %v", live.String(), err)
	}
}

func TestDelta(t *testing.T) {
	t.Parallel()
	for d, want := range map[int64]string{0: "0:00:00", 1: "0:00:00.000001", 3_723_000_456: "1:02:03.000456", 86_400_000_000: "1 day, 0:00:00", 180_000_000_000: "2 days, 2:00:00"} {
		if got := delta(time.Duration(d) * time.Microsecond); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
}
