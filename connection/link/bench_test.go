package link_test

import "testing"

// BenchmarkCommand is one `command` call over one agent stream, one at a time.
func BenchmarkCommand(b *testing.B) {
	l, _ := openAgent(b)
	c := request("command", "_raw_params", "true")
	for b.Loop() {
		if _, err := l.Call(b.Context(), c, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPing is the protocol alone.
func BenchmarkPing(b *testing.B) {
	l, _ := openAgent(b)
	c := request("ping")
	for b.Loop() {
		if _, err := l.Call(b.Context(), c, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
