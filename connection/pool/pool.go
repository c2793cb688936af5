// Package pool keeps one connection per host and one agent per (host, user)
// for a whole run, and a second one, the full agent, for those that need it. Flowing in: targets. Flowing out: started links. It starts
// each once, whoever asks first, and ends all at the end; it runs no module and
// judges no result.
package pool

import (
	"context"
	"encoding/hex"
	"errors"
	"os/user"
	"strings"
	"sync"

	"play/connection"
	"play/connection/become"
	"play/connection/start"
)

// Dial connects to a target as its login user.
type Dial func(ctx context.Context, t *connection.Target) (connection.Transport, error)

// Open makes a link over a stream that stands at the agent's first byte. It
// closes the stream when it fails.
type Open func(ctx context.Context, s connection.Stream, host string) (connection.Link, error)

// Config is what a pool is made of.
type Config struct {
	Dial   map[string]Dial // by transport name: "ssh", "local"
	Agents start.Agents
	Full   start.Agents // the agents with every module; nil: Agents has
	Open   Open
	Trace  connection.Trace // what is done for a host
	User   string           // who runs play, and so the login user of local targets; "": is looked up
}

// Pool is safe for concurrent use.
type Pool struct {
	config Config
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wait   sync.WaitGroup // goroutines that connect

	mu     sync.Mutex
	hosts  map[string]*slot[connection.Transport] // by Target.HostKey
	agents map[string]*slot[connection.Link]      // by Target.Key
}

// New returns an empty pool. Close must be called in the end.
func New(config Config) *Pool {
	ctx, cancel := context.WithCancel(context.Background())
	if u, err := user.Current(); err == nil && config.User == "" {
		config.User = u.Username
	}
	return &Pool{
		config: config, ctx: ctx, cancel: cancel,
		hosts:  map[string]*slot[connection.Transport]{},
		agents: map[string]*slot[connection.Link]{},
	}
}

// Get returns the link to the target's agent and starts it when there is none.
// Many callers may wait for the same one; ctx ends the caller's waiting only.
// The error is an *UnreachableError, a *BecomeError or ctx's own. A failure is
// not kept, so a later Get tries anew, except after a rejected become password.
func (p *Pool) Get(ctx context.Context, t *connection.Target) (connection.Link, error) {
	t = p.serving(p.effective(t))
	s, err := claim(p, p.agents, t.Key(), t.HostKey(), func() (connection.Link, error) { return p.startAgent(t) })
	if err != nil {
		return nil, err
	}
	l, err := s.await(ctx)
	if err != nil {
		return nil, err
	}
	lost := func() {
		if forget(p, p.agents, t.Key(), s) {
			go l.Close() // it may have to wait for a host that is gone
		}
	}
	return &pooled{Link: l, lost: lost}, nil
}

// serving is the target with the kind of agent that is asked for, or with the
// other kind where that runs already and can do the same: a full agent serves
// every call, and one that was on the host anyway may be full whatever was asked.
func (p *Pool) serving(t *connection.Target) *connection.Target {
	if p.config.Full == nil {
		return t.With(false)
	}
	other := t.With(!t.Full)
	p.mu.Lock()
	defer p.mu.Unlock()
	if own := p.agents[t.Key()]; own != nil && own.ready() {
		return t
	}
	if s := p.agents[other.Key()]; s != nil && s.ready() && s.value.Hello().Full {
		return other
	}
	return t
}

// effective is the target without its become where that leads to the login user
// itself: as in Ansible, nothing is done then (the host need not have sudo).
func (p *Pool) effective(t *connection.Target) *connection.Target {
	if t.Become == nil {
		return t
	}
	login, other := t.User, t.Become.User
	if t.Transport == "local" && login == "" {
		login = p.config.User
	}
	if other == "" {
		other = "root"
	}
	if login != other {
		return t
	}
	same := *t
	same.Become = nil
	return &same
}

// Reset closes the target's connection and all agents on it; the next Get
// connects anew.
func (p *Pool) Reset(t *connection.Target) {
	host := t.HostKey()
	p.mu.Lock()
	links := take(p.agents, host)
	transports := take(p.hosts, host)
	p.mu.Unlock()
	closeAll(links)
	closeAll(transports)
}

// Close ends every agent and connection, and waits until nothing is left.
func (p *Pool) Close() {
	p.mu.Lock()
	p.cancel() // under the lock: claim starts nothing after it
	p.mu.Unlock()
	p.wait.Wait()
	p.mu.Lock()
	links, transports := take(p.agents, ""), take(p.hosts, "")
	p.mu.Unlock()
	closeAll(links)
	closeAll(transports)
}

