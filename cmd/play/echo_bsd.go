//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package main

import "golang.org/x/sys/unix"

// Requests that read and set a terminal's state; what is typed ahead stays.
const (
	getTerminal = unix.TIOCGETA
	setTerminal = unix.TIOCSETA
)
