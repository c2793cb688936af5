package strategy

import (
	"play/engine/event"
	"play/engine/iterator"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/task"
	"play/modules/value"
)

// linear takes the hosts through the play in step: the hosts that stand at the
// next task in the play's order run it together, and nobody goes on before they
// are done.
func (b *batchRun) linear() error {
	for !b.stopped && !b.endPlay && b.ctx.Err() == nil {
		t, pos, hosts := b.step(b.last)
		if t == nil && b.last != nil {
			t, pos, hosts = b.step(nil) // hosts that were let back in
		}
		if t == nil {
			return nil
		}
		b.last = pos
		if err := b.runTask(t, pos, hosts); err != nil {
			return err
		}
	}
	return nil
}

// step finds the first task after a position and the hosts that are at it.
func (b *batchRun) step(after iterator.Position) (t *playbook.Task, at iterator.Position, hosts []string) {
	for _, h := range b.hosts {
		if b.unreachable[h] {
			continue
		}
		next, pos := b.it.Next(h)
		if next == nil || after != nil && pos.Compare(after) <= 0 {
			continue
		}
		c := -1
		if t != nil {
			c = pos.Compare(at)
		}
		switch {
		case c < 0:
			t, at, hosts = next, pos, append(hosts[:0], h)
		case c == 0 && next == t:
			hosts = append(hosts, h)
		}
	}
	return t, at, hosts
}

func (b *batchRun) runTask(t *playbook.Task, pos iterator.Position, hosts []string) error {
	b.updateHosts()
	if t.Action == "meta" {
		return b.meta(t, hosts)
	}
	ev := b.event(t, hosts[0])
	if !b.wantedByPerson(ev) {
		b.allDone(hosts)
		return nil
	}
	once, err := b.onlyOnce(t, hosts[0])
	if err != nil {
		return err
	}
	if hosts = b.withoutFacts(t, hosts); len(hosts) == 0 {
		return nil
	}
	runOn := hosts
	if once {
		runOn = hosts[:1]
	}
	b.Sink.TaskStart(ev)
	s := &settle{b: b, task: t, event: ev, hosts: hosts, once: once}
	fanOut(runOn, b.width(t), func(h string) *task.Outcome {
		b.Sink.HostStart(h, ev)
		return b.Executor.Run(b.ctx, h, t, ev)
	}, s.outcome)
	return s.end()
}

// wantedByPerson asks whether to run a task when the run goes step by step.
func (b *batchRun) wantedByPerson(ev *event.Task) bool {
	if b.Step == nil {
		return true
	}
	name := "TASK: " + ev.Name
	if ev.Handler {
		name = "HANDLER: " + ev.Name
	}
	answer := b.Step(name)
	if answer == StepContinue {
		b.Step = nil
	}
	return answer != StepNo
}

// withoutFacts keeps the hosts that run a task: where a play gathers facts only
// of hosts that none were gathered of, the others are done with that.
func (b *batchRun) withoutFacts(t *playbook.Task, hosts []string) []string {
	if t.Action != "gather_facts" || !b.GatherSmart || !b.isOwn(t) {
		return hosts
	}
	var need []string
	for _, h := range hosts {
		gathered, _ := b.Builder.Store.Host(h).Injected().Get(task.Gathered)
		if value.Truth(gathered) {
			b.it.Done(h)
			continue
		}
		need = append(need, h)
	}
	return need
}

func (b *batchRun) allDone(hosts []string) {
	for _, h := range hosts {
		b.it.Done(h)
	}
}

// onlyOnce reports whether the task runs on one host for all.
func (b *batchRun) onlyOnce(t *playbook.Task, host string) (bool, error) {
	if a := b.Executor.Actions[t.Action]; a != nil && a.Once {
		return true, nil
	}
	v, err := b.hostKeyword(t, host, "run_once")
	if v == nil || err != nil {
		return false, err
	}
	once, ok := toBool(v)
	if !ok {
		return false, source.Errorf(t.Pos, "the value of \"run_once\" is not a boolean: %s", value.Str(v))
	}
	return once, nil
}

// width is how many hosts run the task at a time: forks, or less by throttle.
func (b *batchRun) width(t *playbook.Task) int {
	width := max(1, b.Forks)
	v, err := b.hostKeyword(t, b.hosts[0], "throttle")
	if err != nil || v == nil {
		return width
	}
	if f, ok := value.AsFloat(v); ok && f >= 1 {
		return min(width, int(f))
	}
	return width
}

// hostKeyword evaluates a task's keyword in a host's view; nil when not set.
func (b *batchRun) hostKeyword(t *playbook.Task, host, name string) (any, error) {
	a, ok := t.Inherit(name)
	if !ok {
		return nil, nil
	}
	if plain(a.Value) {
		return a.Value, nil
	}
	scope, err := b.view.Scope(host, t)
	if err != nil {
		return nil, err
	}
	return b.Executor.Context(scope, nil).Resolve(a.Value)
}

// plain reports whether a loaded value has nothing to evaluate.
func plain(v any) bool {
	switch v.(type) {
	case nil, bool, int, float64, string:
		return true
	}
	return false
}
