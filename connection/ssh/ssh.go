// Package ssh connects to hosts by SSH as OpenSSH's client would: with the
// operator's ssh_config, keys, ssh-agent and known_hosts. Flowing in: targets.
// Flowing out: Transports. It never weakens the check of a host key unless the
// operator asked for that, never tries a login again that was rejected, and
// spends bounded time and memory on any one host.
package ssh

import (
	"context"
	"errors"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"play/connection"
)

// Dialer makes connections. The fields must not change once it is used; its
// methods may be called concurrently.
type Dialer struct {
	Home      string // the operator's home folder
	User      string // the operator's login name
	AgentSock string // SSH_AUTH_SOCK; "": none
	// ConfigFiles are read in this order; the first value of an option counts.
	// nil: none.
	ConfigFiles []string
	// Ask asks the person for a secret (a key's passphrase). It is called by
	// one goroutine at a time. nil: encrypted keys are passed over.
	Ask func(prompt string) (string, error)
	// AskHostKey asks the person whether the key of a host that is not known is
	// to be trusted. It is called by one goroutine at a time, while other hosts go
	// on. nil: such a host is refused.
	AskHostKey func(prompt string) (string, error)
	// Getenv reads the operator's environment for ${NAME} in file names; nil:
	// they stay as they are.
	Getenv func(name string) string
	Trace  connection.Trace // what is done for a host

	files    configFiles
	known    knownHosts
	keys     keyring
	bastions bastions
}

// maxPause bounds the back-off between attempts.
const maxPause = 30 * time.Second

// Dial connects and authenticates. Connection failures are tried again as often
// as the target says, with growing pauses; a rejected login or host key is not.
// The error is an *UnreachableError or ctx's own.
func (d *Dialer) Dial(ctx context.Context, t *connection.Target) (connection.Transport, error) {
	set, err := d.resolve(t)
	if err != nil {
		return nil, failed(t, err)
	}
	for attempt := 0; ; attempt++ {
		client, err := d.connectAsking(ctx, set)
		if err == nil {
			return newTransport(d, set, client), nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if attempt >= t.Retries || final(err) {
			return nil, failed(t, err)
		}
		pause := min(time.Duration(1<<min(attempt, 10)-1)*time.Second, maxPause)
		d.trace(t.Name, "ssh_retry: attempt: %d, error: %v, pausing for %s", attempt+1, err, pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Close ends the connections to bastions.
func (d *Dialer) Close() error {
	d.bastions.close()
	return nil
}

func (d *Dialer) trace(host, format string, args ...any) {
	d.Trace.Say(3, host, format, args...)
}

// failed gives an error the words that people know from Ansible.
func failed(t *connection.Target, err error) error {
	return connection.Unreachablef(t.Name, "Failed to connect to the host via ssh: %w", err)
}

// final tells whether another attempt would end the same way.
func final(err error) bool {
	var key *HostKeyError
	var setting *SettingError
	return errors.Is(err, connection.ErrAuth) || errors.As(err, &key) || errors.As(err, &setting)
}

// bastions are the connections to jump hosts, each shared by all hosts behind it.
type bastions struct {
	mu     sync.Mutex
	byName map[string]*bastion
}

type bastion struct {
	done   chan struct{} // closed once client and err are set
	client *gossh.Client
	err    error
}

// get returns the connection under name, made by whoever asks first. A failed
// one is not kept.
func (b *bastions) get(ctx context.Context, name string, connect func() (*gossh.Client, error)) (*gossh.Client, error) {
	b.mu.Lock()
	if b.byName == nil {
		b.byName = map[string]*bastion{}
	}
	one, ok := b.byName[name]
	if !ok {
		one = &bastion{done: make(chan struct{})}
		b.byName[name] = one
	}
	b.mu.Unlock()
	if !ok {
		one.client, one.err = connect()
		if one.err != nil {
			b.drop(name, one)
		} else {
			go func() {
				_ = one.client.Wait() // any end makes it useless
				b.drop(name, one)
			}()
		}
		close(one.done)
	}
	select {
	case <-one.done:
		return one.client, one.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (b *bastions) drop(name string, one *bastion) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byName[name] == one {
		delete(b.byName, name)
	}
}

func (b *bastions) close() {
	b.mu.Lock()
	all := b.byName
	b.byName = nil
	b.mu.Unlock()
	for _, one := range all {
		<-one.done
		if one.client != nil {
			one.client.Close()
		}
	}
}
