package history_test

import (
	"path/filepath"
	"testing"
	"time"

	"play/engine/history"
)

// BenchmarkRecord keeps a run of 1000 hosts and two tasks.
func BenchmarkRecord(b *testing.B) {
	for b.Loop() {
		r := history.NewRecorder(filepath.Join(b.TempDir(), "history.db"), about(newClock()))
		record(r, 1000, time.Now())
		if _, err := r.Close(history.End{}); err != nil {
			b.Fatal(err)
		}
	}
}
