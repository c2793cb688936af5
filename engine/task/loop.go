package task

import (
	"context"
	"time"

	"play/engine/event"
	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

// loop runs the task once per item and sums up.
func (r *run) loop() *end {
	items, e := r.items()
	if e != nil {
		return e
	}
	if len(items) == 0 {
		return &end{status: event.Skipped, loop: true, pos: r.task.Pos, result: value.DictOf(
			"changed", false, "skipped", true, "skipped_reason", "No items in the list", "results", value.NewList())}
	}
	names, err := r.loopNames()
	if err != nil {
		return r.abort(err)
	}
	names.items = items
	sum := &loopSum{results: value.NewList(), ignore: true, ignoreLost: true}
	outer := r.scope
	defer r.use(outer)
	for i, item := range items {
		if i > 0 {
			if err := r.loopPause(); err != nil {
				return r.abort(err)
			}
		}
		r.use(outer.WithFrom("the task's own results", r.learnt, r.sent).WithFrom("loop", names.vars(i), r.looped))
		one := r.item(names, item, i)
		if one.aborts {
			r.noLog = r.hidden
			return one
		}
		sum.add(one)
		if stop, err := r.breakWhen(); err != nil {
			return r.abort(err)
		} else if stop || r.ctx.Err() != nil {
			break
		}
	}
	r.noLog = r.hidden
	return sum.end(r)
}

// item runs one item and tells the sink how it ended.
func (r *run) item(names *loopNames, item any, index int) *end {
	start := r.x.Now()
	label, labelErr := r.label(item)
	one := r.once(&loopItem{vars: names.vars(index), label: label})
	if one.aborts {
		return one
	}
	if labelErr != nil {
		one.status = event.Failed
		one.result.Set("failed", true)
		one.result.Set("msg", "Failed to template loop_control.label: "+labelErr.Error())
		r.ignoring(one)
	}
	one.item, one.label = true, label
	if one.status == event.Unreachable {
		one.result.Delete("changed")
	} else if !hasKey(one.result, "failed") && one.status != event.Skipped {
		one.result.Set("failed", one.status == event.Failed)
	}
	names.describe(one.result, item, index)
	ev := r.eventOf(one, start)
	if ev.Status == event.Unreachable {
		ev.Status = event.Failed // as the reference tells of an item
	}
	r.x.Sink.Result(ev)
	return one
}

// loopSum gathers the items' ends.
type loopSum struct {
	results               *value.List
	changed, failed, lost bool
	ran                   bool
	ignore, ignoreLost    bool // every bad item may be ignored
	last                  *end
	notices               map[string]*value.List
}

func (s *loopSum) add(e *end) {
	s.results.Append(e.result)
	s.changed = s.changed || e.changed
	s.failed = s.failed || e.status == event.Failed
	s.lost = s.lost || e.status == event.Unreachable
	s.ran = s.ran || e.status != event.Skipped
	if e.status == event.Failed {
		s.ignore = s.ignore && e.ignore
	}
	if e.status == event.Unreachable {
		s.ignoreLost = s.ignoreLost && e.ignoreLost
	}
	if s.last == nil || e.status == event.Failed || e.status == event.Unreachable {
		s.last = e
	}
	s.gather(e.result)
}

// gather moves warnings from the items to the whole.
func (s *loopSum) gather(result *value.Dict) {
	for _, key := range []string{"warnings", "deprecations"} {
		v, _ := result.Get(key)
		l, ok := v.(*value.List)
		if !ok || l.Len() == 0 {
			continue
		}
		if s.notices == nil {
			s.notices = map[string]*value.List{}
		}
		if s.notices[key] == nil {
			s.notices[key] = value.NewList()
		}
		s.notices[key].Items = append(s.notices[key].Items, l.Items...)
		result.Delete(key)
	}
}

func (s *loopSum) end(r *run) *end {
	e := &end{loop: true, changed: s.changed, pos: s.last.pos, hint: s.last.hint, delegated: s.last.delegated,
		address: s.last.address, ignore: s.ignore, ignoreLost: s.ignoreLost}
	res := value.DictOf("results", s.results, "changed", s.changed)
	for _, key := range []string{"warnings", "deprecations"} {
		if l := s.notices[key]; l != nil {
			res.Set(key, l)
		}
	}
	res.Set("msg", "All items completed")
	res.Set("skipped", !s.ran)
	switch {
	case s.failed:
		e.status = event.Failed
		res.Set("failed", true)
		res.Set("msg", "One or more items failed")
	case s.lost:
		e.status = event.Unreachable
	case !s.ran:
		e.status = event.Skipped
		res.Set("msg", "All items skipped")
	}
	e.result = res
	return e
}

// items evaluates what the task loops over. When that fails and the condition
// is false without it, the task is skipped, as the reference does.
func (r *run) items() ([]any, *end) {
	var items []any
	var err error
	r.looped, err = r.jinja.Traced(func() (err error) {
		items, err = r.loopItems()
		return err
	})
	if err == nil {
		return items, nil
	}
	if ok, condErr := r.conditions(); condErr == nil && !ok {
		return nil, skipped()
	}
	return nil, r.abortPlain(err)
}

func (r *run) loopItems() ([]any, error) {
	l := r.task.Loop
	if l.Lookup != "" {
		return r.lookupItems(l.Lookup, l.Items)
	}
	v, err := r.jinja.Resolve(l.Items)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *value.List:
		return withoutTuples(v.Items), nil
	case value.Tuple:
		return withoutTuples(v), nil
	}
	if isOmit(v) {
		return nil, nil
	}
	return nil, source.Errorf(l.Pos, "Invalid data passed to 'loop', it requires a list, got this instead: %s. "+
		"Hint: If you passed a list/dict of just one element, try adding wantlist=True to your lookup invocation or use q/query instead of lookup.", value.Str(v)).
		WithHint("wrap a single value in [ ]; for a dict use \"{{ x | dict2items }}\"")
}

