// Package local starts processes on the control machine itself. Flowing in:
// scripts; flowing out: their pipes. It speaks to no network and holds no
// state between processes.
package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"play/connection"
	"play/modules/shellquote"
)

// Transport is the connection to the control machine.
type Transport struct {
	Env []string // environment of the processes; nil: the caller's own
	Dir string   // their working folder; "": the caller's own
	// Agent is an executable that serves as the agent with AgentArgs (play
	// itself); "": the agent is found or installed as on any host.
	Agent     string
	AgentArgs []string
	User      string           // who runs play, for the trace
	Trace     connection.Trace // what is started
	host      string           // for the trace
}

var (
	_ connection.Transport   = (*Transport)(nil)
	_ connection.LineStarter = (*Transport)(nil)
)

// Dial returns the transport of a target: there is nothing to connect to.
func (t *Transport) Dial(_ context.Context, target *connection.Target) (connection.Transport, error) {
	one := t.For(target)
	one.Trace.Say(3, one.host, "ESTABLISH LOCAL CONNECTION FOR USER: %s", t.User)
	return one, nil
}

// For is the transport that starts processes on behalf of a target.
func (t *Transport) For(target *connection.Target) *Transport {
	one := *t
	one.host = target.Name
	return &one
}

// Start runs a script by /bin/sh in a process group of its own.
func (t *Transport) Start(ctx context.Context, script string) (connection.Stream, error) {
	return t.StartArgv(ctx, []string{"/bin/sh", "-c", script})
}

// StartArgv runs a program, looked up in PATH, as Start does.
func (t *Transport) StartArgv(ctx context.Context, argv []string) (connection.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.Trace.Say(3, t.host, "EXEC %s", connection.Shown(ctx, shellquote.Join(argv)))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = t.Env, t.Dir
	// A terminal's Ctrl-C is for play to handle, not for every process it started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return run(cmd)
}

// StartLine runs a command line; here that is the same shell.
func (t *Transport) StartLine(ctx context.Context, line string) (connection.Stream, error) {
	return t.Start(ctx, line)
}

// ReadyAgent names the executable that serves as the agent here.
func (t *Transport) ReadyAgent() (path string, args []string) { return t.Agent, t.AgentArgs }

// Close does nothing: every process has a stream of its own.
func (t *Transport) Close() error { return nil }

// process is one running command.
type process struct {
	in, out *os.File
	stderr  *connection.Bounded
	group   int
	done    chan struct{} // closed once status is set
	status  int
	close   sync.Once
}

var (
	_ connection.Stream     = (*process)(nil)
	_ connection.HalfCloser = (*process)(nil)
)

// run starts cmd with pipes of our own: exec's would be closed under a reader
// when the command ends.
func run(cmd *exec.Cmd) (connection.Stream, error) {
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot make a pipe: %w", err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		stdin.Close()
		in.Close()
		return nil, fmt.Errorf("cannot make a pipe: %w", err)
	}
	p := &process{in: in, out: out, stderr: &connection.Bounded{}, done: make(chan struct{})}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, p.stderr
	cmd.WaitDelay = stderrGrace
	err = cmd.Start()
	stdin.Close()
	stdout.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("cannot start %q: %w", cmd.Args[0], err)
	}
	p.group = cmd.Process.Pid
	go p.reap(cmd)
	return p, nil
}

func (p *process) reap(cmd *exec.Cmd) {
	defer close(p.done)
	_ = cmd.Wait() // the status says more than the error
	p.status = cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		p.status = 128 + int(ws.Signal())
	}
}

func (p *process) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p *process) Stderr() string              { return p.stderr.String() }
func (p *process) CloseWrite() error           { return p.in.Close() }

// Close ends the input, and lets a process that was stopped see it; one that
// does not end by itself then is ended with its whole group after a grace.
func (p *process) Close() error {
	p.close.Do(func() {
		p.in.Close()
		p.out.Close()
		p.signal(syscall.SIGCONT)
		go p.end()
	})
	return nil
}

func (p *process) Wait() (int, error) {
	<-p.done
	return p.status, nil
}
