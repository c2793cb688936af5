package ssh_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"play/connection"
)

// serveRaw is a server that speaks by hand.
func serveRaw(t *testing.T, speak func(net.Conn)) *connection.Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				speak(conn)
			}()
		}
	}()
	return &connection.Target{
		Name: "raw", Address: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Timeout: time.Second, HostKeyChecking: true,
		Options: map[string]string{"userknownhostsfile": "/dev/null"},
	}
}

// packet frames a payload as an unencrypted SSH packet (RFC 4253, 6).
func packet(payload []byte) []byte {
	pad := 8 - (5+len(payload))%8
	if pad < 4 {
		pad += 8
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(1+len(payload)+pad))
	b = append(b, byte(pad))
	b = append(b, payload...)
	return append(b, make([]byte, pad)...)
}

const version = "SSH-2.0-OpenSSH_9.2\r\n"

// TestT13RawServers: what a hostile server can send before the login ends in an
// error of that host within the time-out, without terminal escapes.
func TestT13RawServers(t *testing.T) {
	t.Parallel()
	kexInit := packet(append([]byte{20}, make([]byte, 16+10*4+1+4)...))
	disconnect := packet(append(append([]byte{1, 0, 0, 0, 2, 0, 0, 0, 12}, "\x1b]0;evil\x07no\n"...), 0, 0, 0, 0))
	cases := map[string]func(net.Conn){
		"closed at once":   func(net.Conn) {},
		"another protocol": func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n") },
		"giant packet": func(c net.Conn) {
			fmt.Fprint(c, version)
			_, _ = c.Write(bytes.Repeat([]byte{0xff}, 1<<16))
			time.Sleep(2 * time.Second)
		},
		"endless KEXINIT": func(c net.Conn) {
			fmt.Fprint(c, version)
			for {
				if _, err := c.Write(kexInit); err != nil {
					return
				}
			}
		},
		"escapes in the farewell": func(c net.Conn) {
			fmt.Fprint(c, version)
			_, _ = c.Write(disconnect)
			time.Sleep(2 * time.Second)
		},
		"slow-loris version": func(c net.Conn) {
			for _, b := range []byte(version + strings.Repeat("x", 100)) {
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		},
		"slow-loris packet": func(c net.Conn) {
			fmt.Fprint(c, version)
			for _, b := range kexInit {
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		},
		"noise": func(c net.Conn) {
			fmt.Fprint(c, version)
			_, _ = c.Write(bytes.Repeat([]byte("\x00\x00\x00\x0cnonsense\x1b[2J"), 1000))
		},
	}
	for name, speak := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			_, err := dial(t, dialer(t), serveRaw(t, speak))
			wantError(t, err, "Failed to connect to the host via ssh: ")
			if took := time.Since(began); took > patience {
				t.Errorf("it took %s", took)
			}
			if strings.ContainsAny(err.Error(), "\x1b\x07\n") {
				t.Errorf("control characters came through: %q", err)
			}
		})
	}
}

// TestT13AfterLogin: what a server can send to a command that runs.
func TestT13AfterLogin(t *testing.T) {
	t.Parallel()
	cases := map[string]func(gossh.Channel){
		"malformed exit status": func(c gossh.Channel) { _, _ = c.SendRequest("exit-status", false, []byte{1}) },
		"malformed signal":      func(c gossh.Channel) { _, _ = c.SendRequest("exit-signal", false, []byte("\xff\xff\xff\xffKILL")) },
		"no status":             func(gossh.Channel) {},
		"many statuses": func(c gossh.Channel) {
			for range 1000 {
				_, _ = c.SendRequest("exit-status", false, []byte{0, 0})
			}
		},
		"unknown requests": func(c gossh.Channel) {
			for range 1000 {
				_, _ = c.SendRequest("nonsense@example", false, make([]byte, 1000))
			}
		},
	}
	for name, end := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := sessionServer(t, end)
			s, err := tr.Start(t.Context(), "anything")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := s.Wait()
				done <- err
			}()
			select {
			case err := <-done:
				if err == nil {
					t.Error("a status was made up")
				}
			case <-time.After(patience):
				t.Error("the wait has no end")
			}
		})
	}
}

// sessionServer lets everybody in, accepts every command, and ends it by end.
func sessionServer(t *testing.T, end func(gossh.Channel)) connection.Transport {
	t.Helper()
	keyPath, key := writeKey(t, "")
	config := &gossh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(signer(t, keyPath))
	target := serveRaw(t, func(c net.Conn) {
		_, channels, requests, err := gossh.NewServerConn(c, config)
		if err != nil {
			return
		}
		go gossh.DiscardRequests(requests)
		for wanted := range channels {
			channel, requests, err := wanted.Accept()
			if err != nil {
				return
			}
			go func() {
				for r := range requests {
					_ = r.Reply(true, nil)
					end(channel)
					channel.Close()
				}
			}()
		}
	})
	target.Timeout = time.Minute
	withKnownHosts(t, target, "127.0.0.1 "+keyLine(key)+"\n")
	tr, err := dial(t, dialer(t), target)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestT14IPv6: an IPv6 address is looked up in brackets with its port.
func TestT14IPv6(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("the machine has no IPv6 loopback")
	}
	l.Close()
	keyPath, key := writeKey(t, "")
	config := &gossh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(signer(t, keyPath))
	l, err = net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if server, _, _, err := gossh.NewServerConn(conn, config); err == nil {
					_ = server.Wait() // until the client goes
				}
			}()
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	target := &connection.Target{Name: "six", Address: "::1", Port: port, HostKeyChecking: true, Options: map[string]string{}}
	withKnownHosts(t, target, fmt.Sprintf("[::1]:%d %s\n", port, keyLine(key)))
	if _, err := dial(t, dialer(t), target); err != nil {
		t.Error(err)
	}
	withKnownHosts(t, target, "")
	_, err = dial(t, dialer(t), target)
	wantError(t, err, "is not a known host")
}
