package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// hideTyping keeps a terminal from showing what is typed.
func hideTyping(f *os.File) {
	fd := int(f.Fd())
	if state, err := unix.IoctlGetTermios(fd, getTerminal); err == nil {
		state.Lflag &^= unix.ECHO
		_ = unix.IoctlSetTermios(fd, setTerminal, state) // reading the password turns it off as well
	}
}
