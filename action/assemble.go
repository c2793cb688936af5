package action

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"play/engine/task"
	"play/modules/pyre"
	"play/modules/value"
)

// assembleOnly are the options of assemble that the copy on the host does not
// get.
var assembleOnly = []string{"src", "remote_src", "regexp", "delimiter", "ignore_hidden", "decrypt"}

// assemble joins fragments: those of the control machine here, those of the
// host there.
func (d *Deps) assemble(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	remote, err := argBool(a, "remote_src", true)
	if err != nil {
		return nil, err
	}
	if remote {
		return d.module(ctx, a)
	}
	src := argString(a, "src")
	if src == "" || argString(a, "dest") == "" {
		return nil, task.Failf("src and dest are required")
	}
	dir, err := localFile(a, "files", src, "src")
	if err != nil {
		return nil, err
	}
	text, err := d.fragments(a, dir)
	if err != nil {
		return nil, err
	}
	args := a.Args.Clone()
	for _, k := range assembleOnly {
		args.Delete(k)
	}
	return d.deliver(ctx, a, args, textContent("src", dir, text))
}

// fragments joins the files of a folder in the order of their names; an
// encrypted one is joined as its plaintext.
func (d *Deps) fragments(a *task.Attempt, dir string) ([]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, task.Failf("Source (%s) is not a directory", argString(a, "src"))
	}
	hidden, err := argBool(a, "ignore_hidden", false)
	if err != nil {
		return nil, err
	}
	decrypt, err := argBool(a, "decrypt", true)
	if err != nil {
		return nil, err
	}
	var wanted *pyre.Regexp
	if pattern := argString(a, "regexp"); pattern != "" {
		if wanted, err = pyre.Compile(pattern, 0); err != nil {
			return nil, task.Failf("Invalid Regexp (%v) in \"%s\"", err, pattern)
		}
	}
	var out bytes.Buffer
	delimiter := argString(a, "delimiter")
	for _, e := range entries {
		if e.IsDir() || hidden && e.Name()[0] == '.' {
			continue
		}
		if wanted != nil {
			if m, err := wanted.Search(e.Name()); err != nil || m == nil {
				continue
			}
		}
		data, err := d.fragment(filepath.Join(dir, e.Name()), decrypt)
		if err != nil {
			return nil, task.Failf("cannot read the fragment %q: %v", e.Name(), err)
		}
		if out.Len() > 0 {
			separate(&out, delimiter)
		}
		out.Write(data)
	}
	return out.Bytes(), nil
}

func (d *Deps) fragment(path string, decrypt bool) ([]byte, error) {
	if decrypt && d.Vaulted != nil {
		if text, vaulted, err := d.Vaulted(path); vaulted || err != nil {
			return text, err
		}
	}
	return os.ReadFile(path)
}

// separate ends a fragment with a newline and adds the delimiter as a line.
func separate(out *bytes.Buffer, delimiter string) {
	if b := out.Bytes(); b[len(b)-1] != '\n' {
		out.WriteByte('\n')
	}
	if delimiter == "" {
		return
	}
	out.WriteString(delimiter)
	if delimiter[len(delimiter)-1] != '\n' {
		out.WriteByte('\n')
	}
}