// transport returns the host's connection; fresh tells that it was made now.
func (p *Pool) transport(ctx context.Context, t *connection.Target) (tr connection.Transport, fresh bool, err error) {
	s, err := claim(p, p.hosts, t.HostKey(), t.HostKey(), func() (connection.Transport, error) {
		fresh = true
		return p.dial(t)
	})
	if err != nil {
		return nil, false, err
	}
	tr, err = s.await(ctx)
	return tr, fresh, err
}

func (p *Pool) dial(t *connection.Target) (connection.Transport, error) {
	dial, ok := p.config.Dial[t.Transport]
	if !ok {
		return nil, connection.Unreachablef(t.Name, "cannot connect to %q: the connection plugin %q was not found", t.Name, t.Transport)
	}
	return dial(p.ctx, t)
}

// startAgent starts the agent over the host's connection. One that was there
// before and does not serve any more (a reboot, say) is made anew, once.
func (p *Pool) startAgent(t *connection.Target) (connection.Link, error) {
	tr, fresh, err := p.transport(p.ctx, t)
	if err != nil {
		return nil, err
	}
	l, err := p.agentOver(tr, t)
	if err == nil || fresh || isBecome(err) || p.ctx.Err() != nil {
		return l, err
	}
	p.dropHost(t, tr)
	tr, _, err = p.transport(p.ctx, t)
	if err != nil {
		return nil, err
	}
	return p.agentOver(tr, t)
}

// agentOver starts the agent; a copy on the host that does not come up (cut
// off, say) is replaced, once.
func (p *Pool) agentOver(tr connection.Transport, t *connection.Target) (connection.Link, error) {
	agents := p.config.Agents
	if t.Full {
		agents = p.config.Full
	}
	options := start.Options{Host: t.Name, RemoteTmp: t.RemoteTmp, Stall: 3 * t.ConnectTimeout(), Trace: p.config.Trace}
	tr = p.become(tr, t)
	s, err := start.Agent(p.ctx, tr, agents, options)
	if err != nil {
		return nil, unreachable(t, err)
	}
	l, err := p.open(s, t)
	if err == nil || p.ctx.Err() != nil {
		return l, err
	}
	options.Fresh = true
	s, again := start.Agent(p.ctx, tr, agents, options)
	if again != nil {
		return nil, unreachable(t, err)
	}
	return p.open(s, t)
}

// become is the transport of the target's become user over that of the login
// user. Where a terminal is needed, the login user's agent makes it.
func (p *Pool) become(login connection.Transport, t *connection.Target) connection.Transport {
	if t.Become == nil {
		return login
	}
	return become.Over(login, *t.Become, t.Name).WithTerminal(func(ctx context.Context, marker string, argv []string) (connection.Stream, error) {
		words := hex.EncodeToString([]byte(strings.Join(argv, "\x00") + "\x00"))
		return start.Agent(ctx, login, p.config.Agents, start.Options{Host: t.Name, RemoteTmp: t.RemoteTmp, Stall: 3 * t.ConnectTimeout(),
			Trace: p.config.Trace, Instead: []string{"terminal", marker, words}})
	})
}

func (p *Pool) open(s connection.Stream, t *connection.Target) (connection.Link, error) {
	ctx, cancel := context.WithTimeout(p.ctx, 3*t.ConnectTimeout())
	defer cancel()
	l, err := p.config.Open(ctx, s, t.Name)
	if err != nil {
		s.Close()
		return nil, unreachable(t, err)
	}
	return l, nil
}

// dropHost forgets and closes the host's connection if it is still this one.
func (p *Pool) dropHost(t *connection.Target, tr connection.Transport) {
	p.mu.Lock()
	if s := p.hosts[t.HostKey()]; s != nil && s.finished() && s.value == tr {
		delete(p.hosts, t.HostKey())
	}
	p.mu.Unlock()
	tr.Close()
}

// unreachable gives every failure of reaching a host its kind.
func unreachable(t *connection.Target, err error) error {
	var u *connection.UnreachableError
	if errors.As(err, &u) || isBecome(err) {
		return err
	}
	return connection.Unreachablef(t.Name, "cannot connect to %q: %w", t.Name, err)
}

func isBecome(err error) bool {
	var b *connection.BecomeError
	return errors.As(err, &b)
}

// pooled is a link that leaves the pool when its host is lost.
type pooled struct {
	connection.Link
	lost func()
}
