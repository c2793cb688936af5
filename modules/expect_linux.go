package modules

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo-terminal of 24 lines: the side that asks and
// answers, which can have a deadline, and the side of the command.
func openTerminal(echo bool) (own, theirs *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, &os.PathError{Op: "open", Path: "/dev/ptmx", Err: err}
	}
	own = os.NewFile(uintptr(fd), "/dev/ptmx")
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		theirs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err == nil {
		err = arrange(theirs, echo)
	}
	if err != nil {
		own.Close()
		if theirs != nil {
			theirs.Close()
		}
		return nil, nil, err
	}
	return own, theirs, nil
}

// arrange sets the size and the echo of a terminal.
func arrange(f *os.File, echo bool) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(p uintptr) {
		fd := int(p)
		if failed = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); failed != nil || echo {
			return
		}
		modes, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if failed = err; err != nil {
			return
		}
		modes.Lflag &^= unix.ECHO
		failed = unix.IoctlSetTermios(fd, unix.TCSETS, modes)
	})
	if err != nil {
		return err
	}
	return failed
}
