package pool_test

import (
	"testing"

	"play/connection"
	"play/connection/fleet"
	"play/connection/pool"
)

// process is the process id of the agent that a target gets, and whether it is
// the full one.
func process(t *testing.T, p *pool.Pool, to *connection.Target) (pid string, full bool) {
	t.Helper()
	mustSay(t, p, to, "hello")
	l, err := p.Get(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	return l.Hello().User, l.Hello().Full
}

// TestFullAgent: the full agent is started over the same connection where it is
// asked for, once for each user, and serves everything where it came first.
func TestFullAgent(t *testing.T) {
	t.Parallel()
	f, p := setupWith(t, fleet.Options{Hosts: 2, Sudo: true}, pool.Config{Agents: agents(agent), Full: agents(full), Open: open})
	for _, become := range []*connection.Become{nil, {User: "other"}} {
		first, second := target(f, f.Hosts[0]), target(f, f.Hosts[1])
		first.Become, second.Become = become, become
		plain, isFull := process(t, p, first)
		large, isFull2 := process(t, p, first.With(true))
		if plain == large || isFull || !isFull2 {
			t.Errorf("the plain agent is %s (full: %t), the full one %s (full: %t)", plain, isFull, large, isFull2)
		}
		if again, _ := process(t, p, first); again != plain {
			t.Errorf("a plain call went to %s, want %s", again, plain)
		}
		large, _ = process(t, p, second.With(true))
		if plain, _ = process(t, p, second); plain != large {
			t.Errorf("a plain call went to %s, want the full agent %s that was there", plain, large)
		}
	}
	p.Reset(target(f, f.Hosts[0]).With(true))
	process(t, p, target(f, f.Hosts[0]))
	if a, b := f.Hosts[0].Logins(), f.Hosts[1].Logins(); a != 2 || b != 1 {
		t.Errorf("%d and %d logins, want 2 and 1", a, b)
	}
}

// TestOneAgentIsBoth: an agent that is on the host already, or is the only one
// there is, serves every call.
func TestOneAgentIsBoth(t *testing.T) {
	t.Parallel()
	_, p := setupWith(t, fleet.Options{}, pool.Config{Agents: agents(agent), Full: agents(full), Open: open})
	_, only := setupWith(t, fleet.Options{}, pool.Config{Agents: agents(agent), Open: open})
	for transport, from := range map[string]*pool.Pool{"ready": p, "local": only} {
		to := &connection.Target{Name: "localhost", Transport: transport}
		plain, _ := process(t, from, to)
		if large, _ := process(t, from, to.With(true)); large != plain {
			t.Errorf("%s: a second agent %s was started beside %s", transport, large, plain)
		}
	}
}
