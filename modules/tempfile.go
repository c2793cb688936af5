package modules

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
)

// tempfileArgs are the arguments of tempfile.
type tempfileArgs struct {
	State  string `arg:"state,default=file,choices=file|directory" doc:"what to create"`
	Path   string `arg:"path,type=path" doc:"the folder to create it in"`
	Prefix string `arg:"prefix,default=ansible." doc:"start of the name"`
	Suffix string `arg:"suffix,default=" doc:"end of the name"`
}

func tempfile() Module {
	return Define("tempfile", "Create a temporary file or directory", runTempfile).NoCheck()
}

func runTempfile(c *Call, args *tempfileArgs) (*Result, error) {
	dir := c.abs(args.Path)
	if dir == "" {
		dir = systemTemp(c)
	}
	for range 100 {
		path := filepath.Join(dir, args.Prefix+randomName()+args.Suffix)
		err := createTemp(path, args.State)
		if err == nil {
			return NewResult(true).With("path", path), nil
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, Failf("%s", osTextString(err, path))
		}
	}
	return nil, Failf("cannot find a free name in %q", dir)
}

func createTemp(path, state string) error {
	if state == "directory" {
		return os.Mkdir(path, 0o700)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// systemTemp is the user's folder for temporary files.
func systemTemp(c *Call) string {
	for _, name := range []string{"TMPDIR", "TEMP", "TMP"} {
		if dir, ok := c.Getenv(name); ok && isDir(dir) {
			return dir
		}
	}
	return "/tmp"
}

// randomName has eight characters of Python's alphabet for temporary names.
func randomName() string {
	const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789_"
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = alphabet[int(b[i])%len(alphabet)]
	}
	return string(b)
}
