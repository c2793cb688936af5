package facts

import "golang.org/x/sys/unix"

// fragment is the unit in bytes of the block counts.
func fragment(st *unix.Statfs_t) int {
	if st.Frsize > 0 {
		return int(st.Frsize)
	}
	return int(st.Bsize)
}
