package history

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrNoRun is wrapped by the error about a run that is not kept.
var ErrNoRun = errors.New("there is no such run")

const summaries = `SELECT id, kind, version, user, dir, options, start, end, code,
  (SELECT json_array(count(*), sum(ok), sum(changed), sum(unreachable), sum(failed), sum(skipped), sum(rescued), sum(ignored)) FROM hosts WHERE run = id)
  FROM runs `

// List returns the latest runs, the last one first; limit 0 means all.
func (s *Store) List(limit int) ([]Summary, error) {
	if limit <= 0 {
		limit = -1
	}
	rows, err := s.db.Query(summaries+"ORDER BY id DESC LIMIT ?", limit)
	if err != nil {
		return nil, s.damaged(err)
	}
	defer rows.Close()
	list := []Summary{}
	for rows.Next() {
		sum, err := scanSummary(rows)
		if err != nil {
			return nil, s.damaged(err)
		}
		list = append(list, *sum)
	}
	return list, s.damaged(rows.Err())
}

func scanSummary(row interface{ Scan(...any) error }) (*Summary, error) {
	var s Summary
	var options, counts string
	var start int64
	var end, code sql.NullInt64
	if err := row.Scan(&s.ID, &s.Kind, &s.Version, &s.User, &s.Dir, &options, &start, &end, &code, &counts); err != nil {
		return nil, err
	}
	var n [8]int
	if err := errors.Join(json.Unmarshal([]byte(options), &s.Options), json.Unmarshal([]byte(counts), &n)); err != nil {
		return nil, err
	}
	s.Start, s.Code, s.Hosts = time.UnixMicro(start), int(code.Int64), n[0]
	s.Total = Counts{n[1], n[2], n[3], n[4], n[5], n[6], n[7]}
	if end.Valid {
		s.End = time.UnixMicro(end.Int64)
	}
	return &s, nil
}

// Load returns a run with everything that is kept of it; id 0 is the latest.
func (s *Store) Load(id int64) (*Run, error) {
	where, args := "WHERE id = ?", []any{id}
	if id == 0 {
		where, args = "ORDER BY id DESC LIMIT 1", nil
	}
	sum, err := scanSummary(s.db.QueryRow(summaries+where, args...))
	if errors.Is(err, sql.ErrNoRows) {
		if id == 0 {
			return nil, ErrNone
		}
		return nil, fmt.Errorf("cannot find run %d: %w; \"play runs\" lists those that are kept", id, ErrNoRun)
	}
	if err != nil {
		return nil, s.damaged(err)
	}
	r := &Run{Summary: *sum}
	for _, part := range []func(*Run) error{s.loadHosts, s.loadPlays, s.loadTasks, s.loadResults, s.loadFindings} {
		if err := part(r); err != nil {
			return nil, s.damaged(err)
		}
	}
	return r, nil
}

// each calls scan for every row of a query about a run.
func (s *Store) each(query string, run int64, scan func(*sql.Rows) error) error {
	rows, err := s.db.Query(query, run)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *Store) loadHosts(r *Run) error {
	return s.each("SELECT name, ok, changed, unreachable, failed, skipped, rescued, ignored FROM hosts WHERE run = ? ORDER BY n", r.ID, func(rows *sql.Rows) error {
		var h Host
		err := rows.Scan(&h.Name, &h.OK, &h.Changed, &h.Unreachable, &h.Failed, &h.Skipped, &h.Rescued, &h.Ignored)
		r.Hosts = append(r.Hosts, h)
		return err
	})
}

func (s *Store) loadPlays(r *Run) error {
	return s.each("SELECT playbook, name, place FROM plays WHERE run = ? ORDER BY n", r.ID, func(rows *sql.Rows) error {
		var p Play
		err := rows.Scan(&p.Playbook, &p.Name, &p.Place)
		r.Plays = append(r.Plays, p)
		return err
	})
}

