package modules

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"encoding/hex"
	"io"
	"os"
	"time"

	"play/modules/value"
)

// spoolLimit is the size in bytes up to which content stays in memory.
const spoolLimit = 1 << 20

// maxDiff is the size in bytes up to which contents are compared for people.
const maxDiff = 104448

// content is what copy is to write, with its checksums.
type content struct {
	data      []byte // when small
	file      *os.File
	remove    bool // the file is ours
	sha1, md5 string
	size      int64
	modified  time.Time // zero: none to keep
}

// spool reads content that comes from elsewhere.
func spool(r io.Reader, scratch string) (*content, error) {
	c := &content{}
	head := make([]byte, spoolLimit+1)
	n, err := io.ReadFull(r, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		c.data = head[:n]
		return c, c.sum(bytes.NewReader(c.data))
	}
	if err != nil {
		return nil, Failf("cannot receive the content: %v", err)
	}
	if c.file, err = os.CreateTemp(scratch, "copy"); err != nil {
		return nil, Failf("cannot keep the content: %v", err)
	}
	c.remove = true
	if _, err := io.Copy(c.file, io.MultiReader(bytes.NewReader(head), r)); err != nil {
		c.close()
		return nil, Failf("cannot keep the content: %v", err)
	}
	if err := c.sumFile(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// openContent takes a file of the target as content.
func openContent(path string) (*content, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Failf("cannot read %q: %s", path, osText(err, path))
	}
	c := &content{file: f}
	if info, err := f.Stat(); err == nil {
		c.modified = info.ModTime()
	}
	if err := c.sumFile(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *content) sumFile() error {
	if _, err := c.file.Seek(0, io.SeekStart); err != nil {
		return Failf("cannot read %q: %v", c.file.Name(), err)
	}
	return c.sum(c.file)
}

func (c *content) sum(r io.Reader) error {
	s, m := sha1.New(), md5.New()
	n, err := io.Copy(io.MultiWriter(s, m), r)
	if err != nil {
		return Failf("cannot read the content: %v", err)
	}
	c.size = n
	c.sha1, c.md5 = hex.EncodeToString(s.Sum(nil)), hex.EncodeToString(m.Sum(nil))
	return nil
}

func (c *content) writeTo(w io.Writer) error {
	if c.file == nil {
		_, err := w.Write(c.data)
		return err
	}
	if _, err := c.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, c.file)
	return err
}

func (c *content) close() {
	if c.file == nil {
		return
	}
	c.file.Close()
	if c.remove {
		os.Remove(c.file.Name())
	}
}

// contentDiff shows a file before and after, unless one is too large or binary.
func contentDiff(dest string, after *content, header string) *value.Dict {
	d := value.NewDict()
	info, err := os.Stat(dest)
	switch {
	case err != nil:
		d.Set("before", "")
	case info.Mode().IsRegular() && info.Size() > maxDiff:
		d.Set("dst_larger", maxDiff)
	case info.Mode().IsRegular():
		old, err := os.ReadFile(dest)
		if err == nil && bytes.IndexByte(old, 0) >= 0 {
			d.Set("dst_binary", 1)
		} else if err == nil {
			d.Set("before_header", dest)
			d.Set("before", string(old))
		}
	}
	var text bytes.Buffer
	switch {
	case after.size > maxDiff:
		d.Set("src_larger", maxDiff)
	case after.writeTo(&text) != nil:
	case bytes.IndexByte(text.Bytes(), 0) >= 0:
		d.Set("src_binary", 1)
	default:
		d.Set("after_header", header)
		d.Set("after", text.String())
	}
	return d
}
