package strategy

import (
	"strings"

	"play/engine/event"
	"play/engine/playbook"
	"play/engine/task"
	"play/modules/value"
)

// settle applies the outcomes of one task: first each as it comes in, then what
// concerns all hosts at the end.
type settle struct {
	b        *batchRun
	task     *playbook.Task
	event    *event.Task
	hosts    []string // every host at the task; with once only the first ran it
	once     bool
	includes map[string]*task.Outcome
	fatal    bool // a host left the play by a failure, or was lost
	err      error
	grouped  []*task.Outcome // of group_by, applied when all hosts have answered
}

// outcome applies one host's outcome and tells of it.
func (s *settle) outcome(o *task.Outcome) {
	b := s.b
	o, shown := s.debugged(o)
	targets := []string{o.Host}
	if s.once {
		targets = b.reachable()
	}
	if o.Status == event.OK {
		s.notifyAll(o.Host, o.Notify)
		s.effects(o, targets)
	}
	if s.task.Register != "" && b.ctx.Err() == nil {
		kept := registered(o.Result)
		for _, h := range targets {
			b.Builder.Store.Host(h).Set(s.task.Register, kept, o.FromHost)
		}
	}
	s.count(o)
	if !shown {
		b.Sink.Result(o.Event)
	}
	s.advance(o)
	if len(o.Includes) > 0 {
		if s.includes == nil {
			s.includes = map[string]*task.Outcome{}
		}
		s.includes[o.Host] = o
	}
}

// registered is a result as register keeps it: without what is for outputs.
func registered(result *value.Dict) *value.Dict {
	kept := value.NewDict()
	for k, v := range result.All() {
		name, _ := k.(string)
		if name == "invocation" || strings.HasPrefix(name, "_ansible_") {
			continue
		}
		if l, ok := v.(*value.List); ok && name == "results" {
			v = withoutHints(l)
		}
		_ = kept.SetKey(k, v) // k came from a dict
	}
	return kept
}

// withoutHints drops the display hints of a loop's items.
func withoutHints(items *value.List) *value.List {
	out := &value.List{Items: make([]any, len(items.Items))}
	for i, item := range items.Items {
		out.Items[i] = item
		d, ok := item.(*value.Dict)
		if !ok {
			continue
		}
		plain := value.NewDict()
		for k, v := range d.All() {
			if name, _ := k.(string); !strings.HasPrefix(name, "_ansible_") {
				_ = plain.SetKey(k, v) // k came from a dict
			}
		}
		out.Items[i] = plain
	}
	return out
}

// count adds the outcome to the host's line of the recap.
func (s *settle) count(o *task.Outcome) {
	c := s.b.count(o.Host)
	switch {
	case o.Status == event.Skipped:
		c.Skipped++
	case o.Status == event.Unreachable && !o.IgnoreUnreachable:
		c.Unreachable++
	case o.Status == event.Unreachable:
		c.OK++
		c.Ignored++
	case o.Status == event.Failed && !o.Ignored:
		s.countFailure(o.Host)
	case o.Status == event.Failed:
		c.OK++
		c.Ignored++
		if o.Changed {
			c.Changed++
		}
	case s.task.Action == "include_tasks" || s.task.Action == "include_role" || s.task.Action == "include":
		// an included file counts when it is loaded
	default:
		c.OK++
		if o.Changed {
			c.Changed++
		}
	}
}

func (s *settle) countFailure(host string) {
	c := s.b.count(host)
	if s.b.it.WillRescue(host) {
		c.Rescued++
		return
	}
	c.Failed++
}

// advance moves the hosts on in the play.
func (s *settle) advance(o *task.Outcome) {
	b := s.b
	hosts := []string{o.Host}
	if s.once {
		hosts = s.hosts
	}
	switch {
	case o.Status == event.Unreachable && !o.IgnoreUnreachable:
		s.lose(o)
		return
	case o.Status == event.Failed && !o.Ignored:
		s.fail(o.Host, hosts, o.Result)
		return
	}
	for _, h := range hosts {
		if o.Status == event.OK || o.Status == event.Failed {
			b.it.Ran(h)
		}
		b.it.Done(h)
	}
}

