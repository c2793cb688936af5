package task

import "play/modules/value"

// Gathered is the fact that tells that a host's facts were gathered.
const Gathered = "_ansible_facts_gathered"

// effects reads what a result does to the run.
func (r *run) effects(d *ended) {
	eff := Effect{Host: r.host, FromHost: r.sent}
	if d.facts {
		eff.Host = d.target
	}
	if facts, ok := d.result.Get("ansible_facts"); ok {
		r.facts(&eff, facts)
	}
	if v, ok := d.result.Get("add_host"); ok && r.task.Action == "add_host" {
		eff.AddHost, _ = v.(*value.Dict)
	}
	if v, ok := d.result.Get("add_group"); ok && r.task.Action == "group_by" {
		eff.AddGroup = text(v)
		if p, ok := d.result.Get("parent_groups"); ok {
			for _, g := range p.(*value.List).Items {
				eff.ParentGroups = append(eff.ParentGroups, text(g))
			}
		}
	}
	stats(&eff, d.result)
	r.out.Effects = append(r.out.Effects, eff)
}

// facts sorts a result's ansible_facts: those of set_fact and include_vars are
// variables of the operator's, all others a host's data.
func (r *run) facts(eff *Effect, facts any) {
	d, _ := facts.(*value.Dict)
	switch r.task.Action {
	case "set_fact":
		eff.Vars = d
		if v, ok := r.task.Args.Get("cacheable"); ok {
			if v, err := r.jinja.Resolve(v); err == nil {
				if b, _ := ToBool(v); b {
					eff.Facts = d
				}
			}
		}
	case "include_vars":
		eff.Included = d
	case "debug":
	default:
		eff.Facts = d
	}
}

// stats reads what set_stats reported.
func stats(eff *Effect, result *value.Dict) {
	v, ok := result.Get("ansible_stats")
	d, isDict := v.(*value.Dict)
	if !ok || !isDict {
		return
	}
	data, _ := d.Get("data")
	eff.Stats, _ = data.(*value.Dict)
	per, _ := d.Get("per_host")
	agg, has := d.Get("aggregate")
	eff.StatsPerHost = value.Truth(per)
	eff.StatsReplace = has && !value.Truth(agg)
}
