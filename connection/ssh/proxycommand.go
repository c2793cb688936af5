package ssh

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// throughCommand runs the operator's ProxyCommand and talks to it over a socket
// pair, which is its stdin and stdout.
func (d *Dialer) throughCommand(s *settings) (net.Conn, error) {
	line := strings.NewReplacer("%%", "%", "%h", s.host, "%n", s.target.Host(), "%p", strconv.Itoa(s.port), "%r", s.user).Replace(s.proxyCommand)
	// The lock keeps the ends from processes that start at this moment.
	syscall.ForkLock.RLock()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(ends[0])
		syscall.CloseOnExec(ends[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("cannot run the proxy command: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "proxy"), os.NewFile(uintptr(ends[1]), "proxy")
	defer ours.Close()
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, fmt.Errorf("cannot run the proxy command: %w", err)
	}
	cmd := exec.Command("/bin/sh", "-c", "exec "+line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdin, cmd.Stdout = theirs, theirs
	if err := cmd.Start(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("cannot run the proxy command: %w", err)
	}
	return &commandConn{Conn: conn, cmd: cmd}, nil
}

// commandConn is a connection to a command; closing it ends the command with
// its process group.
type commandConn struct {
	net.Conn
	cmd   *exec.Cmd
	close sync.Once
}

// Close ends the command; a second Close does nothing.
func (c *commandConn) Close() error {
	c.close.Do(func() {
		c.Conn.Close()
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGTERM) // it may have ended by now
		go func() { _ = c.cmd.Wait() }()                      // reaped; its status says nothing
	})
	return nil
}

// RemoteAddr is a placeholder that the check of host keys can parse.
func (c *commandConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero} }
