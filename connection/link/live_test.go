package link_test

import (
	"fmt"
	"testing"
	"time"

	"play/connection/link"
	"play/modules/wire"
)

// TestFloodOfLines: a host that sends lines as fast as it can is shown at a
// bounded pace, keeps nobody waiting, and is heard no more after its reply.
func TestFloodOfLines(t *testing.T) {
	t.Parallel()
	const lines = 20_000
	l, err := hostile(t, link.Options{}, func(s *script) {
		s.greet(wire.Version)
		id := s.next(wire.KindCall).ID
		for i := range lines {
			s.w.Write(wire.KindOutput, id, fmt.Appendf(nil, "\x1b[2Jline %d\n", i))
		}
		s.w.Write(wire.KindReply, id, &wire.Reply{Result: []byte("{}")})
		s.next(wire.KindBye)
	})
	if err != nil {
		t.Fatal(err)
	}
	shown, begun, last := 0, time.Now(), time.Time{}
	_, err = l.Call(t.Context(), request("ping"), nil, func([]byte) {
		if pause := time.Since(last); pause < 100*time.Millisecond {
			t.Errorf("a line after %s", pause)
		}
		last = time.Now()
		shown++
	})
	if most := int(time.Since(begun)/(100*time.Millisecond)) + 1; err != nil || shown > most {
		t.Errorf("%d lines were shown, at most %d may be: %v", shown, most, err)
	}
	count := shown
	if time.Sleep(150 * time.Millisecond); shown != count {
		t.Error("a line was shown after the call's end")
	}
}
