package atomicfile

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// copyXattrs copies ACLs, labels and user attributes as far as the user may;
// what cannot be copied is left out. Capabilities and signatures belong to the
// old content, and are not given to the new.
func copyXattrs(from, to string) {
	size, err := unix.Llistxattr(from, nil)
	if err != nil || size == 0 {
		return
	}
	names := make([]byte, size)
	if size, err = unix.Llistxattr(from, names); err != nil {
		return
	}
	for _, name := range strings.Split(strings.TrimRight(string(names[:size]), "\x00"), "\x00") {
		if slices.Contains([]string{"security.capability", "security.ima", "security.evm"}, name) {
			continue
		}
		size, err := unix.Lgetxattr(from, name, nil)
		if err != nil {
			continue
		}
		data := make([]byte, size)
		if size, err = unix.Lgetxattr(from, name, data); err == nil {
			_ = unix.Lsetxattr(to, name, data[:size], 0)
		}
	}
}
