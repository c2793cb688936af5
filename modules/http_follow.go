//go:build !plain

package modules

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"play/modules/process"
)

// follow asks and follows redirects.
func (h *httpClient) follow(method, address string, body []byte, since time.Time) (*httpReply, error) {
	target, err := h.prepare(address)
	if err != nil {
		return nil, err
	}
	if target.Scheme == "file" {
		return localReply(target)
	}
	visited := map[string]int{}
	for {
		resp, err := h.roundTrip(method, target, body, since, len(visited) > 0)
		if err != nil {
			return nil, h.failure(target, err)
		}
		reply := &httpReply{httpAnswer: resp, url: target.String(), redirected: len(visited) > 0, cookies: h.cookies}
		next, nextMethod := h.redirect(resp, method)
		if next == nil {
			return reply, reply.settle(h.Decompress)
		}
		if visited[next.String()] >= 4 || len(visited) >= 10 {
			return reply, reply.loop()
		}
		visited[next.String()]++
		drain(resp)
		if code := resp.StatusCode; code < 307 {
			body = nil
			h.forget("content-length", "content-type", "transfer-encoding")
		}
		if next.Host != target.Host {
			h.forget("authorization")
			h.user, h.ForceBasic = "", false
		}
		h.forget(h.Unredirected...)
		method, target = nextMethod, next
	}
}

// prepare checks the arguments, takes the user out of the URL, and makes the client.
func (h *httpClient) prepare(address string) (*url.URL, error) {
	if h.UseGSSAPI || len(h.Ciphers) > 0 {
		return nil, Failf("cannot use use_gssapi or ciphers: they are not supported by this module")
	}
	target, err := url.Parse(strings.ReplaceAll(address, " ", "%20"))
	if err != nil {
		return nil, &fetchError{"Request failed: <urlopen error " + err.Error() + ">"}
	}
	switch target.Scheme {
	case "http", "https", "file":
	default:
		return nil, &fetchError{"Request failed: <urlopen error unknown url type: " + target.Scheme + ">"}
	}
	if u := target.User; u != nil {
		if h.user == "" {
			h.user = u.Username()
			h.password, _ = u.Password()
		}
		target.User = nil
	}
	if h.UseNetrc && h.user == "" && !hasHeader(h.headers, "authorization") {
		if user, password, ok := h.netrc(target.Hostname()); ok {
			h.user, h.password, h.ForceBasic = user, password, true
		}
	}
	return target, nil
}

// remember keeps the cookies of an answer.
func (h *httpClient) remember(a *httpAnswer) {
	for _, line := range a.Header.Values("Set-Cookie") {
		pair, _, _ := strings.Cut(line, ";")
		name, text, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || name == "" {
			continue
		}
		host := a.at.Hostname()
		h.cookies = slices.DeleteFunc(h.cookies, func(c httpCookie) bool { return c.host == host && c.name == name })
		h.cookies = append(h.cookies, httpCookie{host, name, text})
	}
}

// cookiesFor are the cookies that a host gets.
func (h *httpClient) cookiesFor(host string) string {
	var texts []string
	for _, c := range h.cookies {
		if c.host == host {
			texts = append(texts, c.name+"="+c.text)
		}
	}
	return strings.Join(texts, "; ")
}

// roundTrip asks once, and a second time with the user's name when the server
// asks for it.
func (h *httpClient) roundTrip(method string, target *url.URL, body []byte, since time.Time, again bool) (*httpAnswer, error) {
	authorization := ""
	if h.ForceBasic && h.user != "" {
		authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(h.user+":"+h.password))
	}
	resp, err := h.ask(method, target, body, since, again, authorization)
	if err != nil || resp.StatusCode != 401 || h.user == "" || authorization != "" {
		return resp, err
	}
	if authorization = h.authorize(method, target, resp.Header); authorization == "" {
		return resp, nil
	}
	drain(resp)
	return h.ask(method, target, body, since, again, authorization)
}

