package strategy

import (
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/task"
)

// freely lets every host go on in its own time; forks bounds how many tasks run
// at once, and active how many hosts are under way at a time (host_pinned: a
// host stays until it is through).
func (b *batchRun) freely(active int) error {
	b.free, b.ids = true, map[*playbook.Task]string{}
	f := &freeRun{b: b, ended: make(chan *task.Outcome, len(b.hosts)), busy: map[string]*settle{}, at: map[*playbook.Task]int{},
		open: map[string]bool{}}
	for !b.endPlay && b.ctx.Err() == nil {
		if err := f.start(active); err != nil {
			f.drain()
			return err
		}
		if len(f.busy) == 0 {
			break
		}
		if err := f.settle(<-f.ended); err != nil {
			f.drain()
			return err
		}
	}
	f.drain()
	return nil
}

// freeRun is a batch whose hosts are at different tasks.
type freeRun struct {
	b     *batchRun
	ended chan *task.Outcome
	busy  map[string]*settle     // by host
	at    map[*playbook.Task]int // how many hosts run a task now, for throttle
	open  map[string]bool        // hosts under way
	turn  int                    // the host whose turn is next
}

// start sets every idle host to its next task, while there is room: the hosts
// take turns. Where a host is through, the others are asked once more: one of them
// may have waited for its place.
func (f *freeRun) start(active int) error {
	for again := true; again; {
		waits, freed := false, false
		first, n := f.turn, len(f.b.hosts)
		for i := range f.b.hosts {
			at := (first + i) % n
			h := f.b.hosts[at]
			if f.busy[h] != nil {
				continue
			}
			if !f.open[h] && len(f.open) >= active {
				waits = true
				continue
			}
			left, err := f.advance(h, at)
			if err != nil || f.b.endPlay {
				return err
			}
			freed = freed || left
		}
		again = waits && freed
	}
	return nil
}

// advance starts the next task of a host, which stands at a place in the order of
// the hosts. It reports whether the host was under way and is through.
func (f *freeRun) advance(host string, at int) (left bool, err error) {
	was := f.open[host]
	f.open[host] = true
	more, err := f.next(host)
	if err != nil || f.b.endPlay {
		return false, err
	}
	if !more {
		delete(f.open, host)
	}
	if f.busy[host] != nil {
		f.turn = at + 1
	}
	return was && !more, nil
}

// next starts the host's next task; meta tasks are carried out at once. It
// reports whether the host had one: it may have to wait for room.
func (f *freeRun) next(host string) (more bool, err error) {
	b := f.b
	for !b.endPlay && !b.unreachable[host] {
		b.updateHosts()
		t, _ := b.it.Next(host)
		if t == nil {
			return false, nil
		}
		if t.Action == "meta" {
			if err := b.meta(t, []string{host}); err != nil {
				return false, err
			}
			continue
		}
		if len(b.withoutFacts(t, []string{host})) == 0 {
			continue
		}
		if len(f.busy) >= max(1, b.Forks) || f.at[t] >= b.width(t) {
			return true, nil
		}
		return true, f.begin(host, t)
	}
	return false, nil
}

func (f *freeRun) begin(host string, t *playbook.Task) error {
	b := f.b
	if once, err := b.onlyOnce(t, host); err != nil {
		return err
	} else if once {
		if a := b.Executor.Actions[t.Action]; a != nil && a.Once {
			return source.Errorf(t.Pos, "The '%s' module bypasses the host loop, which is currently not supported in the free strategy "+
				"and would instead execute for every host in the inventory list.", t.Written)
		}
		b.Sink.Warning("Using run_once with the free strategy is not currently supported. This task will still be executed "+
			"for every host in the inventory list.", t.Pos)
	}
	ev := b.event(t, host)
	b.Sink.TaskStart(ev)
	f.busy[host] = &settle{b: b, task: t, event: ev, hosts: []string{host}}
	f.at[t]++
	go func() {
		b.Sink.HostStart(host, ev)
		f.ended <- b.Executor.Run(b.ctx, host, t, ev)
	}()
	return nil
}

// settle applies one host's outcome.
func (f *freeRun) settle(o *task.Outcome) error {
	s := f.busy[o.Host]
	delete(f.busy, o.Host)
	f.at[o.Task]--
	s.outcome(o)
	return s.end()
}

// drain waits for what still runs; its results are applied as far as they go.
func (f *freeRun) drain() {
	for len(f.busy) > 0 {
		_ = f.settle(<-f.ended) // the run ends for another reason
	}
}
