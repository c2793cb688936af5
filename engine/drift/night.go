package drift

import (
	"cmp"
	"slices"
	"time"

	"play/engine/history"
)

// States of drift, compared with earlier nights.
const (
	New   = "new"
	Still = "still there"
)

// Entry is a finding and how it compares with earlier nights.
type Entry struct {
	history.Finding
	State string `json:"state,omitempty"` // New or Still; "" without an earlier night
}

// Night is what one run found.
type Night struct {
	Playbooks   []string          `json:"playbooks"`
	Run         int64             `json:"run,omitempty"` // in the history
	Start       time.Time         `json:"start"`
	End         time.Time         `json:"end"`
	ExitCode    int               `json:"exit_code"`
	Hosts       int               `json:"hosts"`
	Compared    bool              `json:"compared"` // with an earlier night
	Drift       []Entry           `json:"drift"`
	Gone        []history.Finding `json:"gone"`
	Unknown     []history.Finding `json:"unknown"`
	Failed      []history.Finding `json:"failed"`
	Unreachable []history.Finding `json:"unreachable"`
	Ignored     int               `json:"ignored"`

	unchecked []history.Finding
	reached   []string
}

// key is what stays the same of a finding from night to night.
type key struct{ host, task, item, path string }

func keyOf(f *history.Finding) key { return key{f.Host, f.Task, f.Item, f.Path} }

// Night compares what was found with what the nights before, by host, found.
// Rules take findings out.
func (c *Collector) Night(before map[string]history.Night, rules []Rule) *Night {
	n := &Night{Start: c.start, End: c.end, Hosts: len(c.reach), Compared: len(before) > 0, Drift: []Entry{}, Gone: []history.Finding{},
		Unknown: []history.Finding{}, Failed: []history.Finding{}, Unreachable: []history.Finding{}}
	known, seen := earlier(before), map[key]bool{}
	for _, f := range c.found {
		if slices.ContainsFunc(rules, func(r Rule) bool { return r.matches(&f) }) && f.Kind != Failure && f.Kind != Lost {
			n.Ignored++
			continue
		}
		f.First = c.start
		if f.Kind == Drifted && seen[keyOf(&f)] {
			continue // the same task came up again
		}
		n.add(f, known, len(before[f.Host].Findings) > 0 || before[f.Host].Run > 0)
		seen[keyOf(&f)] = true
	}
	c.rest(n, before, seen, rules)
	n.sort()
	return n
}

// earlier are the findings of earlier nights by key.
func earlier(before map[string]history.Night) map[key]history.Finding {
	known := map[key]history.Finding{}
	for _, night := range before {
		for _, f := range night.Findings {
			if f.Kind == Drifted || f.Kind == Unchecked {
				known[keyOf(&f)] = f
			}
		}
	}
	return known
}

// add puts a finding where it belongs.
func (n *Night) add(f history.Finding, known map[key]history.Finding, compared bool) {
	switch f.Kind {
	case Drifted:
		e := Entry{Finding: f}
		if old, ok := known[keyOf(&f)]; ok {
			e.First, e.State = old.First, Still
		} else if compared {
			e.State = New
		}
		n.Drift = append(n.Drift, e)
	case Unknown:
		n.Unknown = append(n.Unknown, f)
	case Failure:
		n.Failed = append(n.Failed, f)
	case Lost:
		n.Unreachable = append(n.Unreachable, f)
	}
}

// rest goes through what earlier nights found and this one did not: it is gone
// where the whole playbook was looked at, and else not checked.
func (c *Collector) rest(n *Night, before map[string]history.Night, seen map[key]bool, rules []Rule) {
	for _, host := range c.reach {
		state := c.host(host)
		if !state.lost {
			n.reached = append(n.reached, host)
		}
		for _, f := range before[host].Findings {
			if f.Kind != Drifted && f.Kind != Unchecked || seen[keyOf(&f)] || state.lost ||
				slices.ContainsFunc(rules, func(r Rule) bool { return r.matches(&f) }) {
				continue
			}
			if state.failed {
				f.Kind = Unchecked
				n.unchecked = append(n.unchecked, f)
				continue
			}
			n.Gone = append(n.Gone, f)
		}
	}
}

func (n *Night) sort() {
	order := func(a, b history.Finding) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Item, b.Item), cmp.Compare(a.Path, b.Path))
	}
	slices.SortStableFunc(n.Drift, func(a, b Entry) int { return order(a.Finding, b.Finding) })
	for _, list := range [][]history.Finding{n.Gone, n.Unknown, n.Failed, n.Unreachable} {
		slices.SortStableFunc(list, order)
	}
}

// Keep are the findings for the history, and the hosts they tell of.
func (n *Night) Keep() (findings []history.Finding, examined []string) {
	for _, e := range n.Drift {
		findings = append(findings, e.Finding)
	}
	findings = append(findings, n.unchecked...)
	findings = append(findings, n.Unknown...)
	return findings, n.reached
}

// Count is the number of drift entries in a state.
func (n *Night) Count(state string) int {
	count := 0
	for _, e := range n.Drift {
		if e.State == state {
			count++
		}
	}
	return count
}

// DriftedHosts is the number of hosts with drift.
func (n *Night) DriftedHosts() int {
	hosts := map[string]bool{}
	for _, e := range n.Drift {
		hosts[e.Host] = true
	}
	return len(hosts)
}
