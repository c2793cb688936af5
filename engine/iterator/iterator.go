// Package iterator says what each host does next in a play. A compiled play
// flows in once; strategies then ask for every host's next task, report how it
// ended, and push in what an include brought. It runs nothing, evaluates no
// template, and one goroutine at a time may use it.
package iterator

import (
	"slices"

	"play/engine/playbook"
)

// Position is where a host stands in the play: the index in each list from the
// outermost in, with the part of a block (body, rescue, always) between. Hosts
// at the same position run the same task; the smaller position comes first.
type Position []int

// Compare orders positions as tasks are written.
func (p Position) Compare(q Position) int { return slices.Compare(p, q) }

// Iterator walks every host of a play through its tasks.
type Iterator struct {
	hosts map[string]*hostState
	// Select reports whether a task is to run at all (its tags match); nil
	// takes every task. It is asked again for every host.
	Select func(*playbook.Task) bool
}

// New makes an iterator over nodes for the given hosts.
func New(hosts []string, nodes []playbook.Node) *Iterator {
	it := &Iterator{hosts: make(map[string]*hostState, len(hosts))}
	for _, h := range hosts {
		it.hosts[h] = &hostState{stack: []*frame{{nodes: nodes}}}
	}
	return it
}

// Next returns the host's next task and its position, or nil when the host has
// nothing left. Asking again gives the same answer until Done is called.
func (it *Iterator) Next(host string) (*playbook.Task, Position) {
	s := it.hosts[host]
	if s == nil || s.failed || s.done {
		return nil, nil
	}
	if s.current != nil {
		return s.current, s.pos
	}
	for len(s.stack) > 0 {
		f := s.stack[len(s.stack)-1]
		if f.next >= len(f.nodes) {
			s.leave()
			continue
		}
		node, at := f.nodes[f.next], f.next
		f.next++
		pos := append(append(Position(nil), f.base...), at)
		switch n := node.(type) {
		case *playbook.Block:
			if !s.hadRole(n) {
				s.stack = append(s.stack, &frame{nodes: n.Body, block: n, base: append(pos, int(body))})
			}
		case *playbook.Task:
			if it.wanted(s, f, n) {
				s.current, s.pos = n, pos
				return n, pos
			}
		}
	}
	s.done = true
	return nil, nil
}

// wanted reports whether the host runs the task, using up a notification. Tags
// do not select handlers.
func (it *Iterator) wanted(s *hostState, f *frame, t *playbook.Task) bool {
	if f.handlers {
		if !s.notified[t] {
			return false
		}
		delete(s.notified, t)
		return true
	}
	return t.Handler || it.Select == nil || it.Select(t)
}

// Done says that the host's current task ended well.
func (it *Iterator) Done(host string) {
	if s := it.hosts[host]; s != nil {
		s.current = nil
	}
}

// Ran says that the host's current task did something: it was not skipped. Once
// the role application it belongs to is complete, others of the same role are
// not run for the host.
func (it *Iterator) Ran(host string) {
	s := it.hosts[host]
	if s == nil || s.current == nil {
		return
	}
	for b := s.current.Parent; b != nil; b = b.Parent {
		if b.Once != "" && b.Role == s.current.Role {
			s.mark(b)
			return
		}
	}
}

// Fail says that the host's current task failed. It returns true when a rescue
// part takes over; otherwise the host leaves the play once the always parts
// around the task have run.
func (it *Iterator) Fail(host string) (rescued bool) {
	s := it.hosts[host]
	if s == nil {
		return false
	}
	s.current = nil
	return s.unwind()
}

// WillRescue reports whether a failure of the host's current task would be
// taken over by a rescue part, at once or after always parts.
func (it *Iterator) WillRescue(host string) bool {
	s := it.hosts[host]
	return s != nil && slices.ContainsFunc(s.stack, func(f *frame) bool {
		return f.block != nil && f.part == body && len(f.block.Rescue) > 0
	})
}

// Drop takes a host out of the play without a failure (end_host, end_play).
func (it *Iterator) Drop(host string) {
	if s := it.hosts[host]; s != nil {
		s.done, s.current, s.stack = true, nil, nil
	}
}

// Failed reports whether the host left the play by a failure.
func (it *Iterator) Failed(host string) bool {
	s := it.hosts[host]
	return s != nil && s.failed
}

// Recovering reports whether the host is in a rescue or an always part.
func (it *Iterator) Recovering(host string) bool {
	s := it.hosts[host]
	return s != nil && !s.failed && slices.ContainsFunc(s.stack, func(f *frame) bool { return f.block != nil && f.part != body })
}

// Queue keeps nodes for the host to run right after its last task, the include
// they came from; index tells apart the several blocks that one include (with a
// loop) can bring, so that hosts meet in the right order. Release follows.
func (it *Iterator) Queue(host string, index int, nodes []playbook.Node) {
	s := it.hosts[host]
	if s == nil {
		return
	}
	base := append(append([]int(nil), s.pos...), index)
	s.queued = append(s.queued, &frame{nodes: nodes, base: base})
}

// Release makes the queued nodes the host's next ones, in their order.
func (it *Iterator) Release(host string) {
	s := it.hosts[host]
	if s == nil {
		return
	}
	if !s.failed && !s.done {
		slices.Reverse(s.queued)
		s.stack = append(s.stack, s.queued...)
	}
	s.queued = nil
}

// Notify marks a handler to run at the host's next flush; it reports whether it
// was not marked before. A handler that notifies itself is not run again.
func (it *Iterator) Notify(host string, handler *playbook.Task) bool {
	s := it.hosts[host]
	if s == nil || s.notified[handler] || s.current == handler {
		return false
	}
	if s.notified == nil {
		s.notified = map[*playbook.Task]bool{}
	}
	s.notified[handler] = true
	return true
}

// Flush makes the host run its notified handlers, in the order of handlers,
// right after its current task.
func (it *Iterator) Flush(host string, handlers []playbook.Node) {
	s := it.hosts[host]
	if s == nil || len(s.notified) == 0 {
		return
	}
	base := append([]int(nil), s.pos...)
	s.stack = append(s.stack, &frame{nodes: handlers, handlers: true, base: base})
}

// Forgive lets a host that failed count as sound again. What it lost of the
// play stays lost.
func (it *Iterator) Forgive(host string) {
	if s := it.hosts[host]; s != nil && s.failed {
		s.failed, s.done = false, true
	}
}
