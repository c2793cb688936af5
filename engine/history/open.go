package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the database/sql driver "sqlite"
)

// form is the version of the tables, kept in SQLite's user_version.
const form = 1

const tables = `
CREATE TABLE runs (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, subject TEXT NOT NULL, version TEXT NOT NULL,
  user TEXT NOT NULL, dir TEXT NOT NULL, options TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER, code INTEGER);
CREATE INDEX runs_subject ON runs (subject, id);
CREATE TABLE hosts (run INTEGER, n INTEGER, name TEXT NOT NULL, ok INTEGER, changed INTEGER, unreachable INTEGER, failed INTEGER,
  skipped INTEGER, rescued INTEGER, ignored INTEGER, PRIMARY KEY (run, n)) WITHOUT ROWID;
CREATE TABLE plays (run INTEGER, n INTEGER, playbook TEXT NOT NULL, name TEXT NOT NULL, place TEXT NOT NULL, PRIMARY KEY (run, n)) WITHOUT ROWID;
CREATE TABLE tasks (run INTEGER, n INTEGER, play INTEGER NOT NULL, name TEXT NOT NULL, action TEXT NOT NULL, place TEXT NOT NULL,
  flags INTEGER NOT NULL, start INTEGER NOT NULL, took INTEGER NOT NULL, PRIMARY KEY (run, n)) WITHOUT ROWID;
CREATE TABLE results (run INTEGER, task INTEGER, host INTEGER, status INTEGER NOT NULL, start INTEGER NOT NULL, took INTEGER NOT NULL,
  detail INTEGER, PRIMARY KEY (run, task, host)) WITHOUT ROWID;
CREATE TABLE details (run INTEGER, n INTEGER, body TEXT NOT NULL, PRIMARY KEY (run, n)) WITHOUT ROWID;
CREATE TABLE findings (run INTEGER, n INTEGER, host TEXT NOT NULL, task TEXT NOT NULL, item TEXT NOT NULL, path TEXT NOT NULL,
  kind TEXT NOT NULL, first INTEGER NOT NULL, place TEXT NOT NULL, reason TEXT NOT NULL, diff TEXT NOT NULL, PRIMARY KEY (run, n)) WITHOUT ROWID;
CREATE TABLE examined (run INTEGER, host TEXT, PRIMARY KEY (run, host)) WITHOUT ROWID;
PRAGMA user_version = 1;
`

// ErrNone is returned by OpenExisting when nothing was ever kept.
var ErrNone = errors.New("there is no history yet")

// Store is an open history. It is safe for concurrent use, also by several
// processes.
type Store struct {
	db   *sql.DB
	path string
}

// Open opens the history in a file, which it makes, with its folder, when it is
// not there: for the owner alone.
func Open(path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("cannot open the history: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the history: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("cannot open the history: %w", err)
	}
	return open(path)
}

// OpenExisting opens the history in a file and is ErrNone when there is none.
func OpenExisting(path string) (*Store, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, ErrNone
	}
	return open(path)
}

func open(path string) (*Store, error) {
	name := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "_pragma=busy_timeout(10000)" +
		"&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate"}).String()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("cannot open the history %q: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	s := &Store{db: db, path: path}
	if err := s.prepare(); err != nil {
		_ = db.Close() // the first error says more
		return nil, err
	}
	return s, nil
}

// prepare makes the tables of a new file and refuses those of a newer play.
func (s *Store) prepare() error {
	version := 0
	if err := s.db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return s.damaged(err)
	}
	if version == 0 {
		return s.create()
	}
	if version != form {
		return fmt.Errorf("cannot use the history %q: it has form %d, which a newer play wrote, and this one knows form %d; use that play, or another XDG_DATA_HOME", s.path, version, form)
	}
	return nil
}

// create makes the tables unless another process was faster.
func (s *Store) create() error {
	tx, err := s.db.BeginTx(context.Background(), nil)
	if err != nil {
		return s.damaged(err)
	}
	defer func() { _ = tx.Rollback() }() // without effect after the commit
	version := 0
	if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != 0 {
		return s.damaged(err)
	}
	if _, err := tx.Exec(tables); err != nil {
		return s.damaged(err)
	}
	return s.damaged(tx.Commit())
}

// damaged explains an error of the database; nil stays nil.
func (s *Store) damaged(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot use the history %q: %w; if it is damaged, move the file away", s.path, err)
}

// Path is the file that holds the history.
func (s *Store) Path() string { return s.path }

// Close closes the file.
func (s *Store) Close() error { return s.damaged(s.db.Close()) }