func (s *Store) loadTasks(r *Run) error {
	return s.each("SELECT play, name, action, place, flags, start, took FROM tasks WHERE run = ? ORDER BY n", r.ID, func(rows *sql.Rows) error {
		var t Task
		var flags int
		var start, took int64
		err := rows.Scan(&t.Play, &t.Name, &t.Action, &t.Place, &flags, &start, &took)
		t.Handler, t.NoLog = flags&flagHandler != 0, flags&flagNoLog != 0
		t.Start, t.Took = micros(start), micros(took)
		r.Tasks = append(r.Tasks, t)
		return err
	})
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

func (s *Store) loadResults(r *Run) error {
	var details []*Detail
	err := s.each("SELECT body FROM details WHERE run = ? ORDER BY n", r.ID, func(rows *sql.Rows) error {
		var body string
		if err := rows.Scan(&body); err != nil {
			return err
		}
		d := &Detail{}
		details = append(details, d)
		return json.Unmarshal([]byte(body), d)
	})
	if err != nil {
		return err
	}
	return s.each("SELECT task, host, status, start, took, coalesce(detail, -1) FROM results WHERE run = ? ORDER BY task, host", r.ID, func(rows *sql.Rows) error {
		var res Result
		var start, took int64
		status, detail := 0, 0
		if err := rows.Scan(&res.Task, &res.Host, &status, &start, &took, &detail); err != nil {
			return err
		}
		if status < 0 || status >= len(statuses) || res.Task >= len(r.Tasks) {
			return fmt.Errorf("a result has the unknown status %d or task %d", status, res.Task)
		}
		res.Status, res.Start, res.Took = statuses[status], micros(start), micros(took)
		if detail >= 0 && detail < len(details) {
			res.Detail = details[detail]
		}
		r.Results = append(r.Results, res)
		return nil
	})
}

func (s *Store) loadFindings(r *Run) error {
	list, err := s.findings("SELECT host, task, item, path, kind, first, place, reason, diff FROM findings WHERE run = ? ORDER BY n", r.ID)
	r.Findings = list
	return err
}

func (s *Store) findings(query string, args ...any) ([]Finding, error) {
	rows, err := s.db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Finding
	for rows.Next() {
		var f Finding
		var first int64
		if err := rows.Scan(&f.Host, &f.Task, &f.Item, &f.Path, &f.Kind, &first, &f.Place, &f.Reason, &f.Diff); err != nil {
			return nil, err
		}
		f.First = time.UnixMicro(first)
		list = append(list, f)
	}
	return list, rows.Err()
}

// Night is what the last drift runs of the same subject found on a host.
type Night struct {
	Run      int64
	Findings []Finding
}

// LastNights returns, by host, the findings of the last finished drift run of
// the same playbooks and tags that examined the host wholly.
func (s *Store) LastNights(o Options) (map[string]Night, error) {
	rows, err := s.db.Query(`SELECT examined.host, max(runs.id) FROM runs JOIN examined ON examined.run = runs.id
		WHERE runs.subject = ? AND runs.end IS NOT NULL GROUP BY examined.host`, subject(KindDrift, o))
	if err != nil {
		return nil, s.damaged(err)
	}
	nights, runs := map[string]Night{}, map[int64]bool{}
	defer rows.Close()
	for rows.Next() {
		var host string
		var run int64
		if err := rows.Scan(&host, &run); err != nil {
			return nil, s.damaged(err)
		}
		nights[host], runs[run] = Night{Run: run}, true
	}
	if err := rows.Err(); err != nil {
		return nil, s.damaged(err)
	}
	for run := range runs {
		list, err := s.findings("SELECT host, task, item, path, kind, first, place, reason, diff FROM findings WHERE run = ? ORDER BY n", run)
		if err != nil {
			return nil, s.damaged(err)
		}
		for _, f := range list {
			if n := nights[f.Host]; n.Run == run {
				n.Findings = append(n.Findings, f)
				nights[f.Host] = n
			}
		}
	}
	return nights, nil
}

// subject names what runs must share to be compared with each other.
func subject(kind string, o Options) string {
	return strings.Join([]string{kind, strings.Join(o.Playbooks, "\x1f"), strings.Join(o.Tags, ","), strings.Join(o.SkipTags, ",")}, "\x1e")
}
