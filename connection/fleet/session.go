package fleet

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// sessions are those of one connection.
type sessions struct {
	host   *Host
	faults Faults
	conn   *ssh.ServerConn
	wait   sync.WaitGroup
	inUse  atomic.Int32
	sent   atomic.Int64 // what DropAfter leaves
	once   sync.Once
}

// open takes a channel the client wants: sessions only.
func (s *sessions) open(wanted ssh.NewChannel) {
	s.once.Do(func() { s.sent.Store(s.faults.DropAfter) })
	if s.faults.Hang == HangSession {
		return
	}
	if wanted.ChannelType() == "direct-tcpip" {
		s.wait.Go(func() { forward(wanted) })
		return
	}
	if wanted.ChannelType() != "session" {
		_ = wanted.Reject(ssh.UnknownChannelType, "only sessions are served")
		return
	}
	if most := s.faults.MaxSessions; most > 0 && int(s.inUse.Load()) >= most {
		_ = wanted.Reject(ssh.ConnectionFailed, "open failed")
		return
	}
	channel, requests, err := wanted.Accept()
	if err != nil {
		return
	}
	s.inUse.Add(1)
	s.wait.Go(func() {
		defer s.inUse.Add(-1)
		defer channel.Close()
		s.serve(channel, requests)
	})
}

// request payloads, by RFC 4254.
type (
	execRequest struct{ Command string }
	envRequest  struct{ Name, Value string }
	signal      struct{ Name string }
	exitStatus  struct{ Status uint32 }
	exitSignal  struct {
		Name    string
		Core    bool
		Message string
		Lang    string
	}
)

// serve handles a session's requests until its command or the client ends it.
func (s *sessions) serve(channel ssh.Channel, requests <-chan *ssh.Request) {
	one := &session{sessions: s, channel: channel, ended: make(chan struct{})}
	for {
		select {
		case <-one.ended:
			return
		case r, ok := <-requests:
			if !ok {
				if one.running != nil {
					end(one.running, one.ended)
				}
				return
			}
			if one.handle(r) {
				return
			}
		}
	}
}

// session is one channel: at most one command or subsystem.
type session struct {
	*sessions
	channel ssh.Channel
	env     []string
	running *exec.Cmd     // nil: nothing was started yet
	ended   chan struct{} // closed when it has ended
}

// handle answers one request; true: the session is over.
func (s *session) handle(r *ssh.Request) bool {
	switch r.Type {
	case "exec":
		return s.exec(r)
	case "subsystem":
		return s.subsystem(r)
	case "env":
		var e envRequest
		granted := ssh.Unmarshal(r.Payload, &e) == nil && (e.Name == "LANG" || strings.HasPrefix(e.Name, "LC_"))
		if granted {
			s.env = append(s.env, e.Name+"="+e.Value)
		}
		_ = r.Reply(granted, nil)
	case "signal":
		var e signal
		granted := s.running != nil && ssh.Unmarshal(r.Payload, &e) == nil
		if granted {
			send(s.running, e.Name)
		}
		_ = r.Reply(granted, nil)
	default:
		_ = r.Reply(false, nil) // no terminals, no forwarding
	}
	return false
}

func (s *session) exec(r *ssh.Request) bool {
	var e execRequest
	if s.faults.Hang == HangExec {
		return false
	}
	if s.running != nil || ssh.Unmarshal(r.Payload, &e) != nil {
		_ = r.Reply(false, nil)
		return false
	}
	_ = r.Reply(true, nil) // before any output, as sshd does
	s.running = s.start(s.channel, e.Command, s.env, s.ended)
	return s.running == nil
}

func (s *session) subsystem(r *ssh.Request) bool {
	var e execRequest
	granted := s.running == nil && ssh.Unmarshal(r.Payload, &e) == nil && e.Command == "sftp" && !s.faults.NoSFTP
	_ = r.Reply(granted, nil)
	if granted {
		s.sftp(s.channel)
	}
	return granted
}

// start runs a command line as sshd does: by the shell, in a session of its own.
func (s *sessions) start(channel ssh.Channel, line string, env []string, ended chan struct{}) *exec.Cmd {
	if noise := s.faults.Noise; noise != "" {
		_, _ = io.WriteString(channel, noise)
	}
	if space := s.faults.DiskSpace; s.faults.DiskFull || space > 0 {
		line = fmt.Sprintf("ulimit -f %d; trap \"\" XFSZ; %s", space*2, line)
	}
	cmd := exec.Command(s.host.fleet.shell(), "-c", line)
	cmd.Dir = s.host.Home
	cmd.Env = append(s.environment(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second
	cmd.Stdout = s.output(channel)
	cmd.Stderr = channel.Stderr()
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return nil
	}
	if !s.faults.Deaf {
		go func() {
			_, _ = io.Copy(in, channel) // ends with the command or the client
			in.Close()
		}()
	}
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the state says more
		if s.faults.Hang == HangOutput {
			_ = s.conn.Wait() // until the client gives up
		}
		report(channel, cmd.ProcessState)
	}()
	return cmd
}

// output is where a command's stdout goes, faults included.
func (s *sessions) output(channel ssh.Channel) io.Writer {
	switch {
	case s.faults.Hang == HangOutput:
		return io.Discard
	case s.faults.DropAfter > 0:
		return &dropper{Writer: channel, left: &s.sent, cut: s.conn.Close}
	}
	return channel
}

func (f *Fleet) shell() string {
	if f.options.Shell != "" {
		return f.options.Shell
	}
	return "/bin/sh"
}

func (s *sessions) environment() []string {
	h := s.host
	path := "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
	if h.fleet.options.Sudo {
		path = filepath.Join(h.fleet.Dir, "bin") + ":" + path
	}
	return []string{
		"HOME=" + h.Home, "PWD=" + h.Home, "USER=" + h.fleet.User, "LOGNAME=" + h.fleet.User, "SHELL=" + h.fleet.shell(), "PATH=" + path,
		"SSH_CONNECTION=127.0.0.1 0 " + h.Address + " " + fmt.Sprint(h.Port), "FLEET_HOST=" + h.Name, "FLEET_HOMES=" + filepath.Dir(h.Home),
	}
}

// signals are those of RFC 4254 that a client may send.
var signals = map[string]syscall.Signal{
	"ABRT": syscall.SIGABRT, "ALRM": syscall.SIGALRM, "HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL,
	"PIPE": syscall.SIGPIPE, "QUIT": syscall.SIGQUIT, "TERM": syscall.SIGTERM, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2,
}

func send(cmd *exec.Cmd, name string) {
	if sig, ok := signals[name]; ok {
		_ = syscall.Kill(-cmd.Process.Pid, sig) // it may have ended by now
	}
}

// report tells the client how the command ended.
func report(channel ssh.Channel, state *os.ProcessState) {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		for name, sig := range signals {
			if sig == ws.Signal() {
				_, _ = channel.SendRequest("exit-signal", false, ssh.Marshal(&exitSignal{Name: name}))
				return
			}
		}
	}
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(&exitStatus{Status: uint32(state.ExitCode())}))
}

// end makes a command end whose client is gone: its input has ended, so it gets
// a moment to end by itself, then its process group is ended. What it started in
// sessions of their own (async jobs) stays.
func end(cmd *exec.Cmd, ended <-chan struct{}) {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGKILL} {
		select {
		case <-ended:
			return
		case <-time.After(2 * time.Second):
			_ = syscall.Kill(-cmd.Process.Pid, sig) // it may have ended by now
		}
	}
	<-ended
}
