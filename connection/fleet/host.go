package fleet

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// Host is one server of a fleet.
type Host struct {
	Name    string
	Address string
	Port    int
	Home    string // absolute path
	fleet   *Fleet
	key     ssh.Signer
	wait    sync.WaitGroup // everything that runs for the host

	mu       sync.Mutex
	faults   Faults
	listener net.Listener
	conns    map[net.Conn]bool
	closed   bool
	logins   int
	thaw     chan struct{} // while frozen; closed at its end
}

func (h *Host) addr() string { return net.JoinHostPort(h.Address, strconv.Itoa(h.Port)) }

// Addr is host:port.
func (h *Host) Addr() string { return h.addr() }

// HostKey is the public key that known_hosts has for the host.
func (h *Host) HostKey() ssh.PublicKey { return h.key.PublicKey() }

// Logins tells how many connections have authenticated so far.
func (h *Host) Logins() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.logins
}

// listenAt opens the host's port; where only 127.0.0.1 is configured, there.
func (h *Host) listenAt(address string) error {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return err
		}
	}
	tcp := l.Addr().(*net.TCPAddr)
	h.Address, h.Port = tcp.IP.String(), tcp.Port
	h.serve(l)
	return nil
}

func (h *Host) serve(l net.Listener) {
	h.mu.Lock()
	h.listener = l
	h.mu.Unlock()
	h.wait.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if h.track(conn, true) {
				h.wait.Go(func() { h.converse(conn) })
			} else {
				conn.Close()
			}
		}
	})
}

// track notes a connection that came or went; false: the host is closed.
func (h *Host) track(conn net.Conn, came bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !came {
		delete(h.conns, conn)
		return true
	}
	if h.closed {
		return false
	}
	h.conns[conn] = true
	return true
}

// shut stops listening and drops all connections.
func (h *Host) shut() {
	h.mu.Lock()
	h.closed = true
	if h.listener != nil {
		h.listener.Close()
	}
	h.mu.Unlock()
	h.Drop()
	h.Freeze(false)
}

// Drop cuts all connections at once, as a host that loses power does.
func (h *Host) Drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for conn := range h.conns {
		conn.Close()
	}
}

// converse serves one connection until it ends.
func (h *Host) converse(raw net.Conn) {
	defer h.track(raw, false)
	defer raw.Close()
	faults := h.Faults()
	conn := &hostConn{Conn: raw, host: h, pause: faults.Slow}
	if faults.preamble(conn) {
		return
	}
	config, err := h.config(faults)
	if err != nil {
		return
	}
	_ = raw.SetDeadline(time.Now().Add(loginGrace))
	server, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	_ = raw.SetDeadline(time.Time{})
	h.mu.Lock()
	h.logins++
	h.mu.Unlock()
	go answerGlobal(requests)
	sessions := &sessions{host: h, faults: faults, conn: server}
	for channel := range channels {
		sessions.open(channel)
	}
	sessions.wait.Wait()
}

// loginGrace is how long a client may take to log in.
const loginGrace = 2 * time.Minute

// answerGlobal answers requests such as keepalive@openssh.com: not known, which
// is a sign of life.
func answerGlobal(requests <-chan *ssh.Request) {
	for r := range requests {
		if r.WantReply {
			_ = r.Reply(false, nil) // a failure shows up as the connection's end
		}
	}
}

// config accepts the fleet's key and, where there is one, its password.
func (h *Host) config(faults Faults) (*ssh.ServerConfig, error) {
	c := &ssh.ServerConfig{
		ServerVersion: "SSH-2.0-play_fleet",
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if faults.Hang == HangAuth {
				h.hang()
			}
			if !slices.ContainsFunc(h.fleet.authorized, func(k ssh.PublicKey) bool { return bytes.Equal(k.Marshal(), key.Marshal()) }) {
				return nil, errors.New("the key is not the fleet's")
			}
			return &ssh.Permissions{}, nil
		},
	}
	if password := h.fleet.options.Password; password != "" {
		c.PasswordCallback = func(_ ssh.ConnMetadata, given []byte) (*ssh.Permissions, error) {
			if string(given) != password {
				return nil, errors.New("the password is wrong")
			}
			return &ssh.Permissions{}, nil
		}
	}
	if n := faults.BannerBytes; n > 0 {
		c.PreAuthConnCallback = func(conn ssh.ServerPreAuthConn) { floodBanner(conn, n) }
	}
	key := h.key
	if faults.WrongHostKey {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		if key, err = ssh.NewSignerFromKey(private); err != nil {
			return nil, err
		}
	}
	c.AddHostKey(key)
	return c, nil
}

func floodBanner(conn ssh.ServerPreAuthConn, n int) {
	line := string(bytes.Repeat([]byte("banner "), 1000))
	for sent := 0; sent < n; sent += len(line) {
		if conn.SendAuthBanner(line) != nil {
			return
		}
	}
}

// hang waits until the host is closed or its connections are dropped.
func (h *Host) hang() {
	for {
		h.mu.Lock()
		gone := h.closed || len(h.conns) == 0
		h.mu.Unlock()
		if gone {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
