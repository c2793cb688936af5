//go:build !plain

package modules

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"play/modules/argspec"
	"play/modules/process"
	"play/modules/value"
)

// dockerArgs are the arguments shared by the modules that speak to a Docker engine.
type dockerArgs struct {
	DockerHost    string `arg:"docker_host,default=unix://var/run/docker.sock,env=DOCKER_HOST,aliases=docker_url" doc:"the engine: unix://PATH or tcp://HOST:PORT"`
	TLSHostname   string `arg:"tls_hostname,env=DOCKER_TLS_HOSTNAME" doc:"the name that the engine's certificate must have"`
	APIVersion    string `arg:"api_version,default=auto,env=DOCKER_API_VERSION,aliases=docker_api_version" doc:"the version of the API; auto: the engine's"`
	Timeout       int    `arg:"timeout,default=60,env=DOCKER_TIMEOUT" doc:"seconds to wait for an answer"`
	CACert        string `arg:"ca_cert,type=path,aliases=tls_ca_cert|cacert_path" doc:"PEM file with the engine's authority"`
	ClientCert    string `arg:"client_cert,type=path,aliases=tls_client_cert|cert_path" doc:"PEM file with the client's certificate"`
	ClientKey     string `arg:"client_key,type=path,aliases=tls_client_key|key_path" doc:"PEM file with the client's key"`
	SSLVersion    string `arg:"ssl_version,env=DOCKER_SSL_VERSION" doc:"accepted; TLS 1.2 or later is used"`
	TLS           bool   `arg:"tls,default=no,env=DOCKER_TLS" doc:"use TLS without checking the engine"`
	UseSSHClient  bool   `arg:"use_ssh_client,default=no" doc:"for ssh:// hosts, which are not supported"`
	ValidateCerts bool   `arg:"validate_certs,default=no,env=DOCKER_TLS_VERIFY,aliases=tls_verify" doc:"use TLS and check the engine"`
	Debug         bool   `arg:"debug,default=no" doc:"return the actions"`
}

// dockerRules are the rules of the shared arguments.
func dockerRules() argspec.Rules {
	return argspec.Rules{RequiredTogether: [][]string{{"client_cert", "client_key"}}}
}

// Rules relates the arguments of modules that have no others.
func (dockerArgs) Rules() argspec.Rules { return dockerRules() }

// docker speaks to one engine for one module call.
type docker struct {
	*Call
	args     *dockerArgs
	base     *url.URL // where requests go; the host of a socket is localhost
	shown    string   // the base as error messages have it
	socket   string
	version  string
	warnings []string
	with     *value.Dict // further return values of failures
}

// dockerError is an answer with an error status.
type dockerError struct {
	status              int
	reason, url, detail string
}

// Error words the answer as Ansible does.
func (e *dockerError) Error() string {
	kind := "Client"
	if e.status >= 500 {
		kind = "Server"
	}
	text := fmt.Sprintf("%d %s Error for %s: %s", e.status, kind, e.url, e.reason)
	if e.detail != "" {
		text += " (\"" + e.detail + "\")"
	}
	return text
}

// notFound tells whether the engine said that the thing does not exist.
func notFound(err error) bool {
	var e *dockerError
	return errors.As(err, &e) && e.status == 404
}

// dockerConnect finds the engine and agrees on a version of the API.
func (c *Call) dockerConnect(args *dockerArgs) (*docker, error) {
	d := &docker{Call: c, args: args, with: value.NewDict()}
	if err := d.locate(); err != nil {
		return nil, err
	}
	d.version = args.APIVersion
	if strings.EqualFold(d.version, "auto") {
		v, err := d.do(&dockerRequest{method: "GET", path: "/version", bare: true})
		if err != nil {
			return nil, Failf("Error connecting: Error while fetching server API version: %v", err)
		}
		info, _ := v.(*value.Dict)
		d.version = dictText(info, "ApiVersion")
		if d.version == "" {
			return nil, Failf("Error connecting: Invalid response from docker daemon: key \"ApiVersion\" is missing.")
		}
	}
	if versionBefore(d.version, "1.25") {
		return nil, Failf("Docker API version is %s. Minimum version required is 1.25.", d.version)
	}
	return d, nil
}

// versionBefore compares versions of the API, as 1.41.
func versionBefore(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := 0; i < len(x) && i < len(y); i++ {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m < n
		}
	}
	return len(x) < len(y)
}

