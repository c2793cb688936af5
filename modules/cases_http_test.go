package modules

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// answer is one HTTP answer of a case's server.
type answer struct {
	Status  int
	Headers map[string]string
	Body    string
}

// answers are given in turn; the last one stays.
type answers []answer

// UnmarshalJSON reads one answer or a list of them.
func (a *answers) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*[]answer)(a))
	}
	*a = make(answers, 1)
	return json.Unmarshal(data, &(*a)[0])
}

// peer is the HTTP server of a case, as testdata/httpserver.py has it: on a port
// of loopback and on a Unix socket. A nil peer changes no text.
type peer struct {
	routes          map[string]answers
	url, sock, path string

	mu    sync.Mutex
	asked map[string]int
}

func (c *recordedCase) serve(t *testing.T, shared map[string]answers) {
	t.Helper()
	if shared == nil && c.Server == nil {
		return
	}
	routes := map[string]answers{}
	maps.Copy(routes, shared)
	maps.Copy(routes, c.Server)
	c.peer = &peer{routes: routes, asked: map[string]int{}}
}

func (p *peer) start(t *testing.T, root string) {
	t.Helper()
	if p == nil {
		return
	}
	p.path = filepath.Join(root, "requests")
	short, err := os.MkdirTemp("", "sock") // a socket's name has a small limit
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(short) })
	p.sock = filepath.Join(short, "s")
	listener, err := net.Listen("unix", p.sock)
	must(t, err)
	tcp := httptest.NewServer(p)
	t.Cleanup(tcp.Close)
	unix := &http.Server{Handler: p}
	go unix.Serve(listener)
	t.Cleanup(func() { unix.Close() })
	p.url = tcp.URL
}

// ServeHTTP notes the request and gives the next answer of its route.
func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := p.next(r)
	body := p.fill(a.Body)
	for name, text := range a.Headers {
		w.Header().Set(name, p.fill(text))
	}
	w.Header()["Date"] = nil
	if _, ok := a.Headers["Content-Type"]; !ok {
		w.Header()["Content-Type"] = nil
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("Connection", "close")
	w.WriteHeader(a.Status)
	if r.Method != http.MethodHead {
		io.WriteString(w, body)
	}
}

func (p *peer) next(r *http.Request) answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(r)
	name := r.Method + " " + r.RequestURI
	list, ok := p.routes[name]
	if !ok {
		return answer{Status: http.StatusNotFound, Body: "not here"}
	}
	a := list[min(p.asked[name], len(list)-1)]
	p.asked[name]++
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	return a
}

var boundary = regexp.MustCompile(`=====+[0-9]+==`)

func (p *peer) note(r *http.Request) {
	var line strings.Builder
	line.WriteString(r.Method + " " + r.RequestURI)
	noted := []string{"authorization", "content-type", "accept", "user-agent", "if-modified-since", "cookie"}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if low := strings.ToLower(name); slices.Contains(noted, low) || strings.HasPrefix(low, "x-") {
			line.WriteString(" [" + low + ": " + r.Header.Get(name) + "]")
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		line.WriteString(" [unreadable: " + err.Error() + "]")
	}
	text := boundary.ReplaceAllString(line.String()+" "+string(body), "BOUNDARY")
	f, err := os.OpenFile(p.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return // the missing line fails the case
	}
	defer f.Close()
	io.WriteString(f, strings.TrimRight(text, " \t\r\n")+"\n")
}

func (p *peer) fill(text string) string {
	if p == nil {
		return text
	}
	return strings.NewReplacer("{url}", p.url, "{sock}", p.sock).Replace(text)
}

func (p *peer) clean(text string) string {
	if p == nil {
		return text
	}
	return strings.NewReplacer(p.url, "{url}", strings.TrimPrefix(p.url, "http://"), "{address}", p.sock, "{sock}").Replace(text)
}

func (p *peer) cleanAll(lines []string) []string {
	for i, line := range lines {
		lines[i] = p.clean(line)
	}
	return lines
}
