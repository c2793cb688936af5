// Package pyhost runs the operator's Python plugins on the control machine:
// filters, tests and lookups of folders beside a playbook, of roles and of
// collections. Names flow in, and builtins for engine/jinja flow out; their
// calls go to one Python process with ansible-core, which is started when it is
// first needed and ends with Close. What plugins return is data: it is never
// evaluated. It contacts no host, and runs no Python when there is no plugin.
package pyhost

import (
	"context"
	_ "embed" // pyhost.py
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"play/modules/value"
)

//go:embed pyhost.py
var script string

// serveScript makes the process serve; it follows the other scripts.
const serveScript = "\nwhile True:\n    handle(receive())\n"

// maxFrame bounds what a plugin may return, in bytes.
const maxFrame = 256 << 20

// process is the running Python.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr tail
	write  sync.Mutex
	// decrypted is told what Python decrypted; nil: it has no passwords.
	decrypted func(plain []byte)

	mu    sync.Mutex
	last  int
	calls map[int]chan *value.Dict
	err   error // it has ended
}

// tail keeps the last lines that Python printed, to tell why it ended.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - 2000; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// start starts Python in a process group of its own.
func start(python, script string, env []string) (*process, error) {
	p := &process{calls: map[int]chan *value.Dict{}}
	p.cmd = exec.Command(python, "-c", script)
	p.cmd.Env = env
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.in, p.cmd.Stdout = in, w
	err = p.cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	go p.listen(r)
	return p, nil
}

// listen hands what Python sends to the calls it belongs to, until it ends.
func (p *process) listen(from *os.File) {
	defer from.Close()
	var err error
	for err == nil {
		var m *value.Dict
		if m, err = receive(from); err != nil {
			break
		}
		id, _ := m.Get("id")
		p.mu.Lock()
		n, _ := id.(int)
		to := p.calls[n]
		p.mu.Unlock()
		if to != nil {
			to <- m // its reader takes everything until the answer
		}
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // nothing of it stays
	_ = p.cmd.Wait()                                      // the reason is in what it printed
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = errors.New("the Python process for plugins has ended")
	}
	if why := p.stderr.last(); why != "" && p.err != errEnded {
		p.err = fmt.Errorf("%w: %s", p.err, why)
	}
	for _, to := range p.calls {
		close(to)
	}
	p.calls = nil
}

func receive(from io.Reader) (*value.Dict, error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxFrame {
		return nil, errors.New("too much")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(from, text); err != nil {
		return nil, err
	}
	v, err := value.DecodeJSON(text)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, errors.New("no object")
	}
	return d, nil
}

func (p *process) send(m *value.Dict) error {
	text, err := value.AppendJSON(nil, m, value.WireJSON())
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(text)))
	p.write.Lock()
	defer p.write.Unlock()
	_, err = p.in.Write(append(frame, text...))
	return err
}

// failed is what a plugin, or Python, reported.
type failed struct {
	msg       string
	undefined bool
}

func (f *failed) Error() string { return f.msg }

// request sends a request and returns its result. answer serves what the plugin
// asks for meanwhile. When ctx ends, the process ends: nothing else stops a
// plugin that hangs.
func (p *process) request(ctx context.Context, m *value.Dict, answer func(ask *value.Dict) *value.Dict) (any, error) {
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		return nil, p.err
	}
	p.last++
	id, replies := p.last, make(chan *value.Dict, 1)
	p.calls[id] = replies
	p.mu.Unlock()
	defer p.forget(id)
	m.Set("id", id)
	if err := p.send(m); err != nil {
		return nil, fmt.Errorf("cannot reach the Python process for plugins: %w", err)
	}
	for {
		select {
		case <-ctx.Done():
			p.end()
			return nil, context.Cause(ctx)
		case r, ok := <-replies:
			if !ok {
				p.mu.Lock()
				defer p.mu.Unlock()
				return nil, p.err
			}
			if done(r) {
				p.learn(r)
				return result(r)
			}
			a := answer(r)
			if number, asks := r.Get("ask"); asks {
				a.Set("answer", number)
				if err := p.send(a); err != nil {
					return nil, fmt.Errorf("cannot reach the Python process for plugins: %w", err)
				}
			}
		}
	}
}

// learn tells what was decrypted for an answer.
func (p *process) learn(r *value.Dict) {
	v, _ := r.Get("decrypted")
	l, ok := v.(*value.List)
	if !ok || p.decrypted == nil {
		return
	}
	for _, plain := range l.Items {
		p.decrypted([]byte(value.Str(plain)))
	}
}

// done tells an answer from what a plugin asks for or says meanwhile.
func done(r *value.Dict) bool {
	_, ok := r.Get("ok")
	_, bad := r.Get("error")
	return ok || bad
}

func result(r *value.Dict) (any, error) {
	if msg, bad := r.Get("error"); bad {
		undefined, _ := r.Get("undefined")
		return nil, &failed{value.Str(msg), undefined == true}
	}
	v, _ := r.Get("ok")
	return unpack(v)
}

func (p *process) forget(id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.calls, id)
}

// errEnded is why a process that was told to end serves nothing more.
var errEnded = errors.New("the Python process for plugins was ended, since a plugin took too long or the run is over")

// end ends the process and what it started.
func (p *process) end() {
	p.mu.Lock()
	if p.err == nil {
		p.err = errEnded
	}
	p.mu.Unlock()
	p.in.Close()
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
}

// pythons are the programs that may have the Python package in core: that of its
// virtual environment or prefix first.
func pythons(core string) []string {
	var list []string
	if i := strings.LastIndex(core, "/lib/python"); i >= 0 {
		list = append(list, core[:i]+"/bin/python3", core[:i]+"/bin/python")
	}
	return append(list, "/usr/bin/python3", "python3")
}

// find starts the first Python that can import ansible-core.
func find(ctx context.Context, core string, env []string, script string, begin *value.Dict) (*process, error) {
	var last error
	tried := map[string]bool{}
	for _, name := range pythons(core) {
		path, err := exec.LookPath(name)
		if err != nil || tried[path] {
			continue
		}
		tried[path] = true
		p, err := start(path, script, env)
		if err == nil {
			if _, err = p.request(ctx, begin.Clone(), nil); err == nil {
				return p, nil
			}
			p.end()
		}
		last = err
		if ctx.Err() != nil {
			return nil, err
		}
	}
	if last == nil {
		last = errors.New("there is no Python here")
	}
	return nil, fmt.Errorf("no Python here can import ansible-core from %q: %w", filepath.Dir(core), last)
}

var _ io.Writer = (*tail)(nil)
