//go:build !plain

package modules

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxHeaders is how many bytes of headers an answer may have.
const maxHeaders = 1 << 20

// httpRequest is one request, sent over a connection of its own: HTTP/1.1 is all
// that modules need, and net/http would make the agent a tenth larger.
type httpRequest struct {
	method  string
	target  *url.URL
	headers textproto.MIMEHeader
	body    []byte    // nil: none
	stream  io.Reader // sent instead of body, size bytes of it
	size    int64
}

// exchange sends a request and reads the head of its answer.
func (h *httpClient) exchange(r *httpRequest) (*httpAnswer, error) {
	proxy, err := h.proxy(r.target)
	if err != nil {
		return nil, err
	}
	conn, err := h.connect(r.target, proxy)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(h, func() { conn.Close() })
	answer, err := h.talk(conn, r, proxy)
	if err != nil {
		stop()
		conn.Close()
		return nil, err
	}
	answer.Body = &answerBody{answer.Body, conn, stop}
	return answer, nil
}

// answerBody closes its connection.
type answerBody struct {
	io.Reader
	conn net.Conn
	stop func() bool
}

// speak sends text over an upgraded connection, and that there is no more.
func (a *httpAnswer) speak(text string) error {
	b, ok := a.Body.(*answerBody)
	if !ok {
		return errors.New("the connection cannot be written to")
	}
	if _, err := io.WriteString(b.conn, text); err != nil {
		return err
	}
	if half, ok := b.conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close ends the connection.
func (b *answerBody) Close() error {
	b.stop()
	return b.conn.Close()
}

func (h *httpClient) proxy(target *url.URL) (*url.URL, error) {
	if !h.UseProxy || h.socket != "" {
		return nil, nil
	}
	return proxyFor(h.Call, target)
}

// connect opens the stream to the server, through the proxy if there is one.
func (h *httpClient) connect(target, proxy *url.URL) (net.Conn, error) {
	network, address := "tcp", hostPort(target)
	switch {
	case h.socket != "":
		network, address = "unix", h.socket
	case proxy != nil:
		address = hostPort(proxy)
	}
	dialer := &net.Dialer{Timeout: h.timeout}
	raw, err := dialer.DialContext(h, network, address)
	if err != nil {
		return nil, err
	}
	conn := net.Conn(&patientConn{raw, h.timeout})
	if target.Scheme != "https" {
		return conn, nil
	}
	if proxy != nil && h.socket == "" {
		if err := tunnel(conn, target, proxy); err != nil {
			conn.Close()
			return nil, err
		}
	}
	secure, err := h.tlsConfig()
	if err != nil {
		conn.Close()
		return nil, err
	}
	secure.ServerName = cmp.Or(h.serverName, target.Hostname())
	over := tls.Client(conn, secure)
	if err := over.HandshakeContext(h); err != nil {
		conn.Close()
		return nil, err
	}
	return over, nil
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
	}
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// tunnel asks a proxy for a stream to the server.
func tunnel(conn net.Conn, target, proxy *url.URL) error {
	text := "CONNECT " + hostPort(target) + " HTTP/1.1\r\nHost: " + hostPort(target) + "\r\n" + proxyAuthorization(proxy) + "\r\n"
	if _, err := io.WriteString(conn, text); err != nil {
		return err
	}
	// One byte at a time: what follows the answer is the server's.
	var head []byte
	for b := make([]byte, 1); !bytes.HasSuffix(head, []byte("\r\n\r\n")); head = append(head, b[0]) {
		if _, err := conn.Read(b); err != nil || len(head) > 64<<10 {
			return fmt.Errorf("cannot read the answer of the proxy %q: %v", proxy.Host, err)
		}
	}
	line, _, _ := strings.Cut(string(head), "\r\n")
	if _, status, _ := strings.Cut(line, " "); !strings.HasPrefix(status, "2") {
		return fmt.Errorf("Tunnel connection failed: %s", status)
	}
	return nil
}

func proxyAuthorization(proxy *url.URL) string {
	if proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password)) + "\r\n"
}

