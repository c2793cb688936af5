package strategy

import (
	"strings"

	"play/engine/playbook"
	"play/engine/source"
	"play/modules/value"
)

// notifyAll marks the handlers of the given names and topics for a host.
func (s *settle) notifyAll(host string, names []string) {
	b := s.b
	for _, name := range names {
		found := b.findHandlers(name)
		if len(found) == 0 && b.MissingHandlerWarns {
			b.Sink.Warning((&MissingHandlerError{Name: name}).Error(), s.task.Pos)
			continue
		}
		if len(found) == 0 {
			s.err = b.missingHandler(name, s.task)
			return
		}
		for _, h := range found {
			if b.it.Notify(host, h) {
				b.Sink.Notified(host, b.taskName(h))
			}
		}
	}
}

// missingHandler tells where a handler was notified that is not there, and
// which one may have been meant.
func (b *batchRun) missingHandler(name string, t *playbook.Task) error {
	err := source.Errorf(t.Pos, "%w", &MissingHandlerError{Name: name, Pos: t.Pos})
	var names []string
	for _, h := range b.handlers {
		names = append(names, b.ownName(h, b.hosts[0]))
		for _, topic := range h.Listen {
			names = append(names, value.Str(topic))
		}
	}
	if near := source.Nearest(name, names); near != "" {
		err = err.WithHint("did you mean %q?", near)
	}
	return err
}

// flush sends the hosts to their notified handlers.
func (b *batchRun) flush(hosts []string) {
	nodes := make([]playbook.Node, len(b.handlers))
	for i, h := range b.handlers {
		nodes[i] = h
	}
	for _, h := range hosts {
		b.it.Flush(h, nodes)
	}
}

// findHandlers returns the handlers of a name (of the last list that has one)
// and those that listen to it.
func (b *batchRun) findHandlers(name string) []*playbook.Task {
	if b.notify == nil {
		b.notify = map[string][]*playbook.Task{}
	}
	if found, ok := b.notify[name]; ok {
		return found
	}
	var found []*playbook.Task
	for i := len(b.handlers) - 1; i >= 0; i-- {
		if b.handlerNamed(b.handlers[i], name) {
			found = append(found, b.firstNamed(i, name))
			break
		}
	}
	for _, h := range b.handlers {
		if b.listens(h, name) && !(len(found) > 0 && found[0] == h) {
			found = append(found, h)
		}
	}
	b.notify[name] = found
	return found
}

// firstNamed returns the first handler of that name in the list that the i-th
// handler stands in: the last list wins, and in it the first handler.
func (b *batchRun) firstNamed(i int, name string) *playbook.Task {
	h := b.handlers[i]
	for j := i - 1; j >= 0 && b.handlers[j].Parent == b.handlers[i].Parent && b.handlers[j].Role == b.handlers[i].Role; j-- {
		if b.handlerNamed(b.handlers[j], name) {
			h = b.handlers[j]
		}
	}
	return h
}

// handlerNamed compares the handler's name, alone and with its role's. Names
// are evaluated without a host: its variables cannot name handlers.
func (b *batchRun) handlerNamed(h *playbook.Task, name string) bool {
	if h.Name == nil {
		return false
	}
	own := h.Name
	if !plain(own) {
		scope, err := b.view.Scope("", h)
		if err != nil {
			return false
		}
		if own, err = b.Executor.Context(scope, nil).Resolve(h.Name); err != nil {
			return false
		}
	}
	short := value.Str(own)
	return short == name || h.Role != nil && (h.Role.Name+" : "+short == name || roleShort(h.Role)+" : "+short == name)
}

// roleShort is a role's name without its collection.
func roleShort(r *playbook.Role) string { return strings.TrimPrefix(r.Name, r.Collection+".") }

func (b *batchRun) listens(h *playbook.Task, topic string) bool {
	for _, raw := range h.Listen {
		v := raw
		if !plain(raw) {
			resolved, err := b.eval().resolve(raw)
			if err != nil {
				continue
			}
			v = resolved
		}
		if contains(appendListen(nil, v), topic) {
			return true
		}
	}
	return false
}

func appendListen(topics []string, v any) []string {
	if l, ok := v.(*value.List); ok {
		for _, item := range l.Items {
			topics = appendListen(topics, item)
		}
		return topics
	}
	return append(topics, value.Str(v))
}
