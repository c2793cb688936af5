package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

var hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Fetch returns the file with a content hash (SHA-256 in hex) in dir. A body is
// stored under it first, and must have that hash. found is false when there is
// neither a body nor the file.
func Fetch(dir, hash string, body io.Reader) (path string, found bool, err error) {
	if dir == "" || !hashForm.MatchString(hash) {
		return "", false, errors.New("cannot keep a module: there is no private folder, or its hash is none")
	}
	path = filepath.Join(dir, "kept-"+hash)
	if body == nil {
		_, err := os.Stat(path)
		return path, err == nil, nil
	}
	if err := store(path, hash, body); err != nil {
		return "", false, fmt.Errorf("cannot keep a module: %w", err)
	}
	return path, true, nil
}

// store writes the body to a file of its own and moves it into place.
func store(path, hash string, body io.Reader) error {
	f, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is nothing to remove
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), body)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != hash {
		err = errors.New("its content does not have the hash that was named")
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
