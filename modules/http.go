package modules

import (
	"io"
	"net/textproto"
	"net/url"
	"time"
)

// urlArgs are the arguments shared by all modules that fetch from a URL.
type urlArgs struct {
	URL           string   `arg:"url,required" doc:"what to ask for"`
	Force         bool     `arg:"force,default=no" doc:"do not use what is there or cached"`
	Agent         string   `arg:"http_agent,default=ansible-httpget" doc:"name of the client in the request"`
	UseProxy      bool     `arg:"use_proxy,default=yes" doc:"go through the proxy that the environment names"`
	ValidateCerts bool     `arg:"validate_certs,default=yes" doc:"check the server's certificate"`
	ForceBasic    bool     `arg:"force_basic_auth,default=no" doc:"send user and password without being asked"`
	ClientCert    string   `arg:"client_cert,type=path" doc:"PEM file with the client's certificate (and key)"`
	ClientKey     string   `arg:"client_key,type=path" doc:"PEM file with the key of client_cert"`
	UseGSSAPI     bool     `arg:"use_gssapi,default=no" doc:"authenticate by Kerberos; not supported"`
	Unredirected  []string `arg:"unredirected_headers,default=" doc:"names of headers that are not sent on after a redirect"`
	Decompress    bool     `arg:"decompress,default=yes" doc:"unpack a gzip answer"`
	Ciphers       []string `arg:"ciphers" doc:"TLS ciphers to offer; not supported"`
	UseNetrc      bool     `arg:"use_netrc,default=yes" doc:"take user and password from ~/.netrc"`
}

// httpClient sends the requests of one module call. The redirects, the
// authentication and the messages are those of Python's urllib as Ansible uses it.
type httpClient struct {
	*Call
	*urlArgs
	user, password string
	headers        map[string]string
	redirects      string // all, safe, none or urllib2
	timeout        time.Duration
	socket, caPath string
	serverName     string // the name of the server's certificate, if it is not the URL's

	cookies []httpCookie
}

// httpReply is an answer. Body is to be closed. Status 0 means a local file.
type httpReply struct {
	*httpAnswer
	url        string // of the last request
	redirected bool
	msg        string // "OK (5 bytes)" or "HTTP Error 404: Not Found"
	cookies    []httpCookie
}

// ok tells whether the answer is what urllib takes as success.
func (r *httpReply) ok() bool { return r.StatusCode == 0 || r.StatusCode/100 == 2 }

// fetchError says that there is no answer at all.
type fetchError struct{ msg string }

// Error returns the message.
func (e *fetchError) Error() string { return e.msg }

// httpCookie is a cookie of an answer; it goes back to its host.
type httpCookie struct{ host, name, text string }

// httpAnswer is what came back. Body is to be closed.
type httpAnswer struct {
	Status     string // "404 Not Found"
	StatusCode int
	Header     textproto.MIMEHeader
	Body       io.ReadCloser
	at         *url.URL
}

// send asks and follows redirects, by what the call has for it. The error is a
// *fetchError unless the call ended.
func (h *httpClient) send(method, address string, body []byte, since time.Time) (*httpReply, error) {
	if h.Web == nil {
		return nil, &fetchError{"this agent does not speak HTTP"}
	}
	return h.Web(h, method, address, body, since)
}

func inSeconds(n int) time.Duration { return time.Duration(n) * time.Second }
