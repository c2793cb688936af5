package event_test

import (
	"slices"
	"sync"
	"testing"

	"play/engine/event"
	"play/engine/source"
	"play/modules/value"
)

// counter counts what it is told, without any lock of its own.
type counter struct{ told map[string]int }

func (c *counter) PlaybookStart(string)                           { c.told["PlaybookStart"]++ }
func (c *counter) PlayStart(*event.Play)                          { c.told["PlayStart"]++ }
func (c *counter) NoHosts()                                       { c.told["NoHosts"]++ }
func (c *counter) NoHostsLeft()                                   { c.told["NoHostsLeft"]++ }
func (c *counter) TaskStart(*event.Task)                          { c.told["TaskStart"]++ }
func (c *counter) Included(*event.Task, string, []string, string) { c.told["Included"]++ }
func (c *counter) HostStart(string, *event.Task)                  { c.told["HostStart"]++ }
func (c *counter) Async(*event.Async)                             { c.told["Async"]++ }
func (c *counter) Result(*event.Result)                           { c.told["Result"]++ }
func (c *counter) Notified(string, string)                        { c.told["Notified"]++ }
func (c *counter) Warning(string, source.Pos)                     { c.told["Warning"]++ }
func (c *counter) Deprecated(string, string, source.Pos)          { c.told["Deprecated"]++ }
func (c *counter) Verbose(int, string, string)                    { c.told["Verbose"]++ }
func (c *counter) Say(string)                                     { c.told["Say"]++ }
func (c *counter) VarsPrompt(string, string)                      { c.told["VarsPrompt"]++ }
func (c *counter) Stats([]string, map[string]event.Counts, *value.Dict) {
	c.told["Stats"]++
}

func tellAll(s event.Sink) {
	s.PlaybookStart("site.yml")
	s.PlayStart(&event.Play{})
	s.NoHosts()
	s.NoHostsLeft()
	s.TaskStart(&event.Task{})
	s.Included(&event.Task{}, "f", nil, "")
	s.HostStart("h", &event.Task{})
	s.Async(&event.Async{})
	s.Result(&event.Result{})
	s.Notified("h", "handler")
	s.Warning("w", source.Pos{})
	s.Deprecated("d", "1", source.Pos{})
	s.Verbose(1, "h", "v")
	s.Say("s")
	s.VarsPrompt("n", "p")
	s.Stats(nil, nil, nil)
}

// TestLocked tells every event from many goroutines; run with -race it also
// shows that sinks need no lock.
func TestLocked(t *testing.T) {
	t.Parallel()
	const tellers, kinds = 20, 16
	a, b := &counter{told: map[string]int{}}, &counter{told: map[string]int{}}
	sink := event.Locked(a, b)
	var wg sync.WaitGroup
	for range tellers {
		wg.Add(1)
		go func() { defer wg.Done(); tellAll(sink) }()
	}
	wg.Wait()
	for _, c := range []*counter{a, b} {
		if len(c.told) != kinds {
			t.Errorf("told of %d kinds of events, want %d", len(c.told), kinds)
		}
		for kind, n := range c.told {
			if n != tellers {
				t.Errorf("%s was told %d times, want %d", kind, n, tellers)
			}
		}
	}
}

// asking is a sink that has something said while it is told of a result.
type asking struct {
	event.Nop
	all  func() event.Sink
	told []string
}

func (a *asking) Result(r *event.Result) {
	a.all().Warning("while told of "+r.Host, source.Pos{})
	a.told = append(a.told, r.Host)
}
func (a *asking) Warning(msg string, _ source.Pos) { a.told = append(a.told, msg) }

// TestLockedAside: what is said while an event is told comes right after it.
func TestLockedAside(t *testing.T) {
	t.Parallel()
	var sink event.Sink
	a := &asking{all: func() event.Sink { return sink }}
	sink = event.Locked(a)
	sink.Result(&event.Result{Host: "a"})
	sink.Result(&event.Result{Host: "b"})
	if want := []string{"a", "while told of a", "b", "while told of b"}; !slices.Equal(a.told, want) {
		t.Errorf("told %q, want %q", a.told, want)
	}
}

// TestNop tells every event to the sink that ignores them.
func TestNop(t *testing.T) {
	t.Parallel()
	tellAll(event.Nop{})
	tellAll(event.Locked())
}