func (h *httpClient) ask(method string, target *url.URL, body []byte, since time.Time, again bool, authorization string) (*httpAnswer, error) {
	r := &httpRequest{method: method, target: target, headers: textproto.MIMEHeader{}, body: body}
	r.headers.Set("User-Agent", h.Agent)
	r.headers.Set("Accept-Encoding", "identity")
	if h.Decompress {
		r.headers.Set("Accept-Encoding", "gzip")
	}
	switch {
	case h.Force:
		r.headers.Set("Cache-Control", "no-cache")
	case !since.IsZero() && !again:
		r.headers.Set("If-Modified-Since", since.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"))
	}
	if body != nil {
		r.headers.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if cookies := h.cookiesFor(target.Hostname()); cookies != "" {
		r.headers.Set("Cookie", cookies)
	}
	if authorization != "" {
		r.headers.Set("Authorization", authorization)
	}
	for name, text := range h.headers {
		r.headers.Set(name, text)
	}
	answer, err := h.exchange(r)
	if err == nil {
		h.remember(answer)
	}
	return answer, err
}

// redirect returns where an answer sends the client, or nil when that is not
// followed.
func (h *httpClient) redirect(resp *httpAnswer, method string) (*url.URL, string) {
	code := resp.StatusCode
	location := resp.Header.Get("Location")
	if code < 301 || code > 308 || code > 303 && code < 307 || location == "" {
		return nil, ""
	}
	reading := method == "GET" || method == "HEAD"
	switch h.redirects {
	case "all", "yes":
	case "urllib2":
		if !reading && (method != "POST" || code > 303) {
			return nil, ""
		}
	case "safe":
		if !reading {
			return nil, ""
		}
	default:
		return nil, ""
	}
	next, err := resp.at.Parse(strings.ReplaceAll(location, " ", "%20"))
	if err != nil || next.Scheme != "http" && next.Scheme != "https" {
		return nil, ""
	}
	if (code == 303 || code == 302) && method != "HEAD" || code == 301 && method == "POST" {
		method = "GET"
	}
	return next, method
}

func (h *httpClient) forget(names ...string) {
	for have := range h.headers {
		for _, name := range names {
			if strings.EqualFold(have, name) {
				delete(h.headers, have)
			}
		}
	}
}

func hasHeader(headers map[string]string, name string) bool {
	for have := range headers {
		if strings.EqualFold(have, name) {
			return true
		}
	}
	return false
}

func drain(resp *httpAnswer) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // the rest goes with the connection
	resp.Body.Close()
}

// settle words the outcome and unpacks the body.
func (r *httpReply) settle(decompress bool) error {
	r.msg = fmt.Sprintf("HTTP Error %d: %s", r.StatusCode, r.reason())
	if r.ok() {
		size := r.Header.Get("Content-Length")
		if size == "" {
			size = "unknown"
		}
		r.msg = "OK (" + size + " bytes)"
	}
	if !decompress || !strings.EqualFold(r.Header.Get("Content-Encoding"), "gzip") {
		return nil
	}
	unpacked, err := gzip.NewReader(r.Body)
	if err == io.EOF {
		return nil // an empty answer, as to HEAD
	}
	if err != nil {
		return &fetchError{"cannot unpack the answer: " + err.Error()}
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{unpacked, r.Body}
	return nil
}

func (r *httpReply) reason() string {
	_, reason, _ := strings.Cut(r.Status, " ")
	return reason
}

func (r *httpReply) loop() error {
	err := r.settle(false)
	r.msg = fmt.Sprintf("HTTP Error %d: The HTTP server returned a redirect error that would lead to an infinite loop.\n"+
		"The last 30x error message was:\n%s", r.StatusCode, r.reason())
	r.redirected = false
	return err
}

// localReply answers a file: URL.
func localReply(target *url.URL) (*httpReply, error) {
	f, err := os.Open(target.Path)
	if err != nil {
		return nil, &fetchError{"Request failed: <urlopen error " + osTextString(err, target.Path) + ">"}
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &fetchError{"Request failed: <urlopen error not a file: '" + target.Path + "'>"}
	}
	reply := &httpReply{url: target.String(), msg: fmt.Sprintf("OK (%d bytes)", info.Size())}
	reply.httpAnswer = &httpAnswer{Header: textproto.MIMEHeader{}, Body: f}
	return reply, nil
}

// failure words an error as Ansible does.
func (h *httpClient) failure(at *url.URL, err error) error {
	if h.Err() != nil {
		return context.Cause(h)
	}
	var errno syscall.Errno
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &errno):
		return &fetchError{fmt.Sprintf("Request failed: <urlopen error [Errno %d] %s>", int(errno), process.Strerror(errno))}
	case errors.As(err, &dns):
		return &fetchError{"Request failed: <urlopen error [Errno -2] Name or service not known>"}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &fetchError{"Connection failure: The read operation timed out"}
	}
	if reason := certificateReason(err); reason != "" {
		return &fetchError{badCertificate(at, reason)}
	}
	var failure *Failure
	if errors.As(err, &failure) {
		return err
	}
	return &fetchError{"Request failed: <urlopen error " + err.Error() + ">"}
}
