// Package job keeps the status files of detached runs: <dir>/<job id>, Ansible's
// JSON. The wrapper of package agent writes them, the module async_status reads
// them. Flowing in and out: status dicts. A reader never sees half a file, and a
// job whose wrapper is dead is never shown as running. It starts no process and
// passes no job id to a shell.
package job

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"play/modules/value"
)

// maxID is the longest job id.
const maxID = 128

// wrapperKey holds what the file says to this package alone: what runs since
// when, whether its result is secret, and the wrapper's identity while it runs.
const wrapperKey = "_play"

// Job says what a job is.
type Job struct {
	Module string
	NoLog  bool // the result is for the first reader only
}

// ErrNone says that there is no such job.
var ErrNone = errors.New("could not find job")

// Dir is where jobs are kept when the call names no folder.
func Dir(home string) string { return filepath.Join(home, ".ansible_async") }

// ValidID tells whether a job id is a plain file name of few harmless
// characters, not longer than 128.
func ValidID(id string) bool {
	if id == "" || len(id) > maxID || id[0] == '.' {
		return false
	}
	for _, c := range []byte(id) {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("._-", c) >= 0) {
			return false
		}
	}
	return true
}

// File is one job's status file.
type File struct {
	dir, id string
	about   *value.Dict // of the job that this process began; nil: of another's
}

// At names a job's file. The error is for an id that is not valid.
func At(dir, id string) (*File, error) {
	if !ValidID(id) {
		return nil, fmt.Errorf("cannot use %q as a job id: it may have letters, digits, '.', '_' and '-'", id)
	}
	return &File{dir: dir, id: id}, nil
}

// Path is the file's name.
func (f *File) Path() string { return filepath.Join(f.dir, f.id) }

// Start writes the status of a job that begins, with the calling process as
// its wrapper; it makes the folder when it is missing.
func (f *File) Start(what Job) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("cannot make the folder for async jobs: %w", err)
	}
	self := identify(os.Getpid())
	f.about = value.DictOf("module", what.Module, "no_log", what.NoLog, "begun", int(time.Now().Unix()))
	for k, v := range f.about.All() {
		self.Set(k.(string), v)
	}
	return f.write(value.DictOf("started", 1, "finished", 0, "ansible_job_id", f.id, wrapperKey, self))
}

// Finish writes the result of a job that has ended.
func (f *File) Finish(result *value.Dict) error {
	out := value.DictOf("started", 1, "finished", 1, "ansible_job_id", f.id)
	for k, v := range result.All() {
		if name, ok := k.(string); ok && !has(out, name) {
			out.Set(name, v)
		}
	}
	if f.about != nil {
		out.Set(wrapperKey, f.about)
	}
	return f.write(out)
}

func has(d *value.Dict, name string) bool {
	_, ok := d.Get(name)
	return ok
}

// tempPrefix begins the names of files that are being written.
const tempPrefix = ".job-"

// write puts a new file in the place of the old one.
func (f *File) write(status *value.Dict) error {
	text, err := value.AppendJSON(nil, status, value.WireJSON())
	if err != nil {
		return err
	}
	t, err := os.CreateTemp(f.dir, tempPrefix) // 0600, and no valid job id
	if err != nil {
		return fmt.Errorf("cannot write the status of the async job: %w", err)
	}
	_, err = t.Write(text)
	if err == nil {
		err = t.Sync()
	}
	if closed := t.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(t.Name(), f.Path())
	}
	if err != nil {
		os.Remove(t.Name())
		return fmt.Errorf("cannot write the status of the async job: %w", err)
	}
	return nil
}

// Read returns the job's status. A running job whose wrapper is dead reads as a
// failed one. The result of a no_log job is given once: the file is censored
// then. The error is ErrNone when there is no such job.
func (f *File) Read() (*value.Dict, error) {
	status, about, err := f.read()
	if err != nil {
		return nil, err
	}
	if secret(about) && finished(status) {
		if err := f.censor(status, about); err != nil {
			return nil, err
		}
	}
	return status, nil
}

// Peek is Read for a display: it changes nothing, and a no_log job's result is
// censored.
func (f *File) Peek() (*value.Dict, error) {
	status, about, err := f.read()
	if err == nil && secret(about) && finished(status) {
		status = censored(status)
	}
	return status, err
}

// read returns the status and what this package keeps beside it.
func (f *File) read() (status, about *value.Dict, err error) {
	data, err := os.ReadFile(f.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrNone
	}
	if err != nil {
		return nil, nil, err
	}
	v, err := value.DecodeJSON(data)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the status of the async job: %w", err)
	}
	status, ok := v.(*value.Dict)
	if !ok {
		return nil, nil, fmt.Errorf("cannot read the status of the async job: it is a %s", value.TypeName(v))
	}
	who, known := status.Get(wrapperKey)
	status.Delete(wrapperKey)
	about, _ = who.(*value.Dict)
	if known && !finished(status) && !alive(who) {
		return f.lost(status, about, data)
	}
	return status, about, nil
}

// lost is the status of a job whose wrapper is dead, unless it has written its
// result while we looked.
func (f *File) lost(status, about *value.Dict, seen []byte) (_, _ *value.Dict, err error) {
	if again, err := os.ReadFile(f.Path()); err == nil && string(again) != string(seen) {
		return f.read()
	}
	status.Set("finished", 1)
	status.Set("failed", true)
	status.Set("msg", lostMsg)
	return status, about, nil
}

const lostMsg = "the async job was lost: its process was killed or the host was restarted"

func finished(status *value.Dict) bool {
	v, _ := status.Get("finished")
	return value.Truth(v)
}

func secret(about *value.Dict) bool {
	if about == nil {
		return false
	}
	v, _ := about.Get("no_log")
	return value.Truth(v)
}

// censored is what everybody may see of a no_log job's end.
func censored(status *value.Dict) *value.Dict {
	out := value.NewDict()
	for _, name := range []string{"started", "finished", "ansible_job_id", "failed", "changed", "killed", "async_timeout"} {
		if v, ok := status.Get(name); ok {
			out.Set(name, v)
		}
	}
	out.Set("censored", "the output has been hidden due to the fact that 'no_log: true' was specified for this result")
	return out
}

// censor takes a no_log job's result out of its file.
func (f *File) censor(status, about *value.Dict) error {
	out := censored(status)
	out.Set(wrapperKey, about)
	return f.write(out)
}

// Remove deletes the job's file. The error is ErrNone when there is none.
func (f *File) Remove() error {
	err := os.Remove(f.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNone
	}
	return err
}
