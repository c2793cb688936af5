package fleet

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// Step is a point at which a host can stop answering.
type Step int

// The steps, in the order of a connection.
const (
	HangNever   Step = iota
	HangAccept       // the connection is accepted; nothing is ever said
	HangKex          // the version is sent, and nothing more
	HangAuth         // a login is never answered
	HangSession      // a session is never opened
	HangExec         // a command is never started
	HangOutput       // a command runs, and its output never comes
)

// Faults say how a host misbehaves. They hold for connections made after they
// were set; the zero Faults is a healthy host.
type Faults struct {
	Refuse       bool          // connections are refused
	Hang         Step          // the step that never ends
	DropAfter    int64         // the connection is cut after so many bytes of commands' output; 0: never
	Slow         time.Duration // a pause before each packet either way
	NoSFTP       bool          // the sftp subsystem is refused
	DiskFull     bool          // no file takes any content
	DiskSpace    int           // no file takes more than so many KiB; 0: any number
	WrongHostKey bool          // another key than known_hosts has
	BannerBytes  int           // so much text before the login
	VersionFlood bool          // endless lines instead of the version
	Deaf         bool          // commands never get their input
	MaxSessions  int           // sessions at a time on a connection; 0: any number
	Noise        string        // printed on stdout by the login shell before each command
}

// SetFaults changes how the host misbehaves from now on.
func (h *Host) SetFaults(f Faults) error {
	h.mu.Lock()
	was := h.faults.Refuse
	h.faults = f
	listener := h.listener
	h.mu.Unlock()
	switch {
	case f.Refuse && !was:
		return listener.Close()
	case was && !f.Refuse:
		l, err := net.Listen("tcp", h.addr())
		if err != nil {
			return err
		}
		h.serve(l)
	}
	return nil
}

// Faults returns how the host misbehaves.
func (h *Host) Faults() Faults {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.faults
}

// Freeze stops the host's network, or lets it go on: nothing is read or written
// on its connections, and none is closed.
func (h *Host) Freeze(frozen bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case frozen && h.thaw == nil:
		h.thaw = make(chan struct{})
	case !frozen && h.thaw != nil:
		close(h.thaw)
		h.thaw = nil
	}
}

// hostConn is a connection that its host can slow down and freeze.
type hostConn struct {
	net.Conn
	host  *Host
	pause time.Duration
}

// Read waits as the host says.
func (c *hostConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wait()
	return n, err
}

// Write waits as the host says.
func (c *hostConn) Write(p []byte) (int, error) {
	c.wait()
	return c.Conn.Write(p)
}

func (c *hostConn) wait() {
	time.Sleep(c.pause)
	c.host.mu.Lock()
	thaw := c.host.thaw
	c.host.mu.Unlock()
	if thaw != nil {
		<-thaw
	}
}

// preamble misbehaves before the SSH handshake; true: that was all.
func (f Faults) preamble(conn net.Conn) bool {
	switch {
	case f.VersionFlood:
		line := bytes.Repeat([]byte("noise\r\n"), 1000)
		for {
			if _, err := conn.Write(line); err != nil {
				return true
			}
		}
	case f.Hang == HangAccept:
		_, _ = io.Copy(io.Discard, conn) // until the client gives up
		return true
	case f.Hang == HangKex:
		_, _ = conn.Write([]byte("SSH-2.0-play_fleet\r\n")) // a lost client ends the next line too
		_, _ = io.Copy(io.Discard, conn)
		return true
	}
	return false
}

// dropper cuts the connection in the middle of a command's output.
type dropper struct {
	io.Writer
	left *atomic.Int64
	cut  func() error
}

// Write passes on what the fault allows.
func (d *dropper) Write(p []byte) (int, error) {
	left := d.left.Add(-int64(len(p)))
	if left > 0 {
		return d.Writer.Write(p)
	}
	if n := int64(len(p)) + left; n > 0 {
		_, _ = d.Writer.Write(p[:n]) // the cut below is what counts
	}
	d.cut()
	return 0, io.ErrClosedPipe
}
