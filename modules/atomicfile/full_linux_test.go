package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReallyFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "f"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Dup3(int(full.Fd()), int(f.Fd()), 0); err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(f, strings.NewReader("x"))
	f.Abort()
	if !errors.Is(err, unix.ENOSPC) || names(t, dir) != "" {
		t.Errorf("got %v, left %q", err, names(t, dir))
	}
}
