// Package contract holds what every connection must do, as tests. Flowing in: a
// Peer, which makes connections of one kind. A new transport's test is a few
// lines that make its Peer and call Transport. It is imported by tests only.
package contract

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"play/connection"
)

// Limit bounds each case; nothing here should take a tenth of it.
const Limit = 3 * time.Minute

// Peer makes connections to one host.
type Peer struct {
	// Dial connects anew; the suite closes what it gets.
	Dial func(ctx context.Context) (connection.Transport, error)
}

// connect dials and closes at the test's end.
func (p Peer) connect(t *testing.T) (context.Context, connection.Transport) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	t.Cleanup(cancel)
	tr, err := p.Dial(ctx)
	if err != nil {
		t.Fatalf("cannot connect: %v", err)
	}
	t.Cleanup(func() { tr.Close() })
	return ctx, tr
}

// Main runs a package's tests and fails when goroutines of play are left over.
func Main(m *testing.M) int {
	code := m.Run()
	if code != 0 {
		return code
	}
	var left string
	for range 600 {
		if left = leftOver(); left == "" {
			return 0
		}
		time.Sleep(50 * time.Millisecond)
	}
	println("goroutines left over:\n" + left)
	return 1
}

// leftOver returns the stacks of goroutines that run or were started by play's
// connection packages.
func leftOver() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var left []string
	for _, stack := range strings.Split(string(buf), "\n\n") {
		mine := strings.Contains(stack, "play/connection") || strings.Contains(stack, "crypto/ssh")
		// A connection that ends while a channel is being opened leaves this one
		// waiting for ever (x/crypto 0.58); nothing of ours waits for it.
		stuck := strings.Contains(stack, "(*mux).openChannel")
		if mine && !stuck && !strings.Contains(stack, "contract.Main") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}
