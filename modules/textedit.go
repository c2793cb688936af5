package modules

import (
	"io"
	"os"
	"strings"
	"time"

	"play/modules/atomicfile"
	"play/modules/perm"
	"play/modules/process"
	"play/modules/shellquote"
	"play/modules/value"
)

// textEdit is what lineinfile, blockinfile and replace share: reading a file,
// and writing its new content with backup, validation and attributes.
type textEdit struct {
	*Call
	*fileArgs
	path     string
	created  bool // the file does not exist yet
	validate *string
	backup   bool
	old, new string
}

func (e *textEdit) read() error {
	if e.created {
		return nil
	}
	data, err := os.ReadFile(e.path)
	if err != nil {
		return Failf("cannot read %q: %s", e.path, osText(err, e.path))
	}
	e.old = string(data)
	return nil
}

// finish writes what differs and reports as lineinfile does; further keys stand
// behind "changed".
func (e *textEdit) finish(msg string, further *value.Dict) (*Result, error) {
	changed := msg != ""
	backup := ""
	if changed && !e.Check {
		var err error
		if backup, err = e.write(); err != nil {
			return nil, err
		}
	}
	content := e.diff()
	out := NewResult(changed)
	out.Update(further)
	if e.Check && e.created {
		return out.With("msg", msg).With("backup", backup).With("diff", content), nil
	}
	msg, changed, attributes, err := e.attributes(msg, changed)
	if err != nil {
		return nil, err
	}
	return out.Changed(changed).With("msg", msg).With("backup", backup).
		With("diff", value.NewList(content, attributes)), nil
}

// diff is the content before and after, empty unless diffs are asked for.
func (e *textEdit) diff() *value.Dict {
	d := value.NewDict()
	if e.Diff {
		d.Set("before", e.old)
		d.Set("after", e.new)
	} else {
		d.Set("before", "")
		d.Set("after", "")
	}
	d.Set("before_header", e.path+" (content)")
	d.Set("after_header", e.path+" (content)")
	return d
}

// attributes applies the shared arguments and adds to the message.
func (e *textEdit) attributes(msg string, changed bool) (string, bool, *value.Dict, error) {
	diff := perm.NewDiff()
	c, err := e.setAttributes(e.Call, e.path, diff)
	if err != nil {
		return "", false, nil, err
	}
	if e.created && e.narrowed(diff) {
		c = true
	}
	shown := value.NewDict()
	if diff.After.Len() > 0 {
		shown.Set("before", diff.Before)
		shown.Set("after", diff.After)
	}
	shown.Set("before_header", e.path+" (file attributes)")
	shown.Set("after_header", e.path+" (file attributes)")
	if c {
		if changed {
			msg += " and "
		}
		msg += "ownership, perms or SE linux context changed"
	}
	return msg, changed || c, shown, nil
}

// narrowed notes the mode of a new file that was made with it, as a change from
// the usual mode.
func (e *textEdit) narrowed(diff *perm.Diff) bool {
	usual := 0o666 &^ perm.Umask()
	mode := e.newFileMode()
	if mode == nil || *mode == usual || e.Check {
		return false
	}
	diff.Before.Set("mode", perm.Octal(usual))
	diff.After.Set("mode", perm.Octal(*mode))
	return true
}

// write replaces the file and returns the name of the backup, if any.
func (e *textEdit) write() (backup string, err error) {
	if e.backup && !e.created {
		if backup, err = atomicfile.Backup(e.path, time.Now()); err != nil {
			return "", Failf("%v", err)
		}
	}
	f, err := atomicfile.Create(realPath(e.path), atomicfile.Options{Unsafe: e.Unsafe, Scratch: e.TmpDir, Mode: e.newFileMode()})
	if err != nil {
		return "", Failf("%v", err)
	}
	if _, err := io.Copy(f, strings.NewReader(e.new)); err != nil {
		f.Abort()
		return "", Failf("cannot write %q: %s", e.path, osText(err, e.path))
	}
	out, err := validateFile(e.Call, e.validate, f.Name())
	if err == nil && out != nil && out.RC != 0 {
		err = Failf("failed to validate: rc:%d error:%s", out.RC, out.Stderr)
	}
	if err != nil {
		f.Abort()
		return "", err
	}
	if err := f.Commit(); err != nil {
		return "", Failf("%v", err)
	}
	return backup, nil
}

// validateFile runs a validate command on a file; the outcome is nil when there
// is no command.
func validateFile(c *Call, command *string, path string) (*process.Outcome, error) {
	if command == nil || *command == "" {
		return nil, nil
	}
	if !strings.Contains(*command, "%s") {
		return nil, Failf("validate must contain %%s: %s", *command)
	}
	words, err := shellquote.Split(*command)
	if err != nil {
		return nil, Failf("cannot read the validate command '%s': %v", *command, err)
	}
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "%s", path)
	}
	out, err := process.Run(c, process.Command{Argv: words, Dir: c.Dir, Env: c.Env})
	if err != nil {
		return nil, Failf("cannot run the validate command '%s': %v", *command, err)
	}
	return out, nil
}
