// Package dockertest is a Docker engine without containers: it keeps containers,
// images, networks and volumes in memory and answers API 1.43 as Docker 24 does,
// as far as the docker_* modules ask. Flowing in: a State as JSON and HTTP
// requests. Flowing out: answers, the state afterwards, and a note of every
// request that changes something. Tests use it in their own process, and
// testdata/record.py through the program in serve. It starts no process, and no
// part of the agent imports it.
package dockertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const created = "2024-01-01T00:00:00Z"

// object is a JSON object.
type object = map[string]any

// State is everything an engine knows.
type State struct {
	Containers []object          // as inspected
	Images     []object          // as inspected
	Networks   []object          // as inspected
	Volumes    []object          // as inspected
	Registry   map[string]object // images that can be pulled, by "name:tag"
	Outputs    map[string]Output // what containers print and exit with, by name; those not here run on
	Execs      map[string]Output // what commands inside containers print, by their first word
	Logins     map[string]string // passwords by user
	APIVersion string            // "": 1.43
	Count      int               // of things made so far, for their IDs
}

// Output is how a process ends.
type Output struct {
	Code           int
	Stdout, Stderr string
}

// Engine answers for one state. Note is called, one call at a time, with a line
// for each request that may change something.
type Engine struct {
	State State
	Note  func(line string)
	// Pause is the time between the head of a command's answer and its output.
	Pause time.Duration

	mu    sync.Mutex
	execs map[string]object
}

// New makes an engine; networks that every Docker has are added.
func New(state State, note func(string)) *Engine {
	e := &Engine{State: state, Note: note, execs: map[string]object{}}
	if e.State.APIVersion == "" {
		e.State.APIVersion = "1.43"
	}
	for _, name := range []string{"bridge", "host", "none"} {
		if e.network(name) == nil {
			driver := map[string]string{"bridge": "bridge", "host": "host", "none": "null"}[name]
			e.addNetwork(object{"Name": name, "Driver": driver})
		}
	}
	return e
}

// Snapshot is the state as JSON.
func (e *Engine) Snapshot() ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return json.Marshal(e.State)
}

// call is one request being answered.
type call struct {
	*Engine
	w     http.ResponseWriter
	r     *http.Request
	query url.Values
	body  []byte
}

// fault is an answer with an error status.
type fault struct {
	code int
	msg  string
}

// ServeHTTP answers one request.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c := &call{Engine: e, w: w, r: r, query: r.URL.Query(), body: body}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		e.Note(c.line())
	}
	w.Header()["Date"] = nil
	path := strings.Trim(strings.TrimPrefix(r.URL.Path, "/v"+e.State.APIVersion), "/")
	if f := c.route(r.Method, strings.Split(path, "/")); f != nil {
		c.json(f.code, object{"message": f.msg})
	}
}

// line is the note of a request: method, path, sorted query and body.
func (c *call) line() string {
	line := c.r.Method + " " + c.r.URL.Path
	for _, name := range slices.Sorted(maps.Keys(c.query)) {
		text := c.query.Get(name)
		if text == "True" || text == "False" {
			text = strings.ToLower(text)
		}
		line += " " + name + "=" + text
	}
	if auth := c.r.Header.Get("X-Registry-Auth"); auth != "" {
		line += " [auth " + auth + "]"
	}
	return strings.TrimRight(line+" "+c.bodyText(), " ")
}

func (c *call) bodyText() string {
	var v any
	if err := json.Unmarshal(c.body, &v); err == nil {
		text, err := json.Marshal(v) // keys in order
		if err == nil {
			return string(text)
		}
	}
	if names := tarNames(c.body); names != nil {
		return "tar " + strings.Join(names, ",")
	}
	return string(c.body)
}

func (c *call) json(code int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		code, text = http.StatusInternalServerError, []byte(err.Error())
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	c.w.WriteHeader(code)
	c.w.Write(text)
}

// stream sends lines of JSON in chunks, as pulls and builds do.
func (c *call) stream(lines ...object) *fault {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(http.StatusOK)
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			return &fault{http.StatusInternalServerError, err.Error()}
		}
		c.w.Write(append(text, '\r', '\n'))
		c.w.(http.Flusher).Flush()
	}
	return nil
}

// decode reads the body; numbers stay as they are written.
func (c *call) decode() (object, *fault) {
	out := object{}
	d := json.NewDecoder(bytes.NewReader(c.body))
	d.UseNumber()
	if err := d.Decode(&out); err != nil && err != io.EOF {
		return nil, &fault{http.StatusBadRequest, "invalid JSON: " + err.Error()}
	}
	return out, nil
}

func (c *call) route(method string, parts []string) *fault {
	switch parts[0] {
	case "version":
		c.json(http.StatusOK, object{"ApiVersion": c.State.APIVersion, "Version": "24.0.7", "MinAPIVersion": "1.12"})
		return nil
	case "info":
		c.json(http.StatusOK, object{"Containers": len(c.State.Containers), "Images": len(c.State.Images), "Name": "fake", "ServerVersion": "24.0.7"})
		return nil
	case "_ping":
		c.json(http.StatusOK, "OK")
		return nil
	case "auth":
		return c.login()
	case "system":
		c.json(http.StatusOK, object{"LayersSize": 1234, "Images": []any{}, "Containers": []any{}, "Volumes": []any{}, "BuildCache": []any{}})
		return nil
	case "containers":
		return c.containers(method, parts[1:])
	case "exec":
		return c.exec(parts[1:])
	case "images":
		return c.images(method, parts[1:])
	case "build":
		return c.build(parts[1:])
	case "networks":
		return c.networks(method, parts[1:])
	case "volumes":
		return c.volumes(method, parts[1:])
	}
	return &fault{http.StatusNotFound, "page not found"}
}

func (c *call) login() *fault {
	body, f := c.decode()
	if f != nil {
		return f
	}
	user, _ := body["username"].(string)
	if want, ok := c.State.Logins[user]; !ok || want != body["password"] {
		return &fault{http.StatusUnauthorized, "login attempt to https://" + fmt.Sprint(body["serveraddress"]) + "/v2/ failed with status: 401 Unauthorized"}
	}
	c.json(http.StatusOK, object{"Status": "Login Succeeded", "IdentityToken": ""})
	return nil
}

// nextID makes the ID of a new thing: it looks like Docker's and follows from
// what it is, its name, and how many were made before.
func (e *Engine) nextID(kind, name string) string {
	e.State.Count++
	sum := sha256.Sum256([]byte(kind + " " + name + " " + strconv.Itoa(e.State.Count)))
	return hex.EncodeToString(sum[:])
}

// sub returns a member that is an object, made if it is not there.
func sub(o object, key string) object {
	inner, ok := o[key].(object)
	if !ok {
		inner = object{}
		o[key] = inner
	}
	return inner
}

// text returns a member that is a string, or "".
func text(o object, key string) string {
	s, _ := o[key].(string)
	return s
}

// filters reads the filters parameter: lists of values by name.
func (c *call) filters() map[string][]string {
	out := map[string][]string{}
	var lists map[string][]string
	var sets map[string]map[string]bool
	raw := []byte(c.query.Get("filters"))
	if json.Unmarshal(raw, &lists) == nil {
		return lists
	}
	if json.Unmarshal(raw, &sets) == nil {
		for name, set := range sets {
			out[name] = slices.Sorted(maps.Keys(set))
		}
	}
	return out
}
