//go:build !linux

package perm

import "golang.org/x/sys/unix"

// SELinux is a thing of Linux.
func SELinux() bool { return false }

// FileContext is known on Linux only.
func FileContext(string) (string, error) { return "", unix.ENOTSUP }

func setFileContext(string, string) error { return unix.ENOTSUP }
