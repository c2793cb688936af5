//go:build !linux

package agent

import "golang.org/x/sys/unix"

func duplicate(from, to int) error { return unix.Dup2(from, to) }

// adoptOrphans does nothing: only Linux has a way for it.
func adoptOrphans() {}

// endDescendants does nothing here: the command's own process group was ended
// before, and processes that left it cannot be found.
func endDescendants() {}
