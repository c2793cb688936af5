package job

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"play/modules/value"
)

// Entry is one job of a listing.
type Entry struct {
	ID     string
	Module string // "": not known
	State  string // "running", "finished", "failed", "lost", "killed", "timeout"
	Begun  int    // Unix time; 0: not known
	Ended  int    // Unix time; 0: it runs
}

// List returns the jobs of a folder, sorted by id. What is no status file is
// passed over; a folder that is not there has none.
func List(dir string) ([]Entry, error) {
	files, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, file := range files {
		if one, ok := entry(dir, file); ok {
			all = append(all, one)
		}
	}
	return all, nil
}

func entry(dir string, file os.DirEntry) (Entry, bool) {
	f, err := At(dir, file.Name())
	if err != nil || !file.Type().IsRegular() {
		return Entry{}, false
	}
	status, about, err := f.read()
	info, infoErr := file.Info()
	if err != nil || infoErr != nil || !has(status, "ansible_job_id") {
		return Entry{}, false
	}
	e := Entry{ID: f.id, State: state(status)}
	if about != nil {
		e.Module, _ = field(about, "module").(string)
		e.Begun, _ = field(about, "begun").(int)
	}
	if e.State != "running" {
		e.Ended = int(info.ModTime().Unix())
	}
	return e, true
}

func field(d *value.Dict, name string) any {
	if d == nil {
		return nil
	}
	v, _ := d.Get(name)
	return v
}

// state names how a job fares.
func state(status *value.Dict) string {
	is := func(name string) bool { return value.Truth(field(status, name)) }
	switch {
	case !finished(status):
		return "running"
	case is("killed"):
		return "killed"
	case is("async_timeout"):
		return "timeout"
	case field(status, "msg") == lostMsg:
		return "lost"
	case is("failed"):
		return "failed"
	}
	return "finished"
}

// keep is how long the status file of a job that has ended stays.
const keep = 7 * 24 * time.Hour

// Sweep removes what is older than a week: the status files of jobs that have
// ended, and files that a wrapper which was killed left half written. Running
// jobs and files of other kinds stay.
func Sweep(dir string, now time.Time) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return // the next job tries again
	}
	for _, file := range files {
		info, err := file.Info()
		if err != nil || !file.Type().IsRegular() || now.Sub(info.ModTime()) < keep {
			continue
		}
		e, isJob := entry(dir, file)
		if strings.HasPrefix(file.Name(), tempPrefix) || isJob && e.State != "running" {
			_ = os.Remove(filepath.Join(dir, file.Name())) // another wrapper may have been faster
		}
	}
}