// needVersion refuses an option that the engine is too old for.
func (d *docker) needVersion(option, version string) error {
	if versionBefore(d.version, version) {
		return d.fail("Docker API version is %s. Minimum version required is %s to set %s option.", d.version, version, option)
	}
	return nil
}

// locate reads docker_host.
func (d *docker) locate() error {
	host := strings.TrimSpace(d.args.DockerHost)
	if host == "" || host == "unix://" {
		host = "unix:///var/run/docker.sock"
	}
	if path, ok := strings.CutPrefix(host, "unix://"); ok {
		d.socket = "/" + strings.TrimLeft(path, "/")
		d.base = &url.URL{Scheme: "http", Host: "localhost"}
		d.shown = "http+docker://localhost"
		return nil
	}
	secure := d.args.TLS || d.args.ValidateCerts
	scheme, rest, found := strings.Cut(host, "://")
	if !found {
		scheme, rest = "tcp", host
	}
	switch scheme {
	case "tcp", "http":
	case "https":
		secure = true
	default:
		return Failf("cannot reach the Docker engine at %q: only unix://, tcp://, http:// and https:// are supported", host)
	}
	d.base = &url.URL{Scheme: "http", Host: strings.TrimRight(rest, "/")}
	if secure {
		d.base.Scheme = "https"
	}
	if d.base.Port() == "" {
		return Failf("Error connecting: Invalid bind address format: port is required: %s", host)
	}
	d.shown = d.base.String()
	return nil
}

// dockerRequest is one question to the engine.
type dockerRequest struct {
	method, path string
	bare         bool     // the path has no version
	params       []string // names and values in turn
	json         bool     // send body, even if it is nil, as JSON
	body         *value.Dict
	file         *os.File // sent instead
	header       textproto.MIMEHeader
	patience     time.Duration // 0: timeout's; negative: for ever
}

func (r *dockerRequest) uri(version string) string {
	uri := r.path
	if !r.bare {
		uri = "/v" + version + r.path
	}
	for i := 0; i+1 < len(r.params); i += 2 {
		separator := "&"
		if i == 0 {
			separator = "?"
		}
		uri += separator + r.params[i] + "=" + url.QueryEscape(r.params[i+1])
	}
	return uri
}

// open sends a request; an error status is a *dockerError.
func (d *docker) open(r *dockerRequest) (*httpAnswer, error) {
	target, err := d.base.Parse(r.uri(d.version))
	if err != nil {
		return nil, err
	}
	out := &httpRequest{method: r.method, target: target, headers: r.header}
	if out.headers == nil {
		out.headers = textproto.MIMEHeader{}
	}
	if err := r.fill(out); err != nil {
		return nil, err
	}
	answer, err := d.client(r).exchange(out)
	if err != nil {
		return nil, connectError(err)
	}
	if answer.StatusCode < 400 {
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, d.refused(r, answer)
}

// fill adds what the request carries.
func (r *dockerRequest) fill(out *httpRequest) error {
	switch {
	case r.file != nil:
		info, err := r.file.Stat()
		if err != nil {
			return err
		}
		out.stream, out.size = r.file, info.Size()
	case r.json:
		sent := value.NewDict()
		for k, v := range r.body.All() {
			if v != nil {
				sent.Set(value.Str(k), v)
			}
		}
		text, err := value.EncodeJSON(sent, value.WireJSON())
		if err != nil {
			return err
		}
		out.body = []byte(text)
		out.headers.Set("Content-Type", "application/json")
	case r.method == "POST":
		out.body = []byte{}
	}
	return nil
}

func (d *docker) client(r *dockerRequest) *httpClient {
	patience := r.patience
	if patience == 0 {
		patience = time.Duration(d.args.Timeout) * time.Second
	}
	cert, key, ca := d.args.ClientCert, d.args.ClientKey, d.args.CACert
	if folder, ok := d.Getenv("DOCKER_CERT_PATH"); ok && cert == "" && ca == "" {
		cert, key, ca = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"), filepath.Join(folder, "ca.pem")
	}
	h := &httpClient{
		Call: d.Call, timeout: max(patience, 0), socket: d.socket, serverName: d.args.TLSHostname,
		urlArgs: &urlArgs{ValidateCerts: d.args.ValidateCerts, ClientCert: cert, ClientKey: key},
	}
	if d.args.ValidateCerts {
		h.caPath = ca
	}
	return h
}

// refused reads an answer with an error status.
func (d *docker) refused(r *dockerRequest, answer *httpAnswer) error {
	e := &dockerError{status: answer.StatusCode, url: d.shown + r.uri(d.version)}
	_, e.reason, _ = strings.Cut(answer.Status, " ")
	data, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return connectError(err)
	}
	e.detail = strings.TrimSpace(string(data))
	if v, err := value.DecodeJSON(data); err == nil {
		if said, ok := v.(*value.Dict); ok {
			e.detail = dictText(said, "message")
		}
	}
	return e
}

