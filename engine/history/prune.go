package history

import (
	"database/sql"
	"time"
)

// Retention says how long runs are kept; a zero field means without limit.
type Retention struct {
	Age   time.Duration
	Count int
}

// Prune forgets the runs that are older than the retention says, or too many.
// It returns how many.
func (s *Store) Prune(r Retention, now time.Time) (int, error) {
	oldest, count := int64(0), int64(-1)
	if r.Age > 0 {
		oldest = now.Add(-r.Age).UnixMicro()
	}
	if r.Count > 0 {
		count = int64(r.Count)
	}
	ids, err := s.ids(`SELECT id FROM runs WHERE start < ?1 OR ?2 >= 0 AND id NOT IN (SELECT id FROM runs ORDER BY id DESC LIMIT ?2)`, oldest, count)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return 0, s.damaged(err)
	}
	defer func() { _ = tx.Rollback() }() // without effect after the commit
	for _, id := range ids {
		if err := forget(tx, id); err != nil {
			return 0, s.damaged(err)
		}
	}
	return len(ids), s.damaged(tx.Commit())
}

func (s *Store) ids(query string, args ...any) ([]int64, error) {
	rows, err := s.db.Query(query, args...)
	if err != nil {
		return nil, s.damaged(err)
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, s.damaged(err)
		}
		ids = append(ids, id)
	}
	return ids, s.damaged(rows.Err())
}

// forget deletes all rows of a run.
func forget(tx *sql.Tx, id int64) error {
	if _, err := tx.Exec("DELETE FROM runs WHERE id = ?", id); err != nil {
		return err
	}
	for _, table := range []string{"hosts", "plays", "tasks", "results", "details", "findings", "examined"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE run = ?", id); err != nil {
			return err
		}
	}
	return nil
}
