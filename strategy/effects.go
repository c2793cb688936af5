package strategy

import (
	"fmt"
	"strings"

	"play/engine/task"
	"play/modules/value"
)

// effects applies what a task's results do to the run: facts, variables, hosts,
// groups, statistics. With run_once they reach every host at the task.
func (s *settle) effects(o *task.Outcome, targets []string) {
	for _, e := range o.Effects {
		on := targets
		if e.Host != o.Host {
			on = []string{e.Host}
		}
		for _, h := range on {
			s.setVars(h, &e)
		}
		s.hostsAndGroups(o, &e, false)
		if e.Stats != nil {
			s.b.addStats(o.Host, &e)
		}
	}
}

func (s *settle) setVars(host string, e *task.Effect) {
	state := s.b.Builder.Store.Host(host)
	if e.Facts != nil {
		if dropped := state.AddFacts(e.Facts); len(dropped) > 0 {
			s.b.Sink.Warning(fmt.Sprintf("host %q sent facts that only the operator may set, they were dropped: %s",
				host, strings.Join(dropped, ", ")), s.task.Pos)
		}
	}
	if e.Included != nil {
		state.Include(e.Included)
	}
	for k, v := range e.Vars.All() {
		if name, ok := k.(string); ok {
			state.Set(name, v, e.FromHost)
		}
	}
}

// group puts the hosts into the groups that group_by named, in the hosts' order
// and not in that of their answers, so that every run makes the same groups.
func (s *settle) group() {
	for _, h := range s.hosts {
		for _, o := range s.grouped {
			if o.Host != h {
				continue
			}
			for _, e := range o.Effects {
				s.hostsAndGroups(o, &e, true)
			}
		}
	}
}

// hostsAndGroups applies add_host, and group_by once all hosts have answered
// (last).
func (s *settle) hostsAndGroups(o *task.Outcome, e *task.Effect, last bool) {
	b := s.b
	var changed bool
	var err error
	switch {
	case e.AddHost != nil && !last:
		name, _ := e.AddHost.Get("host_name")
		var groups []string
		if l, _ := e.AddHost.Get("groups"); l != nil {
			for _, g := range l.(*value.List).Items {
				groups = append(groups, value.Str(g))
			}
		}
		hostVars, _ := e.AddHost.Get("host_vars")
		d, _ := hostVars.(*value.Dict)
		if changed, err = b.Inventory.AddHost(value.Str(name), groups, d); changed {
			b.joins(value.Str(name))
		} else if s.task.Loop == nil {
			o.Changed, o.Event.Changed = false, false
			o.Result.Set("changed", false)
		}
	case e.AddGroup != "" && !b.free && !last:
		s.grouped = append(s.grouped, o)
		return
	case e.AddGroup != "":
		changed, err = b.Inventory.AddToGroup(o.Host, e.AddGroup, e.ParentGroups)
	default:
		return
	}
	if err != nil && s.err == nil {
		s.err = err
	}
	if changed {
		b.view.Forget()
	}
}

// addStats adds set_stats data to the run's custom statistics.
func (b *batchRun) addStats(host string, e *task.Effect) {
	key := "_run"
	if e.StatsPerHost {
		key = host
	}
	entry, _ := b.Sums.custom.Get(key)
	d, _ := entry.(*value.Dict)
	if d == nil {
		d = value.NewDict()
		b.Sums.custom.Set(key, d)
	}
	for k, v := range e.Stats.All() {
		if old, ok := d.GetKey(k); ok && !e.StatsReplace {
			v = aggregate(old, v)
		}
		_ = d.SetKey(k, v) // k came from a dict
	}
}

// aggregate adds numbers, texts and lists, and merges dicts; other kinds are
// replaced.
func aggregate(old, v any) any {
	switch o := old.(type) {
	case *value.Dict:
		if n, ok := v.(*value.Dict); ok {
			merged := o.Clone()
			merged.Update(n)
			return merged
		}
	case *value.List:
		if n, ok := v.(*value.List); ok {
			return value.NewList(append(append([]any(nil), o.Items...), n.Items...)...)
		}
	case string:
		if n, ok := v.(string); ok {
			return o + n
		}
	case int:
		if n, ok := v.(int); ok {
			return o + n
		}
	case float64:
		if n, ok := value.AsFloat(v); ok {
			return o + n
		}
	}
	return v
}
