package history

import (
	"database/sql"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"play/engine/event"
)

// writer puts rows into the database from a goroutine of its own: whatever has
// come in since it last looked goes into one transaction.
type writer struct {
	path  string
	about About

	mu    sync.Mutex
	queue []func(*batch) error
	wake  chan struct{} // holds one token while the queue is not empty
	last  chan struct{} // closed when nothing more comes
	done  chan struct{} // closed when all is written

	// Of the goroutine alone, until done is closed.
	store   *Store
	run     int64
	err     error // the first one; nothing is written after it
	details map[string]int
	spans   map[int]span
}

// span is when a task's first host began and its last one ended.
type span struct{ start, end time.Duration }

func newWriter(path string, about About) *writer {
	return &writer{path: path, about: about, wake: make(chan struct{}, 1), last: make(chan struct{}), done: make(chan struct{}),
		details: map[string]int{}, spans: map[int]span{}}
}

// do hands in a step; it never waits.
func (w *writer) do(step func(*batch) error) {
	w.mu.Lock()
	w.queue = append(w.queue, step)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// begin starts the goroutine and the run.
func (w *writer) begin(start time.Time) {
	w.do(func(b *batch) error { return b.begin(start) })
	go w.loop()
}

// gather is how long steps are let come together before they are written.
const gather = 50 * time.Millisecond

func (w *writer) loop() {
	defer close(w.done)
	w.store, w.err = Open(w.path)
	for ended := false; !ended; {
		select {
		case <-w.wake:
			select {
			case <-w.last:
				ended = true
			case <-time.After(gather):
			}
		case <-w.last:
			ended = true
		}
		w.flush()
	}
}

// flush writes what is in the queue.
func (w *writer) flush() {
	w.mu.Lock()
	steps := w.queue
	w.queue = nil
	w.mu.Unlock()
	if w.err != nil || len(steps) == 0 {
		return
	}
	w.err = w.store.damaged(w.write(steps))
}

func (w *writer) write(steps []func(*batch) error) error {
	tx, err := w.store.db.Begin()
	if err != nil {
		return err
	}
	b := &batch{w: w, tx: tx, ready: map[string]*sql.Stmt{}}
	for _, step := range steps {
		if err := step(b); err != nil {
			_ = tx.Rollback() // the first error says more
			return err
		}
	}
	if n := len(b.rows) / columns; n > 0 {
		if err := b.results(n); err != nil {
			_ = tx.Rollback() // the first error says more
			return err
		}
	}
	return tx.Commit()
}

// finish writes the rest and the end, and waits until that is done.
func (w *writer) finish(e End, hosts map[string]int, totals map[string]Counts) (int64, error) {
	w.do(func(b *batch) error { return b.end(e, hosts, totals) })
	close(w.last)
	<-w.done
	if w.store == nil {
		return 0, w.err
	}
	if w.err == nil {
		_, w.err = w.store.Prune(e.Keep, w.about.Now())
	}
	if err := w.store.Close(); w.err == nil {
		w.err = err
	}
	if w.err != nil {
		return 0, w.err
	}
	return w.run, nil
}

// batch is one transaction of the writer.
type batch struct {
	w     *writer
	tx    *sql.Tx
	ready map[string]*sql.Stmt
	rows  []any // results that wait to be written together
}

// exec runs a statement, prepared at its first use.
func (b *batch) exec(query string, args ...any) (sql.Result, error) {
	stmt := b.ready[query]
	if stmt == nil {
		var err error
		if stmt, err = b.tx.Prepare(query); err != nil {
			return nil, err
		}
		b.ready[query] = stmt
	}
	return stmt.Exec(args...)
}

func (b *batch) begin(start time.Time) error {
	a := b.w.about
	options, err := json.Marshal(a.Options)
	if err != nil {
		return err
	}
	res, err := b.exec("INSERT INTO runs (kind, subject, version, user, dir, options, start) VALUES (?,?,?,?,?,?,?)",
		a.Kind, subject(a.Kind, a.Options), a.Version, a.User, a.Dir, string(options), start.UnixMicro())
	if err != nil {
		return err
	}
	b.w.run, err = res.LastInsertId()
	return err
}

func (b *batch) host(n int, name string) error {
	_, err := b.exec("INSERT INTO hosts VALUES (?,?,?,0,0,0,0,0,0,0)", b.w.run, n, name)
	return err
}

func (b *batch) play(n int, playbook, name, place string) error {
	_, err := b.exec("INSERT INTO plays VALUES (?,?,?,?,?)", b.w.run, n, playbook, b.text(name), place)
	return err
}

// text is a text without what is secret.
func (b *batch) text(s string) string { return b.w.about.Mask(clean(s)) }

// Flags of tasks.
const (
	flagHandler = 1 << iota
	flagNoLog
)

func (b *batch) task(n, play int, t *event.Task, start time.Duration) error {
	flags := 0
	if t.Handler {
		flags |= flagHandler
	}
	if t.NoLog {
		flags |= flagNoLog
	}
	b.w.spans[n] = span{start, start}
	_, err := b.exec("INSERT INTO tasks VALUES (?,?,?,?,?,?,?,?,0)", b.w.run, n, play, b.text(t.Name), t.Action, t.Pos.String(), flags, start.Microseconds())
	return err
}

func (b *batch) result(p *pending) error {
	s := b.w.spans[p.task]
	s.start, s.end = min(s.start, p.start), max(s.end, p.start+p.took)
	b.w.spans[p.task] = s
	detail, err := b.detail(p.complete(b.w.about.Mask))
	if err != nil {
		return err
	}
	b.rows = append(b.rows, b.w.run, p.task, p.host, number(p.status), p.start.Microseconds(), p.took.Microseconds(), detail)
	if len(b.rows) < columns*together {
		return nil
	}
	return b.results(together)
}

// Results are written so many at a time, of so many columns each.
const (
	together = 64
	columns  = 7
)

// results writes n of the results that wait.
func (b *batch) results(n int) error {
	const one = "(?,?,?,?,?,?,?)"
	_, err := b.exec("INSERT OR REPLACE INTO results VALUES "+one+strings.Repeat(","+one, n-1), b.rows...)
	b.rows = b.rows[:0]
	return err
}

// number is a status in the database.
func number(s Status) int {
	for i, name := range statuses {
		if name == s {
			return i
		}
	}
	return 0
}

// detail keeps a detail once, however many hosts have the same; its number, or
// nil for none.
func (b *batch) detail(d *Detail) (any, error) {
	if d == nil {
		return nil, nil
	}
	body := d.json()
	if n, ok := b.w.details[body]; ok {
		return n, nil
	}
	n := len(b.w.details)
	b.w.details[body] = n
	_, err := b.exec("INSERT INTO details VALUES (?,?,?)", b.w.run, n, body)
	return n, err
}

func (b *batch) end(e End, hosts map[string]int, totals map[string]Counts) error {
	for name, n := range hosts {
		c := totals[name]
		if _, err := b.exec("UPDATE hosts SET ok = ?, changed = ?, unreachable = ?, failed = ?, skipped = ?, rescued = ?, ignored = ? WHERE run = ? AND n = ?",
			c.OK, c.Changed, c.Unreachable, c.Failed, c.Skipped, c.Rescued, c.Ignored, b.w.run, n); err != nil {
			return err
		}
	}
	for n, s := range b.w.spans {
		if _, err := b.exec("UPDATE tasks SET start = ?, took = ? WHERE run = ? AND n = ?", s.start.Microseconds(), (s.end - s.start).Microseconds(), b.w.run, n); err != nil {
			return err
		}
	}
	if err := b.findings(e); err != nil {
		return err
	}
	_, err := b.exec("UPDATE runs SET end = ?, code = ? WHERE id = ?", b.w.about.Now().UnixMicro(), e.Code, b.w.run)
	return err
}

func (b *batch) findings(e End) error {
	for n, f := range e.Findings {
		if _, err := b.exec("INSERT INTO findings VALUES (?,?,?,?,?,?,?,?,?,?,?)", b.w.run, n, f.Host, b.text(f.Task), b.text(f.Item), b.text(f.Path), f.Kind,
			f.First.UnixMicro(), f.Place, b.text(f.Reason), b.text(f.Diff)); err != nil {
			return err
		}
	}
	for _, host := range e.Examined {
		if _, err := b.exec("INSERT OR IGNORE INTO examined VALUES (?,?)", b.w.run, host); err != nil {
			return err
		}
	}
	return nil
}
