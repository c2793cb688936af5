package output

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"play/engine/event"
)

// tree keeps in a folder a file for each host with its last result as JSON.
type tree struct {
	quiet
	c Callbacks
}

// Result writes the host's file; items, retries and skipped tasks are left out.
func (t *tree) Result(r *event.Result) {
	if r.IsItem || r.Retrying || r.Status == event.Skipped {
		return
	}
	res := visibleKeys(r)
	if !t.KeepWarnings {
		res.Delete("warnings")
		res.Delete("deprecations")
	}
	t.c.failedToWrite(t.write(r.Host, t.dump(r, res)))
}

// write replaces a host's file. A host's name is only ever a file's name, never
// a way to another folder.
func (t *tree) write(host, text string) error {
	name := strings.ReplaceAll(host, string(filepath.Separator), "_")
	if name == "." || name == ".." || name == "" {
		return fmt.Errorf("cannot write the result of host %q: its name cannot be that of a file", host)
	}
	if err := os.MkdirAll(t.c.TreeDir, 0o700); err != nil {
		return fmt.Errorf("cannot write the results of hosts: %w", err)
	}
	if err := os.WriteFile(filepath.Join(t.c.TreeDir, name), []byte(text), 0o600); err != nil {
		return fmt.Errorf("cannot write the result of host %q: %w", host, err)
	}
	return nil
}
