package modules

import (
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/modules/argspec"
	"play/modules/value"
)

// askURI runs uri with return_content and gives its result, or its failure's message.
func askURI(t *testing.T, env []string, pairs ...any) (*value.Dict, string) {
	t.Helper()
	c := &Call{Web: HTTP, Context: context.Background(), TmpDir: t.TempDir(), Env: env, Content: io.Discard, Output: io.Discard, Extra: value.NewDict()}
	args := value.DictOf(append([]any{"return_content", true}, pairs...)...)
	var into uriArgs
	if _, err := argspec.Of(into).Decode("uri", args, argspec.Env{}, &into); err != nil {
		t.Fatal(err)
	}
	out, err := runURI(c, &into)
	if err != nil {
		return nil, err.Error()
	}
	return out.Dict, ""
}

func wantContent(t *testing.T, out *value.Dict, msg, want string) {
	t.Helper()
	if out == nil {
		t.Fatalf("failed: %s", msg)
	}
	if got, _ := out.Get("content"); got != want {
		t.Errorf("content %q, want %q", got, want)
	}
}

func TestHTTPChunkedAndGzip(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 20000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gzip" && r.Header.Get("Accept-Encoding") == "gzip" {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.WriteString(z, long)
			z.Close()
			return
		}
		io.WriteString(w, long[:7])
		w.(http.Flusher).Flush()
		io.WriteString(w, long[7:])
	}))
	t.Cleanup(server.Close)
	for _, path := range []string{"/chunked", "/gzip"} {
		out, msg := askURI(t, nil, "url", server.URL+path)
		wantContent(t, out, msg, long)
	}
}

func TestHTTPTruncated(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "short")
	}))
	t.Cleanup(server.Close)
	if out, msg := askURI(t, nil, "url", server.URL); !strings.Contains(msg, "unexpected EOF") {
		t.Errorf("got %v, %q", out, msg)
	}
}

func TestHTTPDigest(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := authParams(strings.TrimPrefix(r.Header.Get("Authorization"), "Digest "))
		sum := hexSum(md5.New)
		want := sum(sum("me", "r", "pw9x"), "n0", got["nc"], got["cnonce"], "auth", sum("GET", "/x?y=1"))
		if got["response"] != want {
			w.Header().Add("WWW-Authenticate", `Basic realm="r"`)
			w.Header().Add("WWW-Authenticate", `Digest realm="r", nonce="n0", qop="auth,auth-int", opaque="o"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		io.WriteString(w, "in")
	}))
	t.Cleanup(server.Close)
	out, msg := askURI(t, nil, "url", server.URL+"/x?y=1", "user", "me", "password", "pw9x")
	wantContent(t, out, msg, "in")
	if out, msg := askURI(t, nil, "url", server.URL+"/x?y=1", "user", "me", "password", "wrong"); !strings.Contains(msg, "HTTP Error 401") {
		t.Errorf("got %v, %q", out, msg)
	}
}

func TestHTTPCertificates(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "safe") }))
	t.Cleanup(server.Close)
	server.Config.ErrorLog = nil
	authority := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	if out, msg := askURI(t, nil, "url", server.URL); !strings.Contains(msg, "Failed to validate the SSL certificate for 127.0.0.1:") {
		t.Errorf("an unknown authority: got %v, %q", out, msg)
	}
	out, msg := askURI(t, nil, "url", server.URL, "ca_path", authority)
	wantContent(t, out, msg, "safe")
	out, msg = askURI(t, nil, "url", server.URL, "validate_certs", false)
	wantContent(t, out, msg, "safe")
}

func TestHTTPProxy(t *testing.T) {
	t.Parallel()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(proxy.Close)
	env := []string{"http_proxy=" + strings.Replace(proxy.URL, "://", "://me:pw@", 1), "no_proxy=localhost,.spared.invalid"}
	out, msg := askURI(t, env, "url", "http://web.invalid/a?b")
	wantContent(t, out, msg, "http://web.invalid/a?b Basic bWU6cHc=")
	if out, msg := askURI(t, env, "url", "http://web.spared.invalid/"); msg == "" {
		t.Errorf("no_proxy was not heeded: %v", out)
	}
}

func TestHTTPSecretsStayWithTheirHost(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "got "+r.Header.Get("Authorization")+r.Header.Get("X-Key"))
	}))
	t.Cleanup(other.Close)
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	t.Cleanup(first.Close)
	out, msg := askURI(t, nil, "url", first.URL, "user", "me", "password", "pw9x", "force_basic_auth", true,
		"headers", value.DictOf("X-Key", "k"), "unredirected_headers", value.NewList("x-key"))
	wantContent(t, out, msg, "got ")
}
