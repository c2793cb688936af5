//go:build !linux

package perm

import "golang.org/x/sys/unix"

// Flags is known on Linux only.
func Flags(string) (letters string, version uint32, err error) { return "", 0, unix.ENOTSUP }

func setFlags(string, byte, string) error { return unix.ENOTSUP }
