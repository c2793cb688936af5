package strategy

import (
	"fmt"
	"strings"

	"play/engine/event"
	"play/engine/playbook"
	"play/engine/source"
	"play/modules/value"
)

// metaAction is one word that meta takes.
type metaAction struct {
	name string
	// each tells that every host does it on its own; the others are done once,
	// when the first host's condition holds.
	each bool
	// always tells that a condition on the task is not looked at.
	always bool
	// not says what does not happen when the condition is false; "%s" is the host.
	not string
	// run does it for the hosts whose condition holds and says what was done.
	run func(b *batchRun, t *playbook.Task, host string) (did string, err error)
}

func metaActions() []metaAction {
	return []metaAction{
		{name: "clear_facts", not: ", not clearing facts and fact cache for %s", run: (*batchRun).clearFacts},
		{name: "clear_host_errors", not: ", not clearing host error state for %s", run: (*batchRun).clearErrors},
		{name: "end_batch", not: ", continuing current batch", run: (*batchRun).endBatch},
		{name: "end_host", each: true, not: ", continuing execution for %s", run: (*batchRun).endHost},
		{name: "end_play", not: ", continuing play", run: (*batchRun).endThePlay},
		{name: "flush_handlers", each: true, not: ", not running handlers for %s", run: (*batchRun).flushHandlers},
		{name: "noop", each: true, always: true, run: func(*batchRun, *playbook.Task, string) (string, error) { return "noop", nil }},
		{name: "refresh_inventory", always: true, run: (*batchRun).refresh},
		{name: "reset_connection", each: true, always: true, run: (*batchRun).resetConnection},
	}
}

// meta carries out a meta task for the hosts that stand at it.
func (b *batchRun) meta(t *playbook.Task, hosts []string) error {
	raw, _ := t.Args.Get("_raw_params")
	m, err := metaNamed(strings.TrimSpace(value.Str(raw)), t)
	if err != nil {
		return err
	}
	if m.always && len(t.When) > 0 {
		b.Sink.Warning(m.name+" task does not support when conditional", t.Pos)
	}
	doing := hosts
	if !m.each {
		doing = hosts[:1]
	}
	for _, h := range doing {
		if err := b.metaOn(m, t, h); err != nil {
			return err
		}
	}
	b.allDone(hosts)
	return nil
}

func metaNamed(what string, t *playbook.Task) (*metaAction, error) {
	var names []string
	for _, m := range metaActions() {
		if m.name == what {
			return &m, nil
		}
		names = append(names, m.name)
	}
	return nil, source.Errorf(t.Pos, "invalid meta action requested: %s", what).WithHint("one of %s", strings.Join(names, ", "))
}

// metaOn carries out a meta task for one host and tells of it.
func (b *batchRun) metaOn(m *metaAction, t *playbook.Task, host string) error {
	own := b.isOwn(t)
	var ev *event.Task
	if !own {
		ev = b.event(t, host)
		b.Sink.TaskStart(ev)
	}
	holds := m.always
	if !holds {
		var err error
		if holds, err = b.metaHolds(t, host); err != nil {
			return err
		}
	}
	if !holds {
		b.tellMetaSkipped(m, ev, host)
		return nil
	}
	did, err := m.run(b, t, host)
	if err == nil && !own {
		b.Sink.Verbose(2, "", "META: "+did)
	}
	return err
}

// tellMetaSkipped shows that the condition does not hold for a host.
func (b *batchRun) tellMetaSkipped(m *metaAction, ev *event.Task, host string) {
	not := m.not
	if strings.Contains(not, "%s") {
		not = fmt.Sprintf(not, host)
	}
	reason := m.name + " conditional evaluated to False" + not
	msg := m.name
	if m.name == "end_host" {
		msg = m.name + " conditional evaluated to false" + not
	}
	b.Sink.Verbose(2, "", "META: "+reason)
	b.Sink.Result(&event.Result{Host: host, Task: ev, Status: event.Skipped, Pos: ev.Pos, Result: value.DictOf(
		"msg", msg, "skip_reason", reason, "skipped", true)})
}

// metaHolds evaluates the task's condition for a host.
func (b *batchRun) metaHolds(t *playbook.Task, host string) (bool, error) {
	conds := t.Conditions()
	if len(conds) == 0 {
		return true, nil
	}
	scope, err := b.view.Scope(host, t)
	if err != nil {
		return false, err
	}
	ctx := b.Executor.Context(scope, nil)
	for _, c := range conds {
		if ok, err := c.Eval(ctx); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func (b *batchRun) clearFacts(*playbook.Task, string) (string, error) {
	for _, h := range b.hosts {
		b.Builder.Store.Host(h).ClearFacts()
	}
	return "facts cleared", nil
}

func (b *batchRun) clearErrors(*playbook.Task, string) (string, error) {
	for _, h := range b.hosts {
		delete(b.failed, h)
		delete(b.unreachable, h)
		b.it.Forgive(h)
	}
	b.stale = true
	return "cleared host errors", nil
}

func (b *batchRun) endBatch(*playbook.Task, string) (string, error) {
	for _, h := range b.reachable() {
		b.it.Drop(h)
	}
	return "ending batch", nil
}

func (b *batchRun) endThePlay(*playbook.Task, string) (string, error) {
	for _, h := range b.reachable() {
		b.it.Drop(h)
	}
	b.endPlay = true
	return "ending play", nil
}

func (b *batchRun) endHost(_ *playbook.Task, host string) (string, error) {
	b.it.Drop(host)
	b.leaves(host)
	return "ending play for " + host, nil
}

func (b *batchRun) flushHandlers(_ *playbook.Task, host string) (string, error) {
	b.flush([]string{host})
	return "triggered running handlers for " + host, nil
}

func (b *batchRun) refresh(*playbook.Task, string) (string, error) {
	err := b.Inventory.Refresh()
	if err == nil {
		b.named.listed, err = b.Inventory.Match(b.named.pattern)
	}
	b.stale = true
	b.view.Forget()
	return "inventory successfully refreshed", err
}

func (b *batchRun) resetConnection(t *playbook.Task, host string) (string, error) {
	if b.ResetConnection == nil {
		return "reset connection", nil
	}
	return "reset connection", b.ResetConnection(b.ctx, host, t)
}