// lose takes an unreachable host out of the run, unless a block rescues it.
func (s *settle) lose(o *task.Outcome) {
	b := s.b
	if b.rescuesUnreachable(s.task) && b.it.WillRescue(o.Host) {
		c := b.count(o.Host)
		c.Unreachable--
		s.countFailure(o.Host)
		s.fail(o.Host, []string{o.Host}, o.Result)
		return
	}
	b.unreachable[o.Host] = true
	s.fatal = true
	b.leaves(o.Host)
	for _, h := range s.hosts {
		if s.once || h == o.Host {
			b.it.Done(h)
		}
	}
}

// rescuesUnreachable reports whether a block around the task asks for its
// rescue part to take over when a host is lost.
func (b *batchRun) rescuesUnreachable(t *playbook.Task) bool {
	for p := t.Parent; p != nil; p = p.Parent {
		if a, ok := p.Keywords["rescue_unreachable"]; ok {
			on, _ := toBool(a.Value)
			return on
		}
	}
	return false
}

// fail sends hosts to their rescue or out of the play, because the task failed
// on one of them.
func (s *settle) fail(host string, hosts []string, result *value.Dict) {
	b := s.b
	if b.it.WillRescue(host) {
		state := b.Builder.Store.Host(host)
		state.Set("ansible_failed_task", describe(s.task, b.ownName(s.task, host)), false)
		state.Set("ansible_failed_result", result, true)
	} else {
		b.leaves(host)
	}
	for _, h := range hosts {
		b.it.Ran(h)
		b.it.Fail(h)
	}
	if next, _ := b.it.Next(host); next == nil && b.it.Failed(host) {
		b.failed[host] = true
		b.stale = true
	}
	s.fatal = s.fatal || b.it.Failed(host)
}

// describe is what rescue tasks see as ansible_failed_task.
func describe(t *playbook.Task, name string) *value.Dict {
	d := value.DictOf("name", name, "action", t.Action)
	args := value.NewDict()
	for k, v := range t.Args.All() {
		if plain(v) {
			_ = args.SetKey(k, v) // k came from a dict
		}
	}
	d.Set("args", args)
	if t.Register != "" {
		d.Set("register", t.Register)
	}
	return d
}

// end does what concerns all hosts once the task is done everywhere.
func (s *settle) end() error {
	b := s.b
	if s.err != nil || b.ctx.Err() != nil {
		return s.err
	}
	s.group()
	if s.err != nil {
		return s.err
	}
	if len(s.includes) > 0 {
		s.include()
	}
	if !b.free {
		b.limit(s)
	}
	return nil
}

// limit applies any_errors_fatal and max_fail_percentage: when every reachable
// host has failed by them, the run ends.
func (b *batchRun) limit(s *settle) {
	if s.fatal && b.isFatal(s) {
		b.broken = true
		for _, h := range b.reachable() {
			if !b.it.Recovering(h) {
				b.failed[h] = true
			}
		}
	}
	if b.maxFail >= 0 && float64(b.failures())/float64(len(b.hosts))*100 > b.maxFail {
		b.broken = true
		for _, h := range b.reachable() {
			b.failed[h] = true
		}
		b.Sink.NoHostsLeft()
	}
	if b.broken && b.failures() >= len(b.reachable()) {
		b.Sink.NoHostsLeft()
		b.stopped = true
	}
}

// failures counts the hosts of the batch that have failed for good.
func (b *batchRun) failures() int {
	n := 0
	for _, h := range b.hosts {
		if b.failed[h] {
			n++
		}
	}
	return n
}

// isFatal reports whether a failure of the task ends the play for everyone.
func (b *batchRun) isFatal(s *settle) bool {
	if v, err := b.hostKeyword(s.task, s.hosts[0], "ignore_errors"); err == nil && v != nil {
		if on, _ := toBool(v); on {
			return false
		}
	}
	if s.once {
		return true
	}
	if v, err := b.hostKeyword(s.task, s.hosts[0], "any_errors_fatal"); err == nil && v != nil {
		on, _ := toBool(v)
		return on
	}
	return b.anyFatal
}
