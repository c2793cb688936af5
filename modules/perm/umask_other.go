//go:build !linux

package perm

import "os"

// Umask returns the process's umask without setting it: it looks at what a new
// folder gets.
func Umask() uint32 {
	dir, err := os.MkdirTemp("", "umask")
	if err != nil {
		return 0o022
	}
	defer os.RemoveAll(dir)
	probe := dir + "/probe"
	if err := os.Mkdir(probe, 0o777); err != nil {
		return 0o022
	}
	info, err := os.Stat(probe)
	if err != nil {
		return 0o022
	}
	return 0o777 &^ uint32(info.Mode().Perm())
}