// talk writes the request and reads the answer's head.
func (h *httpClient) talk(conn net.Conn, r *httpRequest, proxy *url.URL) (*httpAnswer, error) {
	var head strings.Builder
	at := r.target.RequestURI()
	if proxy != nil && r.target.Scheme == "http" {
		at = r.target.Scheme + "://" + r.target.Host + at
	}
	host := r.target.Host
	if own := r.headers.Get("Host"); own != "" {
		host = own
	}
	head.WriteString(r.method + " " + at + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n")
	if proxy != nil && r.target.Scheme == "http" {
		head.WriteString(proxyAuthorization(proxy))
	}
	if r.stream == nil {
		r.stream, r.size = bytes.NewReader(r.body), int64(len(r.body))
	}
	if r.body != nil || r.size > 0 {
		head.WriteString("Content-Length: " + strconv.FormatInt(r.size, 10) + "\r\n")
	}
	for _, name := range slices.Sorted(maps.Keys(r.headers)) {
		text := r.headers.Get(name)
		if strings.ContainsAny(name+text, "\r\n") {
			return nil, fmt.Errorf("the header %q holds a line break", name)
		}
		if name != "Host" && name != "Connection" && name != "Content-Length" {
			head.WriteString(name + ": " + text + "\r\n")
		}
	}
	head.WriteString("\r\n")
	// A server may answer and close before it has read everything.
	_, sendErr := io.Copy(conn, io.MultiReader(strings.NewReader(head.String()), io.LimitReader(r.stream, r.size)))
	answer, err := readAnswer(conn, r)
	if err != nil && sendErr != nil {
		err = sendErr
	}
	return answer, err
}

func readAnswer(conn net.Conn, r *httpRequest) (*httpAnswer, error) {
	limited := &io.LimitedReader{R: conn, N: maxHeaders}
	in := bufio.NewReader(limited)
	text := textproto.NewReader(in)
	for {
		line, err := text.ReadLine()
		if err != nil {
			return nil, noAnswer(err)
		}
		version, status, _ := strings.Cut(line, " ")
		code, err := strconv.Atoi(strings.TrimSpace(firstWord(status)))
		if !strings.HasPrefix(version, "HTTP/1.") || err != nil || code < 100 || code > 999 {
			return nil, fmt.Errorf("the server does not answer by HTTP: %q", line)
		}
		header, err := text.ReadMIMEHeader()
		if err != nil {
			return nil, noAnswer(err)
		}
		if code < 200 && code != 101 {
			continue
		}
		limited.N = math.MaxInt64
		a := &httpAnswer{Status: status, StatusCode: code, Header: header, at: r.target}
		a.Body = io.NopCloser(a.body(in, r.method))
		return a, nil
	}
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

func noAnswer(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("Remote end closed connection without response")
	}
	return err
}

// body reads what follows the headers, as their length rules say.
func (a *httpAnswer) body(in *bufio.Reader, method string) io.Reader {
	if method == "HEAD" || a.StatusCode == 204 || a.StatusCode == 304 {
		return strings.NewReader("")
	}
	if strings.EqualFold(a.Header.Get("Transfer-Encoding"), "chunked") {
		return &chunks{in: in}
	}
	size, err := strconv.ParseInt(strings.TrimSpace(a.Header.Get("Content-Length")), 10, 64)
	if err != nil || size < 0 {
		return in
	}
	return &exactly{in: in, left: size}
}

// exactly reads a known number of bytes; fewer are an error.
type exactly struct {
	in   io.Reader
	left int64
}

// Read reads what is left.
func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.in.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// chunks reads the chunked transfer coding.
type chunks struct {
	in    *bufio.Reader
	left  int64 // of the chunk
	begun bool
	ended bool
}

// Read reads what is left of a chunk, then the next.
func (c *chunks) Read(p []byte) (int, error) {
	if c.ended || len(p) == 0 {
		return 0, io.EOF
	}
	if c.left == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n, err := c.in.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (c *chunks) next() error {
	if c.begun {
		if line, err := c.line(); err != nil || line != "" {
			return errors.New("the server's chunks are malformed")
		}
	}
	c.begun = true
	line, err := c.line()
	if err != nil {
		return io.ErrUnexpectedEOF
	}
	digits, _, _ := strings.Cut(line, ";")
	c.left, err = strconv.ParseInt(strings.TrimSpace(digits), 16, 64)
	if err != nil || c.left < 0 {
		return errors.New("the server's chunks are malformed")
	}
	if c.left == 0 {
		c.ended = true
		return io.EOF
	}
	return nil
}

// line reads a short line.
func (c *chunks) line() (string, error) {
	line, err := c.in.ReadSlice('\n')
	return strings.TrimRight(string(line), "\r\n"), err
}

// patientConn gives every read and write its own time, as Python's sockets do:
// a slow download is no timeout while something comes.
type patientConn struct {
	net.Conn
	timeout time.Duration
}

// CloseWrite tells the other end that no more will come.
func (c *patientConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Read waits for the timeout at most; 0 is no limit.
func (c *patientConn) Read(p []byte) (int, error) {
	if c.timeout > 0 {
		_ = c.SetReadDeadline(time.Now().Add(c.timeout)) // a closed connection tells in Read
	}
	return c.Conn.Read(p)
}

// Write waits for the timeout at most; 0 is no limit.
func (c *patientConn) Write(p []byte) (int, error) {
	if c.timeout > 0 {
		_ = c.SetWriteDeadline(time.Now().Add(c.timeout))
	}
	return c.Conn.Write(p)
}
