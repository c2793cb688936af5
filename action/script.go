package action

import (
	"context"
	"path/filepath"

	"play/engine/task"
	"play/modules/shellquote"
	"play/modules/value"
)

// script runs a local script on the host.
func (d *Deps) script(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	line := argString(a, "_raw_params", "cmd")
	words, err := shellquote.Split(line)
	if err != nil || len(words) == 0 {
		return nil, task.Failf("cannot read the script's command line %q", line)
	}
	path, err := localFile(a, "files", words[0], "_raw_params", "cmd")
	if err != nil {
		return nil, err
	}
	c, err := fileContent(filepath.Base(path), path)
	if err != nil {
		return nil, err
	}
	body, err := c.open()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	args := a.Args.Clone()
	args.Delete("cmd")
	// The host's shell reads the rest of the line: it may redirect.
	args.Set("_raw_params", line)
	return d.call(ctx, a, "script", args, body)
}
