package agent

import "golang.org/x/sys/unix"

// noExec tells whether a folder's file system refuses to execute files.
func noExec(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Flags&unix.ST_NOEXEC != 0
}