// connectError words a broken connection as Python's requests does.
func connectError(err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return errors.New("Read timed out.")
		}
		return err
	}
	kind := map[syscall.Errno]string{
		syscall.ENOENT: "FileNotFoundError", syscall.ECONNREFUSED: "ConnectionRefusedError", syscall.EACCES: "PermissionError",
		syscall.ECONNRESET: "ConnectionResetError", syscall.EPIPE: "BrokenPipeError",
	}[errno]
	if kind == "" {
		kind = "OSError"
	}
	return fmt.Errorf("('Connection aborted.', %s(%d, '%s'))", kind, int(errno), process.Strerror(errno))
}

// do sends a request and decodes the answer's JSON; an empty answer is nil.
func (d *docker) do(r *dockerRequest) (any, error) {
	answer, err := d.open(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, connectError(err)
	}
	if len(data) == 0 {
		return nil, nil
	}
	return value.DecodeJSON(data)
}

// get asks for JSON.
func (d *docker) get(path string, params ...string) (any, error) {
	return d.do(&dockerRequest{method: "GET", path: path, params: params})
}

// getDict asks for a JSON object; one that does not exist is nil.
func (d *docker) getDict(path string, params ...string) (*value.Dict, error) {
	v, err := d.get(path, params...)
	if notFound(err) {
		return nil, nil
	}
	found, _ := v.(*value.Dict)
	return found, err
}

// getDicts asks for a JSON list of objects.
func (d *docker) getDicts(path string, params ...string) ([]*value.Dict, error) {
	v, err := d.get(path, params...)
	return dictItems(v), err
}

// post sends JSON and returns the answer's object, which may be nil.
func (d *docker) post(path string, body *value.Dict, params ...string) (*value.Dict, error) {
	v, err := d.do(&dockerRequest{method: "POST", path: path, params: params, json: true, body: body})
	answer, _ := v.(*value.Dict)
	return answer, err
}

// order sends a request without a body.
func (d *docker) order(method, path string, params ...string) (*value.Dict, error) {
	v, err := d.do(&dockerRequest{method: method, path: path, params: params})
	answer, _ := v.(*value.Dict)
	return answer, err
}

