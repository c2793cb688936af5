//go:build !plain

package modules

import (
	"bytes"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"play/modules/atomicfile"
	"play/modules/value"
)

func readFileIn(c *Call, path string) ([]byte, error) { return os.ReadFile(c.abs(path)) }

func bigFromBytes(b []byte) any { return value.Int(new(big.Int).SetBytes(b)) }

// cryptoFile is a file that a module of keys or certificates keeps.
type cryptoFile struct {
	*Call
	path   string // as given
	files  *fileArgs
	backup bool
	saved  string // the backup's name
}

// checkFolder refuses a path in a folder that does not exist.
func (f *cryptoFile) checkFolder() error {
	folder := filepath.Dir(f.path)
	if isDir(f.abs(folder)) {
		return nil
	}
	return &Failure{Msg: "The directory " + folder + " does not exist or the file is not a directory", With: value.DictOf("name", folder)}
}

// read is what the file holds; nil when there is none.
func (f *cryptoFile) read() ([]byte, error) {
	data, err := readFileIn(f.Call, f.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Failf("Error while loading %s - %s", f.path, osTextString(err, f.path))
	}
	return data, nil
}

// write replaces the file; mode is that of a file whose mode was not asked for.
func (f *cryptoFile) write(data []byte, mode uint32) error {
	if err := f.keepOld(); err != nil {
		return err
	}
	limit := f.files.newFileMode()
	if limit == nil && mode != 0 {
		limit = &mode
	}
	full := realPath(f.abs(f.path))
	err := atomicfile.Write(full, bytes.NewReader(data), atomicfile.Options{Unsafe: f.files.Unsafe, Scratch: f.TmpDir, Mode: limit})
	if err != nil {
		return Failf("Error while writing result: %v", err)
	}
	_, err = f.files.setAttributes(f.Call, full, nil)
	return err
}

func (f *cryptoFile) keepOld() error {
	if !f.backup || !exists(f.abs(f.path)) {
		return nil
	}
	var err error
	f.saved, err = atomicfile.Backup(f.abs(f.path), time.Now())
	if err != nil {
		return Failf("%v", err)
	}
	return nil
}

// attributes applies owner, mode and so on; a file that check mode did not make
// is a change.
func (f *cryptoFile) attributes() (bool, error) {
	if f.Check && !exists(f.abs(f.path)) {
		return true, nil
	}
	return f.files.setAttributes(f.Call, f.abs(f.path), nil)
}

// remove removes the file and tells whether it was there.
func (f *cryptoFile) remove() (bool, error) {
	if f.Check {
		return exists(f.abs(f.path)), nil
	}
	if err := f.keepOld(); err != nil {
		return false, err
	}
	err := os.Remove(f.abs(f.path))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, Failf("%s", osTextString(err, f.path))
	}
	return true, nil
}

// finish completes a result.
func (f *cryptoFile) finish(out *Result) *Result {
	out.Set("filename", f.path)
	if f.saved != "" {
		out.Set("backup_file", f.saved)
	}
	return out
}
