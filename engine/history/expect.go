package history

import (
	"database/sql"
	"slices"
	"time"

	"play/engine/event"
)

// lookBack is the number of earlier runs of a playbook that durations are
// expected from.
const lookBack = 5

// Durations are what tasks took in earlier runs.
type Durations map[string]map[string]time.Duration // by playbook and task; "" is the whole playbook

var _ event.Expectations = Durations{}

// Expected is the median of the earlier durations, 0 when there are none.
func (d Durations) Expected(playbook, task string) time.Duration { return d[playbook][task] }

// Durations reads how long the tasks of playbooks, given by absolute path, took
// in their last finished runs.
func (s *Store) Durations(playbooks []string) (Durations, error) {
	all := Durations{}
	for _, pb := range playbooks {
		took := map[string][]time.Duration{}
		runs, err := s.ids(`SELECT DISTINCT runs.id FROM plays JOIN runs ON runs.id = plays.run WHERE plays.playbook = ? AND runs.end IS NOT NULL
			ORDER BY runs.id DESC LIMIT ?`, pb, lookBack)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			if err := s.durationsOf(run, pb, took); err != nil {
				return nil, s.damaged(err)
			}
		}
		all[pb] = medians(took)
	}
	return all, nil
}

// durationsOf adds what a run's tasks took; of tasks with the same name, the
// longest.
func (s *Store) durationsOf(run int64, playbook string, took map[string][]time.Duration) error {
	byName := map[string]time.Duration{}
	var first, last time.Duration
	err := s.each(`SELECT tasks.name, tasks.start, tasks.took, plays.playbook FROM tasks JOIN plays ON plays.run = tasks.run AND plays.n = tasks.play
		WHERE tasks.run = ?`, run, func(rows *sql.Rows) error {
		var name, book string
		var start, n int64
		if err := rows.Scan(&name, &start, &n, &book); err != nil || book != playbook {
			return err
		}
		if len(byName) == 0 {
			first = micros(start)
		}
		byName[name], first = max(byName[name], micros(n)), min(first, micros(start))
		last = max(last, micros(start+n))
		return nil
	})
	for name, d := range byName {
		took[name] = append(took[name], d)
	}
	if len(byName) > 0 {
		took[""] = append(took[""], last-first)
	}
	return err
}

func medians(took map[string][]time.Duration) map[string]time.Duration {
	out := map[string]time.Duration{}
	for name, all := range took {
		slices.Sort(all)
		out[name] = all[len(all)/2]
	}
	return out
}
