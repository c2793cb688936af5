package jinja

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// capped keeps what is written up to a size, and notes whether there was more.
type capped struct {
	buf   bytes.Buffer
	limit int
	over  bool
}

// Write takes everything and keeps what there is room for.
func (w *capped) Write(p []byte) (int, error) {
	room := w.limit - w.buf.Len()
	if len(p) > room {
		w.over = true
		w.buf.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return w.buf.Write(p)
}

// shell runs a command of the operator's on the control machine, in the
// playbook's folder, and returns what it prints. A cancelled evaluation ends
// the command with all its children.
func shell(c *Call, command, plugin string) (string, error) {
	ctx := c.Ctx.Go
	if ctx == nil {
		ctx = context.Background()
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	if c.Ctx.Files != nil {
		cmd.Dir = c.Ctx.Files.Dir()
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	stdout, stderr := &capped{limit: maxLookupFile}, &capped{limit: 1000}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, &exit):
		msg := fmt.Sprintf("%s(%s) returned %d", plugin, command, exit.ExitCode())
		if text := strings.TrimSpace(stderr.buf.String()); text != "" {
			msg += ": " + text
		}
		return "", errors.New(msg)
	case err != nil:
		return "", fmt.Errorf("cannot run %q: %w", command, err)
	case stdout.over:
		return "", fmt.Errorf("cannot use what %q prints: it is more than %d bytes", command, maxLookupFile)
	}
	return stdout.buf.String(), nil
}
