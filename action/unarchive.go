package action

import (
	"context"
	"path/filepath"
	"strings"

	"play/engine/task"
	"play/modules/value"
)

// unarchive sends an archive of the control machine along, unless it is on the
// host already or is to be downloaded there.
func (d *Deps) unarchive(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	remote, err := argBool(a, "remote_src", false)
	if err != nil {
		return nil, err
	}
	local, err := argBool(a, "copy", true)
	if err != nil {
		return nil, err
	}
	src := argString(a, "src")
	if remote || !local || src == "" || strings.Contains(src, "://") {
		return d.module(ctx, a)
	}
	return d.withFile(ctx, a, src)
}

// uri sends the file that src names along as the request's body, unless it is
// on the host already.
func (d *Deps) uri(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	remote, err := argBool(a, "remote_src", false)
	if err != nil {
		return nil, err
	}
	src := argString(a, "src")
	if remote || src == "" {
		return d.module(ctx, a)
	}
	return d.withFile(ctx, a, src)
}

// withFile runs the task's module with a local file's content; an encrypted
// one comes as its plaintext.
func (d *Deps) withFile(ctx context.Context, a *task.Attempt, src string) (*value.Dict, error) {
	path, err := localFile(a, "files", src, "src")
	if err != nil {
		return nil, err
	}
	c := &content{name: filepath.Base(path), from: path, file: path}
	decrypt, err := argBool(a, "decrypt", true)
	if err != nil {
		return nil, err
	}
	if decrypt && d.Vaulted != nil {
		text, vaulted, err := d.Vaulted(path)
		if err != nil {
			return nil, err
		}
		if vaulted {
			c = textContent(c.name, path, text)
		}
	}
	body, err := c.open()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if a.Settings.Async > 0 && !a.Check {
		return d.async(ctx, a, a.Task.Action, a.Args, body)
	}
	return d.call(ctx, a, a.Task.Action, a.Args, body)
}
