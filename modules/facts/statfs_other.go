//go:build !linux

package facts

import "golang.org/x/sys/unix"

// fragment is the unit in bytes of the block counts.
func fragment(st *unix.Statfs_t) int { return int(st.Bsize) }
