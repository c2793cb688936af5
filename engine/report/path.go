package report

import (
	"slices"

	"play/engine/history"
)

// criticalPath is the chain of results that the run's length comes from, the
// first one first: the one that ended last; before it the one that ended last
// of those that had ended when it began; and so on.
func criticalPath(results []history.Result) []history.Result {
	byEnd := slices.Clone(results)
	slices.SortStableFunc(byEnd, func(a, b history.Result) int { return int((b.Start + b.Took) - (a.Start + a.Took)) })
	var chain []history.Result
	for _, r := range byEnd {
		if n := len(chain); n > 0 && r.Start+r.Took > chain[n-1].Start {
			continue
		}
		if n := len(chain); n > 0 && r.Task == chain[n-1].Task {
			continue // another host's turn at the same task
		}
		chain = append(chain, r)
	}
	slices.Reverse(chain)
	return chain
}