// lines sends a request and hands each object of the answer's stream on.
func (d *docker) lines(r *dockerRequest, each func(*value.Dict) error) error {
	answer, err := d.open(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	in := bufio.NewReader(answer.Body)
	for {
		line, err := in.ReadBytes('\n')
		if text := strings.TrimSpace(string(line)); text != "" {
			v, err := value.DecodeJSON([]byte(text))
			if err != nil {
				return err
			}
			if item, ok := v.(*value.Dict); ok {
				if err := each(item); err != nil {
					return err
				}
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return connectError(err)
		}
	}
}

// fail is a failure with the call's further return values and warnings.
func (d *docker) fail(format string, args ...any) *Failure {
	f := Failf(format, args...)
	f.With = d.with.Clone()
	if len(d.warnings) > 0 {
		f.With.Set("warnings", stringList(d.warnings))
	}
	return f
}

// unexpected words an error that a module has no words of its own for.
func (d *docker) unexpected(err error) error {
	var f *Failure
	var e *dockerError
	switch {
	case err == nil || errors.As(err, &f):
		return err
	case errors.As(err, &e):
		return d.fail("An unexpected Docker error occurred: %v", err)
	}
	return d.fail("An unexpected requests error occurred when trying to talk to the Docker daemon: %v", err)
}

// finish gives a result its warnings.
func (d *docker) finish(out *Result, err error) (*Result, error) {
	if err != nil {
		return nil, d.unexpected(err)
	}
	if len(d.warnings) > 0 {
		out.Set("warnings", stringList(d.warnings))
	}
	return out, nil
}

// warned keeps the warnings of an answer, under Warnings or Warning.
func (d *docker) warned(answer *value.Dict, key string) {
	said, _ := answer.Get(key)
	if text, ok := said.(string); ok && text != "" {
		d.warnings = append(d.warnings, "Docker warning: "+text)
	}
	if items, ok := said.(*value.List); ok {
		for _, item := range items.Items {
			d.warnings = append(d.warnings, "Docker warning: "+value.Str(item))
		}
	}
}

// dockerPath puts a name into a path of the API.
func dockerPath(format, name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.-~/:", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return strings.Replace(format, "{0}", b.String(), 1)
}

// dockerFilters is the JSON of the filters parameter: each value becomes a list
// of texts.
func dockerFilters(filters *value.Dict) string {
	out := value.NewDict()
	for k, v := range filters.All() {
		l, ok := v.(*value.List)
		if !ok {
			l = value.NewList(v)
		}
		texts := value.NewList()
		for _, item := range l.Items {
			texts.Append(dockerText(item))
		}
		out.Set(value.Str(k), texts)
	}
	text, err := value.EncodeJSON(out, value.JSONOptions{EnsureASCII: true})
	if err != nil {
		return "{}" // texts in a dict can always be encoded
	}
	return text
}

// dockerText is a value as the engine takes it where all are texts.
func dockerText(v any) string {
	if b, ok := v.(bool); ok {
		return strconv.FormatBool(b)
	}
	return value.Str(v)
}

// dockerTexts is a dict with all values as texts; nil gives an empty one.
func dockerTexts(d *value.Dict) *value.Dict {
	out := value.NewDict()
	for k, v := range d.All() {
		out.Set(value.Str(k), dockerText(v))
	}
	return out
}

// dockerBool is a yes or no in a query, as Ansible's modules send it.
func dockerBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// dictText is a text in a dict, or "".
func dictText(d *value.Dict, key string) string {
	v, _ := d.Get(key)
	s, _ := v.(string)
	return s
}

// dictIn is a dict in a dict, or nil.
func dictIn(d *value.Dict, key string) *value.Dict {
	v, _ := d.Get(key)
	inner, _ := v.(*value.Dict)
	return inner
}

// dictTrue tells whether a dict's value is true.
func dictTrue(d *value.Dict, key string) bool {
	v, _ := d.Get(key)
	return value.Truth(v)
}

// dictItems are the dicts of a list.
func dictItems(v any) []*value.Dict {
	l, ok := v.(*value.List)
	if !ok {
		return nil
	}
	var out []*value.Dict
	for _, item := range l.Items {
		if d, ok := item.(*value.Dict); ok {
			out = append(out, d)
		}
	}
	return out
}

// container inspects a container by name or ID; one that does not exist is nil.
func (d *docker) container(name string) (*value.Dict, error) {
	list, err := d.getDicts("/containers/json", "limit", "-1", "all", "1", "size", "0", "trunc_cmd", "0")
	if err != nil {
		return nil, d.fail("Error retrieving container list: %v", err)
	}
	wanted := "/" + strings.TrimPrefix(name, "/")
	for _, item := range list {
		names, _ := item.Get("Names")
		has, _ := value.Contains(names, wanted)
		if id := dictText(item, "Id"); has || strings.HasPrefix(id, name) {
			return d.containerByID(id)
		}
	}
	return nil, nil
}

func (d *docker) containerByID(id string) (*value.Dict, error) {
	found, err := d.getDict(dockerPath("/containers/{0}/json", id))
	if err != nil {
		return nil, d.fail("Error inspecting container: %v", err)
	}
	return found, nil
}

// network inspects a network by name or ID; one that does not exist is nil.
func (d *docker) network(name string) (*value.Dict, error) {
	list, err := d.getDicts("/networks")
	if err != nil {
		return nil, d.fail("Error retrieving network list: %v", err)
	}
	for _, item := range list {
		id := dictText(item, "Id")
		if dictText(item, "Name") != name && !strings.HasPrefix(id, name) {
			continue
		}
		found, err := d.getDict(dockerPath("/networks/{0}", id))
		if err != nil {
			return nil, d.fail("Error inspecting network: %v", err)
		}
		return found, nil
	}
	return nil, nil
}
