package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestWriteKeepsTheModeOfTheOldFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o4710); err != nil {
		t.Fatal(err)
	}
	if err := unix.Chmod(path, 0o2710); err != nil {
		t.Fatal(err)
	}
	xattr := unix.Setxattr(path, "user.note", []byte("kept"), 0)
	if err := Write(path, strings.NewReader("new"), Options{}); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || st.Mode&0o7777 != 0o2710 {
		t.Errorf("mode %o, %v", st.Mode, err)
	}
	if got := read(t, path); got != "new" {
		t.Errorf("content %q", got)
	}
	buf := make([]byte, 16)
	if n, err := unix.Getxattr(path, "user.note", buf); xattr == nil && (err != nil || string(buf[:n]) != "kept") {
		t.Errorf("extended attribute: %q, %v", buf[:max(n, 0)], err)
	}
}

func TestNewFileIsNeverMoreOpenThanAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := uint32(0o600)
	f, err := Create(filepath.Join(dir, "f"), Options{Mode: &secret})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("secret"); err != nil {
		t.Fatal(err)
	}
	if m := mode(t, f.Name()).Perm(); m != 0o600 {
		t.Errorf("the temporary file has mode %o", m)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if m := mode(t, filepath.Join(dir, "f")).Perm(); m != 0o600 || names(t, dir) != "f" {
		t.Errorf("mode %o, folder %s", m, names(t, dir))
	}
}

// fullDisk fails after some bytes as a full disk does.
type fullDisk struct{ left int }

func (d *fullDisk) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, unix.ENOSPC
	}
	n := min(d.left, len(p))
	d.left -= n
	return n, nil
}

func TestFailureLeavesTheOldFileAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := Write(path, &fullDisk{left: 100000}, Options{})
	if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if read(t, path) != "old" || names(t, dir) != "f" {
		t.Errorf("left %q in %s", read(t, path), names(t, dir))
	}
}

func TestMissingFolderIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "no", "f")
	if err := Write(path, strings.NewReader("x"), Options{}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

func TestUnsafeWritesInPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "d") // a folder cannot be renamed over: the fallback has to report that too
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, strings.NewReader("x"), Options{Unsafe: true, Scratch: dir}); err == nil {
		t.Error("a folder was replaced")
	}
	if got := names(t, dir); got != "d" {
		t.Errorf("left %s", got)
	}
	f := &File{dest: filepath.Join(dir, "f"), o: Options{Unsafe: true}}
	if err := os.WriteFile(f.dest, []byte("longer than new"), 0o640); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.File, err = os.CreateTemp(dir, "tmp"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(f.dest)
	if err := f.overwrite(); err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(f.dest)
	if read(t, f.dest) != "new" || !os.SameFile(before, after) || after.Mode().Perm() != 0o640 {
		t.Errorf("content %q, mode %v", read(t, f.dest), after.Mode())
	}
}

func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	old := time.Unix(1500000000, 0)
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	one, err := Backup(path, now)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Backup(path, now)
	if err != nil || one == two {
		t.Errorf("a second backup in the same second took the first one's name: %s, %v", two, err)
	}
	info, err := os.Stat(one)
	if err != nil || !strings.HasSuffix(one, ".2024-05-06@07:08:09~") || !info.ModTime().Equal(old) || info.Mode().Perm() != 0o640 || read(t, one) != "old" {
		t.Errorf("%s: %v %v", one, info, err)
	}
	if none, err := Backup(filepath.Join(dir, "missing"), now); none != "" || err != nil {
		t.Errorf("missing file: %q, %v", none, err)
	}
}