// lookupItems runs a with_<lookup> loop.
func (r *run) lookupItems(name string, raw any) ([]any, error) {
	var terms any
	fromHost, err := r.jinja.Traced(func() (err error) {
		terms, err = r.jinja.Resolve(raw)
		return err
	})
	if err != nil {
		if !(name == "first_found" && isUndefined(err)) {
			return nil, err
		}
		terms = r.definedTerms(raw)
	}
	list, ok := terms.(*value.List)
	if !ok {
		list = value.NewList(terms)
	}
	call := &jinja.Call{Ctx: r.jinja, Env: r.x.Jinja, Name: name, Pos: r.task.Loop.Pos, FromHost: fromHost}
	v, ok, err := r.x.Jinja.Lookup(call, name, list.Items, value.NewDict())
	if !ok && err == nil {
		return nil, source.Errorf(r.task.Loop.Pos, "cannot find the lookup %q that with_%s uses", name, name)
	}
	if err != nil {
		return nil, err
	}
	out, ok := v.(*value.List)
	if !ok {
		return []any{v}, nil
	}
	return withoutTuples(out.Items), nil
}

// withoutTuples makes lists of the items that are tuples, as the reference
// shows them.
func withoutTuples(items []any) []any {
	out := make([]any, len(items))
	for i, item := range items {
		if tuple, ok := item.(value.Tuple); ok {
			item = value.NewList(tuple...)
		}
		out[i] = item
	}
	return out
}

// definedTerms evaluates each term alone and keeps those whose variables exist.
func (r *run) definedTerms(raw any) any {
	list, ok := raw.(*value.List)
	if !ok {
		return value.NewList()
	}
	kept := value.NewList()
	for _, term := range list.Items {
		if v, err := r.jinja.Resolve(term); err == nil {
			kept.Append(v)
		}
	}
	return kept
}

// label is how an item is shown.
func (r *run) label(item any) (string, error) {
	if r.task.Loop.Label == nil {
		return value.Str(item), nil
	}
	v, err := r.jinja.Resolve(r.task.Loop.Label)
	if err != nil {
		return "", err
	}
	return value.Str(v), nil
}

func (r *run) loopPause() error {
	if r.task.Loop.Pause == nil {
		return nil
	}
	v, err := r.jinja.Resolve(r.task.Loop.Pause)
	if err != nil {
		return err
	}
	seconds, ok := toFloat(v)
	if !ok {
		return source.Errorf(r.task.Loop.Pos, "the value of \"pause\" is not a number of seconds")
	}
	return r.sleep(time.Duration(seconds * float64(time.Second)))
}

// sleep waits, or returns early with the error of the ended context.
func (r *run) sleep(d time.Duration) error {
	if d <= 0 {
		return context.Cause(r.ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

// breakWhen evaluates loop_control.break_when after an item.
func (r *run) breakWhen() (bool, error) {
	if len(r.task.Loop.BreakWhen) == 0 {
		return false, nil
	}
	if r.task.Register != "" {
		r.use(r.scope.WithFrom("the task's own results", r.learnt, r.sent))
	}
	return r.all(r.task.Loop.BreakWhen)
}
