//go:build !plain

package modules

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// authorize answers a server's demand for a name: by digest where it offers
// that, else in plain. It is "" when the server asks for another way.
func (h *httpClient) authorize(method string, target *url.URL, headers textproto.MIMEHeader) string {
	basic := ""
	for _, demand := range headers.Values("WWW-Authenticate") {
		scheme, rest, _ := strings.Cut(demand, " ")
		switch strings.ToLower(scheme) {
		case "digest":
			if answer := h.digest(method, target, authParams(rest)); answer != "" {
				return answer
			}
		case "basic":
			basic = "Basic " + base64.StdEncoding.EncodeToString([]byte(h.user+":"+h.password))
		}
	}
	return basic
}

// authParams reads key="value" pairs.
func authParams(text string) map[string]string {
	out := map[string]string{}
	for text != "" {
		name, rest, ok := strings.Cut(text, "=")
		if !ok {
			break
		}
		var val string
		if strings.HasPrefix(rest, `"`) {
			val, rest, _ = strings.Cut(rest[1:], `"`)
			_, rest, _ = strings.Cut(rest, ",")
		} else {
			val, rest, _ = strings.Cut(rest, ",")
		}
		out[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(val)
		text = rest
	}
	return out
}

// digest is an answer by RFC 7616, or "" for an unknown algorithm.
func (h *httpClient) digest(method string, target *url.URL, p map[string]string) string {
	algorithm := p["algorithm"]
	var sum func(parts ...string) string
	switch strings.ToUpper(algorithm) {
	case "", "MD5":
		sum = hexSum(md5.New)
	case "SHA":
		sum = hexSum(sha1.New)
	case "SHA-256":
		sum = hexSum(sha256.New)
	default:
		return ""
	}
	uri := target.RequestURI()
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails, see crypto/rand
	cnonce, nc := hex.EncodeToString(random), "00000001"
	secret, asked := sum(h.user, p["realm"], h.password), sum(method, uri)
	answer := fmt.Sprintf(`Digest username="%s", realm="%s", nonce="%s", uri="%s"`, h.user, p["realm"], p["nonce"], uri)
	response := sum(secret, p["nonce"], asked)
	if withQop(p["qop"]) {
		response = sum(secret, p["nonce"], nc, cnonce, "auth", asked)
		answer += fmt.Sprintf(`, qop=auth, nc=%s, cnonce="%s"`, nc, cnonce)
	}
	answer += `, response="` + response + `"`
	if p["opaque"] != "" {
		answer += `, opaque="` + p["opaque"] + `"`
	}
	if algorithm != "" {
		answer += ", algorithm=" + algorithm
	}
	return answer
}

func withQop(text string) bool {
	for _, q := range strings.Split(text, ",") {
		if strings.TrimSpace(q) == "auth" {
			return true
		}
	}
	return false
}

func hexSum(make func() hash.Hash) func(parts ...string) string {
	return func(parts ...string) string {
		h := make()
		h.Write([]byte(strings.Join(parts, ":")))
		return hex.EncodeToString(h.Sum(nil))
	}
}

// netrc finds a host's user in the file that $NETRC names, or in ~/.netrc.
func (h *httpClient) netrc(host string) (user, password string, ok bool) {
	path, _ := h.Getenv("NETRC")
	if path == "" {
		path = filepath.Join(h.Home, ".netrc")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", "", false
	}
	words := strings.Fields(string(text))
	mine := false
	for i := 0; i < len(words); i++ {
		arg := ""
		if i+1 < len(words) {
			arg = words[i+1]
		}
		switch words[i] {
		case "machine":
			if ok && mine {
				return user, password, true
			}
			mine = arg == host
			i++
		case "default":
			if ok && mine {
				return user, password, true
			}
			mine = true
		case "login":
			if mine {
				user, ok = arg, true
			}
			i++
		case "password":
			if mine {
				password = arg
			}
			i++
		}
	}
	return user, password, ok
}

// proxyFor reads the proxy of a URL from the call's environment: http_proxy,
// https_proxy, all_proxy and no_proxy. It is nil for none.
func proxyFor(c *Call, target *url.URL) (*url.URL, error) {
	get := func(name string) string {
		if text, ok := c.Getenv(name); ok && text != "" {
			return text
		}
		text, _ := c.Getenv(strings.ToUpper(name))
		return text
	}
	for _, rule := range strings.Split(get("no_proxy"), ",") {
		if spared(strings.TrimSpace(rule), target) {
			return nil, nil
		}
	}
	proxy := get(target.Scheme + "_proxy")
	if proxy == "" {
		proxy = get("all_proxy")
	}
	if proxy == "" {
		return nil, nil
	}
	if !strings.Contains(proxy, "://") {
		proxy = "http://" + proxy
	}
	return url.Parse(proxy)
}

// spared tells whether a no_proxy rule covers a URL: *, a host, or the end of one.
func spared(rule string, target *url.URL) bool {
	rule = strings.TrimPrefix(rule, ".")
	host := target.Hostname()
	switch {
	case rule == "":
		return false
	case rule == "*", rule == host, rule == target.Host:
		return true
	}
	return strings.HasSuffix(host, "."+rule)
}
