package modules

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"play/modules/argspec"
	"play/modules/value"
)

// runModule runs a module of All with arguments as a playbook gives them.
func runModule(t *testing.T, ctx context.Context, name string, args *value.Dict, change func(*Call)) (*value.Dict, error) {
	t.Helper()
	m := Table(All())[name]
	c := &Call{Context: ctx, Env: os.Environ(), Home: t.TempDir(), TmpDir: t.TempDir(), Output: io.Discard, Extra: value.NewDict()}
	if change != nil {
		change(c)
	}
	into := m.New()
	if _, err := argspec.Of(m.Args).Decode(name, args, argspec.Env{Home: c.Home, Getenv: c.Getenv}, into); err != nil {
		return nil, err
	}
	r, err := m.Run(c, into)
	if r == nil {
		return nil, err
	}
	return r.Dict, err
}

// listen accepts connections on loopback and greets each with text.
func listen(t *testing.T, text string) (port int, l net.Listener) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte(text))
			t.Cleanup(func() { c.Close() })
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, l
}

func TestWaitForPort(t *testing.T) {
	t.Parallel()
	port, _ := listen(t, "SSH-2.0-x\r\n")
	got, err := runModule(t, t.Context(), "wait_for", value.DictOf("port", port, "timeout", 5), nil)
	if err != nil {
		t.Fatal(err)
	}
	if state, _ := got.Get("state"); state != "started" {
		t.Errorf("got %s", value.Repr(got))
	}
	got, err = runModule(t, t.Context(), "wait_for", value.DictOf("port", port, "timeout", 5, "search_regex", `^SSH-([\d.]+)`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if groups, _ := got.Get("match_groups"); value.Repr(groups) != "['2.0']" {
		t.Errorf("got %s", value.Repr(got))
	}
	_, err = runModule(t, t.Context(), "wait_for", value.DictOf("port", port, "timeout", 1, "search_regex", "nope"), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "Timeout when waiting for search string nope in 127.0.0.1:") {
		t.Errorf("got %v", err)
	}
	_, err = runModule(t, t.Context(), "wait_for", value.DictOf("port", port, "timeout", 1, "state", "stopped"), nil)
	if err == nil || !strings.HasSuffix(err.Error(), " to stop.") {
		t.Errorf("got %v", err)
	}
}

func TestWaitForPortThatOpensLater(t *testing.T) {
	t.Parallel()
	port, l := listen(t, "")
	l.Close()
	time.AfterFunc(1200*time.Millisecond, func() {
		if l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}); err == nil {
			t.Cleanup(func() { l.Close() })
		}
	})
	got, err := runModule(t, t.Context(), "wait_for", value.DictOf("port", port, "timeout", 10), nil)
	if err != nil {
		t.Fatal(err)
	}
	if elapsed, _ := got.Get("elapsed"); elapsed != 1 && elapsed != 2 {
		t.Errorf("got %s", value.Repr(got))
	}
}

func TestWaitForDrained(t *testing.T) {
	t.Parallel()
	port, _ := listen(t, "")
	c, err := net.Dial("tcp", (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for name, tc := range map[string]struct {
		args *value.Dict
		want string
	}{
		"active":           {value.DictOf("host", "127.0.0.1"), "to drain"},
		"any address":      {value.DictOf("host", "0.0.0.0"), "to drain"},
		"peer left out":    {value.DictOf("exclude_hosts", "127.0.0.1"), ""},
		"other state only": {value.DictOf("active_connection_states", "SYN_SENT"), ""},
		"other address":    {value.DictOf("host", "127.0.0.9"), ""},
	} {
		tc.args.Update(value.DictOf("port", port, "state", "drained", "timeout", 1))
		_, err := runModule(t, t.Context(), "wait_for", tc.args, nil)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.HasSuffix(err.Error(), tc.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWaitForEndsWithItsCall(t *testing.T) {
	t.Parallel()
	why := errors.New("enough")
	port, _ := listen(t, "")
	for _, args := range []*value.Dict{
		value.DictOf("timeout", 30),
		value.DictOf("path", filepath.Join(t.TempDir(), "none")),
		value.DictOf("port", port, "search_regex", "never"),
		value.DictOf("delay", 30),
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
		began := time.Now()
		if _, err := runModule(t, ctx, "wait_for", args, nil); !errors.Is(err, why) || time.Since(began) > 20*time.Second {
			t.Errorf("%s: %v after %s", value.Repr(args), err, time.Since(began))
		}
	}
}
