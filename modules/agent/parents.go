package agent

import (
	"os"
	"path/filepath"
	"syscall"
)

// tmpParents are the folders in which the private one may be made, best first:
// the uploaded agent's own folder, which is private and known to allow
// execution, then the usual ones; those that do not allow execution come last,
// since scripts are run from there.
func tmpParents(exe, home string) []string {
	var good, poor []string
	if dir := filepath.Dir(exe); private(dir) {
		good = append(good, dir)
	}
	for _, dir := range []string{os.TempDir(), "/var/tmp", home} {
		if noExec(dir) {
			poor = append(poor, dir)
		} else {
			good = append(good, dir)
		}
	}
	return append(good, poor...)
}

// private tells whether a folder is this user's own and closed to all others.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
