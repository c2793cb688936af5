package jinja

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"play/modules/value"
)

// urlLookups fetch what a URL names.
func urlLookups() []Builtin {
	return []Builtin{{Name: "url", Params: "*terms, **options", Doc: "what URLs answer", Fn: lookupURL}}
}

func lookupURL(c *Call) (any, error) {
	client, err := urlClient(c)
	if err != nil {
		return nil, err
	}
	out := value.NewList()
	for _, term := range c.Rest {
		text, err := fetch(c, client, value.Str(term))
		if err != nil {
			return nil, err
		}
		if !lookupFlag(c, "split_lines", true) {
			out.Append(text)
			continue
		}
		for _, line := range splitLines(text) {
			out.Append(line)
		}
	}
	return out, nil
}

// urlClient makes a client of its own, so that its options reach no other.
func urlClient(c *Call) (*http.Client, error) {
	seconds, err := toFloat(lookupOption(c, "timeout", 10))
	if err != nil {
		return nil, err
	}
	t := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{}}
	if lookupFlag(c, "use_proxy", true) {
		t.Proxy = http.ProxyFromEnvironment
	}
	t.TLSClientConfig.InsecureSkipVerify = !lookupFlag(c, "validate_certs", true) // the operator's explicit wish
	if path := lookupText(c, "ca_path", ""); path != "" {
		pem, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("cannot find a certificate in %q", path)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	if lookupText(c, "follow_redirects", "urllib2") == "none" {
		return &http.Client{Transport: t, Timeout: time.Duration(seconds * float64(time.Second)),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
	}
	return &http.Client{Transport: t, Timeout: time.Duration(seconds * float64(time.Second))}, nil
}

func fetch(c *Call, client *http.Client, url string) (string, error) {
	ctx := c.Ctx.Go
	if ctx == nil {
		ctx = context.Background()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", lookupText(c, "http_agent", "ansible-httpget"))
	if headers, ok := asDict(lookupOption(c, "headers", nil)); ok {
		for k, v := range headers.All() {
			req.Header.Set(value.Str(k), value.Str(v))
		}
	}
	if user := lookupText(c, "username", ""); user != "" {
		req.SetBasicAuth(user, lookupText(c, "password", ""))
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("Failed lookup url for %s : %w", url, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		return "", fmt.Errorf("Received HTTP error for %s : HTTP Error %d: %s", url, resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxLookupFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("Failed lookup url for %s : %w", url, err)
	case len(body) > maxLookupFile:
		return "", errors.New("cannot use the answer: it is larger than 256 MiB")
	}
	return string(body), nil
}
