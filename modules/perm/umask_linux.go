package perm

import (
	"os"
	"strconv"
	"strings"
)

// Umask returns the process's umask without setting it.
func Umask() uint32 {
	data, err := os.ReadFile("/proc/self/status")
	if err == nil {
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(line, "Umask:"); ok {
				n, err := strconv.ParseUint(strings.TrimSpace(rest), 8, 32)
				if err == nil {
					return uint32(n)
				}
			}
		}
	}
	return 0o022
}
