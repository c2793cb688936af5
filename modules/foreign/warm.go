package foreign

import (
	"archive/zip"
	"context"
	_ "embed" // warm.py
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"play/modules/process"
	"play/modules/value"
)

//go:embed warm.py
var warmScript string

// warmBoot reads warm.py from standard input and runs it: process lists stay
// legible, and there is no file that could be changed.
const warmBoot = `import os, sys
size = int(sys.argv.pop(1))
text = b''
while len(text) < size:
    text += os.read(0, size - len(text)) or os._exit(1)
exec(compile(text, 'warm.py', 'exec'))
`

const (
	maxServers   = 4                      // interpreters with an environment each, of one agent
	maxTemplates = 12                     // modules that one of them has loaded
	helloLimit   = 60 * time.Second       // for an interpreter to start on a busy host
	linger       = 900 * time.Millisecond // for output that a background child holds open
	endLimit     = 5 * time.Second        // for a keeper to end what it keeps; more than twice GRACE in warm.py
)

// errCold says that a module was not started, and wants a process of its own.
var errCold = errors.New("no warm Python")

// Warm holds interpreters that have loaded what Python modules share; each call
// runs in a fork of one. It is safe for concurrent use. A nil *Warm runs nothing.
type Warm struct {
	mu      sync.Mutex
	servers []*server // the one used last stands last
	cold    map[string]bool
	parts   map[string]map[string]uint64 // by zip, whose name is its content's: what contents found
	closed  bool
}

// server is one interpreter, with one environment.
type server struct {
	key  string
	zip  map[string]uint64 // what it loaded from: names and contents
	once sync.Once
	err  error // it could not be started

	cmd       *exec.Cmd
	conn      *net.UnixConn
	mu        sync.Mutex
	templates []*template
	runs      map[string]int // by zip: runs that have ended well
}

// template is a fork of a server that has loaded one module. It runs one call at
// a time.
type template struct {
	zip  string
	conn *net.UnixConn
	busy bool
}

// Close ends all interpreters; calls that still run go on to their end.
func (w *Warm) Close() {
	w.mu.Lock()
	servers := w.servers
	w.servers, w.closed = nil, true
	w.mu.Unlock()
	for _, s := range servers {
		s.stop()
	}
}

// run runs a Python module in a fork. The error is errCold when it was not
// started, or the end of ctx.
func (w *Warm) run(ctx context.Context, p *Program, args []byte) (*process.Outcome, error) {
	if w == nil {
		return nil, errCold
	}
	parts, err := w.contents(p.File)
	if err != nil {
		return nil, errCold
	}
	key := strings.Join(append(append([]string(nil), p.Interpreter...), p.Env...), "\x00")
	for range 2 { // one that was here already may be out of date, or may have been killed
		s, fresh := w.server(key, parts)
		if s == nil {
			return nil, errCold
		}
		out, err := s.run(ctx, p, args)
		if err == nil || ctx.Err() != nil {
			return out, err
		}
		w.drop(s, fresh)
	}
	return nil, errCold
}

// server returns the interpreter for a key whose modules are not at odds with
// those of a zip. fresh tells that this call is its first; nil that there is none.
func (w *Warm) server(key string, parts map[string]uint64) (s *server, fresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.cold[key] {
		return nil, false
	}
	for i, s := range w.servers {
		if s.key == key && agree(s.zip, parts) {
			w.servers = append(slices.Delete(w.servers, i, i+1), s)
			return s, false
		}
	}
	if len(w.servers) == maxServers {
		go w.servers[0].stop()
		w.servers = slices.Delete(w.servers, 0, 1)
	}
	s = &server{key: key, zip: parts, runs: map[string]int{}}
	w.servers = append(w.servers, s)
	return s, true
}

// drop ends an interpreter that served badly; when it did so from its first call
// on, calls of its kind get processes of their own from now on.
func (w *Warm) drop(s *server, fresh bool) {
	w.mu.Lock()
	if i := slices.Index(w.servers, s); i >= 0 {
		w.servers = slices.Delete(w.servers, i, i+1)
	}
	if fresh {
		if w.cold == nil {
			w.cold = map[string]bool{}
		}
		w.cold[s.key] = true
	}
	w.mu.Unlock()
	s.stop()
}

// contents lists the files of a zip with their checksums, which it reads once.
func (w *Warm) contents(path string) (map[string]uint64, error) {
	w.mu.Lock()
	parts := w.parts[path]
	w.mu.Unlock()
	if parts != nil {
		return parts, nil
	}
	parts, err := contents(path)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parts == nil {
		w.parts = map[string]map[string]uint64{}
	}
	w.parts[path] = parts
	return parts, nil
}

func contents(path string) (map[string]uint64, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	parts := make(map[string]uint64, len(z.File))
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "ansible/module_utils/") {
			parts[f.Name] = uint64(f.CRC32)<<32 | f.UncompressedSize64&0xffffffff
		}
	}
	return parts, nil
}

// agree reports whether files of the same name are the same.
func agree(a, b map[string]uint64) bool {
	for name, sum := range a {
		if other, ok := b[name]; ok && other != sum {
			return false
		}
	}
	return true
}

// start starts the interpreter once and waits until it has loaded what it
// shares; whoever comes first does it.
func (s *server) start(ctx context.Context, p *Program) error {
	s.once.Do(func() { s.err = s.begin(ctx, p) })
	return s.err
}

