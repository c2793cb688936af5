package contract

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"play/connection"
)

// Transport runs the contract of connection.Transport.
func Transport(t *testing.T, p Peer) {
	cases := []struct {
		name string
		run  func(*testing.T, Peer)
	}{
		{"output and status", outputAndStatus},
		{"stderr apart", stderrApart},
		{"stderr bounded", stderrBounded},
		{"ended by a signal", endedBySignal},
		{"end of input", endOfInput},
		{"ten megabytes both ways", bigBothWays},
		{"many at once", manyAtOnce},
		{"quoting", quoting},
		{"closing ends the process", closingEnds},
		{"closing the connection ends reads", closeConnection},
		{"put a file", putFile},
		{"a late start is undone", lateStart},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, p)
		})
	}
}

// launch runs a script and fails the test where that does not start.
func launch(ctx context.Context, t *testing.T, tr connection.Transport, script string) connection.Stream {
	t.Helper()
	s, err := tr.Start(ctx, script)
	if err != nil {
		t.Fatalf("cannot start %q: %v", script, err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// finish reads all output and the status.
func finish(t *testing.T, s connection.Stream) (string, int) {
	t.Helper()
	out, err := io.ReadAll(s)
	if err != nil {
		t.Errorf("cannot read: %v", err)
	}
	status, err := s.Wait()
	if err != nil {
		t.Errorf("cannot wait: %v", err)
	}
	return string(out), status
}

func outputAndStatus(t *testing.T, p Peer) {
	ctx, tr := p.connect(t)
	for want := range 3 {
		out, status := finish(t, launch(ctx, t, tr, fmt.Sprintf("echo hello; exit %d", want)))
		if out != "hello\n" || status != want {
			t.Errorf("got %q, status %d; want hello, %d", out, status, want)
		}
	}
}

func stderrApart(t *testing.T, p Peer) {
	ctx, tr := p.connect(t)
	s := launch(ctx, t, tr, "echo wrong >&2; echo right")
	out, _ := finish(t, s)
	if out != "right\n" || s.Stderr() != "wrong\n" {
		t.Errorf("got %q and %q on stderr", out, s.Stderr())
	}
}

func stderrBounded(t *testing.T, p Peer) {
	ctx, tr := p.connect(t)
	s := launch(ctx, t, tr, "echo first >&2; dd if=/dev/zero bs=65536 count=64 2>/dev/null | tr '\\0' x >&2; echo last >&2; echo done")
	out, _ := finish(t, s)
	said := s.Stderr()
	if out != "done\n" || len(said) > 300<<10 || !strings.HasPrefix(said, "first\n") || !strings.HasSuffix(said, "last\n") {
		t.Errorf("got %q and %d bytes of stderr, %.20q…", out, len(said), said)
	}
}

func endedBySignal(t *testing.T, p Peer) {
	ctx, tr := p.connect(t)
	if _, status := finish(t, launch(ctx, t, tr, "kill -TERM $$; sleep 5")); status != 143 {
		t.Errorf("status %d, want 143", status)
	}
}

func endOfInput(t *testing.T, p Peer) {
	ctx, tr := p.connect(t)
	s := launch(ctx, t, tr, "cat; echo end")
	if _, err := io.WriteString(s, "some input\n"); err != nil {
		t.Fatal(err)
	}
	half, ok := s.(connection.HalfCloser)
	if !ok {
		t.Fatal("the stream cannot end its input")
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if out, _ := finish(t, s); out != "some input\nend\n" {
		t.Errorf("got %q", out)
	}
}

func bigBothWays(t *testing.T, p Peer) {
	ctx, tr := p.connect(t)
	s := launch(ctx, t, tr, "cat")
	content := bytes.Repeat([]byte("0123456789abcdef\x00\xff\r\n"), 10<<20/20)
	go func() {
		_, _ = s.Write(content) // a failure shows up as a wrong sum
		_ = s.(connection.HalfCloser).CloseWrite()
	}()
	sum := sha256.New()
	if _, err := io.Copy(sum, s); err != nil {
		t.Fatal(err)
	}
	if want := sha256.Sum256(content); !bytes.Equal(sum.Sum(nil), want[:]) {
		t.Errorf("the content came back changed: %s", hex.EncodeToString(sum.Sum(nil)))
	}
}

func manyAtOnce(t *testing.T, p Peer) {
	ctx, tr := p.connect(t)
	var wait sync.WaitGroup
	for i := range 8 { // sshd allows ten sessions
		wait.Go(func() {
			out, _ := finish(t, launch(ctx, t, tr, fmt.Sprintf("sleep 0.1; echo %d", i)))
			if out != fmt.Sprintf("%d\n", i) {
				t.Errorf("process %d said %q", i, out)
			}
		})
	}
	wait.Wait()
}

func quoting(t *testing.T, p Peer) {
	ctx, tr := p.connect(t)
	for _, text := range []string{"it's", `back\slash`, "$HOME `id` !", "two\nlines", `"q"`, "é→\xff"} {
		if out, _ := finish(t, launch(ctx, t, tr, "printf %s "+connection.Quote(text))); out != text {
			t.Errorf("%q came back as %q", text, out)
		}
	}
}

// closingEnds: a process that reads its input ends when the stream is closed.
func closingEnds(t *testing.T, p Peer) {
	ctx, tr := p.connect(t)
	s := launch(ctx, t, tr, `echo $$; while read -r line; do :; done`)
	var pid int
	if _, err := fmt.Fscan(s, &pid); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for range 1200 {
		if _, status := finish(t, launch(ctx, t, tr, fmt.Sprintf("kill -0 %d 2>/dev/null", pid))); status != 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("process %d still runs", pid)
}

func closeConnection(t *testing.T, p Peer) {
	ctx, tr := p.connect(t)
	s := launch(ctx, t, tr, "cat")
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, s) // any end will do
	}()
	s.Close()
	tr.Close()
	select {
	case <-read:
	case <-ctx.Done():
		t.Error("a read outlived the connection")
	}
}

func putFile(t *testing.T, p Peer) {
	ctx, tr := p.connect(t)
	putter, ok := tr.(connection.FilePutter)
	if !ok {
		return // an optional ability
	}
	dir, _ := finish(t, launch(ctx, t, tr, "mktemp -d"))
	dir = strings.TrimSpace(dir)
	defer func() { finish(t, launch(ctx, t, tr, "rm -r "+connection.Quote(dir))) }()
	content := strings.Repeat("line\n", 100000)
	path := dir + "/it's here"
	if err := putter.PutFile(ctx, path, 0o700, strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if out, _ := finish(t, launch(ctx, t, tr, "cat "+connection.Quote(path))); out != content {
		t.Errorf("%d bytes came back, want %d", len(out), len(content))
	}
	if err := putter.PutFile(ctx, path, 0o700, strings.NewReader("other")); err == nil {
		t.Error("a file that was there was written over")
	}
}

func lateStart(t *testing.T, p Peer) {
	_, tr := p.connect(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if s, err := tr.Start(ctx, "echo late"); err == nil {
		s.Close()
		t.Error("a process started although the caller had given up")
	}
}
