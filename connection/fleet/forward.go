package fleet

import (
	"io"
	"net"
	"strconv"
	"sync"

	"golang.org/x/crypto/ssh"
)

// forwardRequest is the payload of direct-tcpip, by RFC 4254.
type forwardRequest struct {
	Host       string
	Port       uint32
	Origin     string
	OriginPort uint32
}

// forward connects a channel to another host, as a jump host does; to loopback
// addresses only.
func forward(wanted ssh.NewChannel) {
	var r forwardRequest
	if ssh.Unmarshal(wanted.ExtraData(), &r) != nil {
		_ = wanted.Reject(ssh.ConnectionFailed, "the request is malformed")
		return
	}
	if ip := net.ParseIP(r.Host); ip == nil || !ip.IsLoopback() {
		_ = wanted.Reject(ssh.Prohibited, "only loopback addresses are reached")
		return
	}
	conn, err := net.Dial("tcp", net.JoinHostPort(r.Host, strconv.Itoa(int(r.Port))))
	if err != nil {
		_ = wanted.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	defer conn.Close()
	channel, requests, err := wanted.Accept()
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	var wait sync.WaitGroup
	wait.Go(func() {
		_, _ = io.Copy(channel, conn) // ends with either side
		channel.Close()
	})
	wait.Go(func() {
		_, _ = io.Copy(conn, channel) // ends with either side
		conn.Close()
	})
	wait.Wait()
}
