package action

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"io"
	"os"

	"play/engine/task"
	"play/modules/value"
)

// eager is the size in bytes up to which content is sent along with the first
// question; a larger file is sent only when the host's differs.
const eager = 128 << 10

// content is what is put into a file on the host.
type content struct {
	name string // the file's own name, for a dest that is a folder
	from string // what it is called in a diff
	text []byte // the whole content, or
	file string // a local file
	size int64
	sha1 string
}

// textContent is content made here.
func textContent(name, from string, text []byte) *content {
	sum := sha1.Sum(text)
	return &content{name: name, from: from, text: text, size: int64(len(text)), sha1: hex.EncodeToString(sum[:])}
}

// fileContent is a local file, read once now for its checksum.
func fileContent(name, path string) (*content, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, task.Failf("cannot read %q: %v", path, err)
	}
	defer f.Close()
	sum := sha1.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return nil, task.Failf("cannot read %q: %v", path, err)
	}
	return &content{name: name, from: path, file: path, size: n, sha1: hex.EncodeToString(sum.Sum(nil))}, nil
}

// open returns the content from its start.
func (c *content) open() (io.ReadCloser, error) {
	if c.file == "" {
		return io.NopCloser(bytes.NewReader(c.text)), nil
	}
	f, err := os.Open(c.file)
	if err != nil {
		return nil, task.Failf("cannot read %q: %v", c.file, err)
	}
	return f, nil
}

// deliver makes a file on the host have the content: one round trip, or two
// when the content is large and differs. The modules' half is modules/copy.go.
func (d *Deps) deliver(ctx context.Context, a *task.Attempt, args *value.Dict, c *content) (*value.Dict, error) {
	args = args.Clone()
	args.Set("_original_basename", c.name)
	args.Set("src", c.from)
	args.Set("checksum", c.sha1)
	extra := value.DictOf("_ansible_diff_header", c.from)
	detached := a.Settings.Async > 0 && !a.Check
	if c.size > eager && !detached {
		ask := value.DictOf("_ansible_content_follows", true)
		result, err := d.callWith(ctx, a, "copy", args, ask, nil)
		if err != nil {
			return nil, err
		}
		if v, _ := result.Get("needs_content"); !value.Truth(v) {
			return result, nil
		}
	}
	body, err := c.open()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if detached {
		return d.async(ctx, a, "copy", args, body)
	}
	return d.callWith(ctx, a, "copy", args, extra, body)
}
