package main

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// sentinel is a process of play's own group that does nothing but stop when
// Ctrl-Z stops the group, which play waits for. play itself ignores the signal, and so
// do the processes that it starts until they have become other programs: one that
// stopped before that would hold up all of play for good, since the runtime
// waits for it without letting go of a processor.
type sentinel struct {
	cmd  *exec.Cmd
	pipe *os.File // its end ends the sentinel
	done chan struct{}
}

// startSentinel calls stopped at every Ctrl-Z until close. It returns nil where
// there is no job control: nothing stops then.
func startSentinel(stopped func(*sentinel)) *sentinel {
	session, err := unix.Getsid(0)
	if err != nil || session == unix.Getpgrp() || signal.Ignored(syscall.SIGTSTP) {
		return nil // no shell could let this process go on, or it does not want to
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer in.Close()
	s := &sentinel{cmd: exec.Command("/bin/sh", "-c", "trap '' HUP INT QUIT TERM; read -r end"), pipe: out, done: make(chan struct{})}
	s.cmd.Stdin = in
	if err := s.cmd.Start(); err != nil {
		out.Close()
		return nil // Ctrl-Z stops play as it stops every program
	}
	signal.Ignore(syscall.SIGTSTP)
	go s.watch(stopped)
	return s
}

// watch waits for the sentinel's stops up to its end.
func (s *sentinel) watch(stopped func(*sentinel)) {
	defer close(s.done)
	defer signal.Reset(syscall.SIGTSTP)
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(s.cmd.Process.Pid, &status, unix.WUNTRACED, nil)
		switch {
		case err == unix.EINTR:
		case err == nil && status.Stopped():
			stopped(s)
			_ = s.cmd.Process.Signal(syscall.SIGCONT) // where play alone was let go on
		default:
			return
		}
	}
}

// goesOn tells whether the sentinel, which had stopped, was continued meanwhile.
func (s *sentinel) goesOn() bool {
	var status unix.WaitStatus
	pid, err := unix.Wait4(s.cmd.Process.Pid, &status, unix.WCONTINUED|unix.WNOHANG, nil)
	return err == nil && pid > 0 && status.Continued()
}

// close ends the sentinel; a nil one needs nothing.
func (s *sentinel) close() {
	if s == nil {
		return
	}
	s.pipe.Close()
	_ = s.cmd.Process.Kill() // it may stand still
	<-s.done
}
