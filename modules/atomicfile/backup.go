package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Backup copies a file beside itself, with its owner, mode, times and labels,
// and returns the copy's name (path.PID.YYYY-MM-DD@HH:MM:SS~). A missing file
// has no backup: "".
func Backup(path string, now time.Time) (string, error) {
	src, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot back up %q: %w", path, reason(err))
	}
	defer src.Close()
	dst, err := createBackup(path, now)
	if err != nil {
		return "", fmt.Errorf("cannot back up %q: %w", path, reason(err))
	}
	if err := fillBackup(src, dst); err != nil {
		dst.Close()
		os.Remove(dst.Name())
		return "", fmt.Errorf("cannot back up %q: %w", path, reason(err))
	}
	return dst.Name(), nil
}

// createBackup finds a free name: the agent has one process id for many calls
// in the same second.
func createBackup(path string, now time.Time) (*os.File, error) {
	for n := os.Getpid(); ; n++ {
		name := fmt.Sprintf("%s.%d.%s~", path, n, now.Format("2006-01-02@15:04:05"))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

func fillBackup(src, dst *os.File) error {
	if _, err := io.Copy(dst, src); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(src.Fd()), &st); err != nil {
		return err
	}
	if err := dst.Chown(int(st.Uid), int(st.Gid)); err != nil && !errors.Is(err, os.ErrPermission) {
		return err
	}
	copyXattrs(src.Name(), dst.Name())
	if err := unix.Fchmod(int(dst.Fd()), uint32(st.Mode)&0o7777); err != nil {
		return err
	}
	if err := dst.Close(); err != nil {
		return err
	}
	info, err := src.Stat()
	if err != nil {
		return err
	}
	return os.Chtimes(dst.Name(), time.Unix(st.Atim.Unix()), info.ModTime())
}