func (s *server) begin(ctx context.Context, p *Program) error {
	path, err := process.Look(p.Interpreter[0], "", p.Env)
	if err != nil {
		return err
	}
	own, its, err := pair()
	if err != nil {
		return err
	}
	cmd := &exec.Cmd{
		Path: path, Args: append(slices.Clone(p.Interpreter), "-c", warmBoot, strconv.Itoa(len(warmScript)), p.File), Env: p.Env, Stdin: its,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	err = cmd.Start()
	its.Close()
	if err != nil {
		own.Close()
		return err
	}
	s.mu.Lock()
	s.cmd, s.conn = cmd, own
	s.mu.Unlock()
	if err := own.SetDeadline(time.Now().Add(helloLimit)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = own.SetDeadline(time.Now()) }) // the reading below says so
	defer stop()
	if _, err := io.WriteString(own, warmScript); err != nil {
		return fmt.Errorf("cannot start the interpreter: %w", err)
	}
	hello := make([]byte, 1)
	if n, err := own.Read(hello); n != 1 || hello[0] != 'H' {
		return fmt.Errorf("the interpreter did not answer: %w", errors.Join(err, ctx.Err()))
	}
	stop()
	return own.SetDeadline(time.Time{})
}

// stop ends the interpreter, and its templates once they have nothing to do.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	for _, t := range s.templates {
		t.conn.Close()
	}
	s.conn.Close()
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // another user's ends with its socket
	_ = s.cmd.Wait()                                      // its end was asked for
	s.cmd, s.templates = nil, nil
}

// run runs a module in a fork of the interpreter: of a template once the module
// has been seen to end well, so that only what loads without harm is loaded.
func (s *server) run(ctx context.Context, p *Program, args []byte) (*process.Outcome, error) {
	if err := s.start(ctx, p); err != nil {
		return nil, err
	}
	c, err := newWarmCall()
	if err != nil {
		return nil, err
	}
	defer c.close()
	t, err := s.ask(p, c)
	if err != nil {
		return nil, err
	}
	out, err := c.follow(ctx, request{Zip: p.File, Package: p.Package, Dir: p.Dir, Args: string(args)})
	s.done(p, t, c.kept && err == nil && out.RC == 0, c.kept)
	return out, err
}

// done notes that a call has ended; a template that did not report its end is
// not asked again.
func (s *server) done(p *Program, t *template, well, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if well {
		s.runs[p.File]++
	}
	if t == nil {
		return
	}
	t.busy = false
	if !kept {
		t.conn.Close()
		s.templates = slices.DeleteFunc(s.templates, func(o *template) bool { return o == t })
	}
}

// request is what warm.py reads from a socket that was handed to it.
type request struct {
	Zip, Package, Dir, Args string
}

// ask hands the files of a call to the process that is to fork for it, and
// returns that where it is a template.
func (s *server) ask(p *Program, c *warmCall) (*template, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return nil, errCold
	}
	conn := s.conn
	t, err := s.template(p)
	if err != nil {
		return nil, err
	}
	if t != nil {
		t.busy, conn = true, t.conn
	}
	err = send(conn, 'R', c.given...)
	c.release()
	return t, err
}

// template returns an idle fork that has loaded a module, making it if need be.
// It is nil for a module that has not ended well yet, and when all are busy.
func (s *server) template(p *Program) (*template, error) {
	if s.runs[p.File] == 0 {
		return nil, nil
	}
	idle := func(t *template) bool { return !t.busy }
	if i := slices.IndexFunc(s.templates, func(t *template) bool { return t.zip == p.File && idle(t) }); i >= 0 {
		t := s.templates[i]
		s.templates = append(slices.Delete(s.templates, i, i+1), t)
		return t, nil
	}
	if len(s.templates) == maxTemplates {
		oldest := slices.IndexFunc(s.templates, idle)
		if oldest < 0 {
			return nil, nil
		}
		s.templates[oldest].conn.Close()
		s.templates = slices.Delete(s.templates, oldest, oldest+1)
	}
	own, its, err := pair()
	if err != nil {
		return nil, err
	}
	defer its.Close()
	err = send(s.conn, 'Z', its)
	if err == nil {
		err = tell(own, request{Zip: p.File, Package: p.Package})
	}
	if err != nil {
		own.Close()
		return nil, err
	}
	t := &template{zip: p.File, conn: own}
	s.templates = append(s.templates, t)
	return t, nil
}

// pair makes two ends of a socket, one of them for another process.
func pair() (own *net.UnixConn, its *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fds[0]), "warm Python")
	its = os.NewFile(uintptr(fds[1]), "warm Python")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		its.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), its, nil
}

// send sends a letter with open files.
func send(conn *net.UnixConn, letter byte, files ...*os.File) error {
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	_, _, err := conn.WriteMsgUnix([]byte{letter}, syscall.UnixRights(fds...), nil)
	return err
}

// tell sends a request's details.
func tell(w io.Writer, r request) error {
	details := value.DictOf("zip", r.Zip, "package", r.Package, "dir", r.Dir, "args", r.Args)
	text, err := value.AppendJSON(make([]byte, 4), details, value.WireJSON())
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(text, uint32(len(text)-4))
	_, err = w.Write(text)
	return err
}
