package action

import (
	"context"
	"fmt"
	"strings"

	"play/connection"
	"play/engine/task"
	"play/modules/value"
)

// raw gives a line to the host's shell, without an agent: for hosts on which
// nothing else can run.
func (d *Deps) raw(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	if a.Check {
		return value.DictOf("skipped", true, "changed", false), nil
	}
	line := argString(a, "_raw_params")
	if exe := argString(a, "executable"); exe != "" {
		line = exe + " -c " + connection.Quote(line)
	}
	t, err := d.target(a)
	if err != nil {
		return nil, err
	}
	if a.NoLog {
		ctx = connection.Hidden(ctx)
	}
	out, err := d.Links.Exec(ctx, t, withEnv(a.Env, line), nil)
	if err != nil {
		return nil, err
	}
	result := value.DictOf("rc", out.Status, "stdout", string(out.Stdout), "stderr", out.Stderr, "changed", true)
	if out.Status != 0 {
		result.Set("msg", "non-zero return code")
		result.Set("failed", true)
	}
	return result, nil
}

// withEnv puts the task's environment in front of a shell line.
func withEnv(env []string, line string) string {
	var b strings.Builder
	for _, e := range env {
		name, v, _ := strings.Cut(e, "=")
		fmt.Fprintf(&b, "%s=%s ", name, connection.Quote(v))
	}
	return b.String() + line
}
