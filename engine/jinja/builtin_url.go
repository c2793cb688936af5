package jinja

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"play/modules/value"
)

// urlFilters take URLs apart and quote their parts.
func urlFilters() []Builtin {
	return []Builtin{
		{Name: "urldecode", Doc: "undo the quoting of a URL", Fn: filterUrldecode},
		{Name: "urlencode", Doc: "quote for a URL; a dict becomes a query", Fn: filterUrlencode},
		{Name: "urlize", Params: "trim_url_limit=None, nofollow=False, target=None, rel=None, extra_schemes=None", Doc: "make links of URLs in a text", Fn: filterUrlize},
		{Name: "urlsplit", Params: "query='', alias='urlsplit'", Doc: "the parts of a URL, or one of them", Fn: filterUrlsplit},
	}
}

// urlQuote is urllib.parse.quote with a set of further safe characters.
func urlQuote(s, safe string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.-~"+safe, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}

func urlQuoteQuery(v any) string {
	return strings.ReplaceAll(urlQuote(value.Str(v), ""), "%20", "+")
}

func filterUrlencode(c *Call) (any, error) {
	if s, ok := c.Value.(string); ok {
		return urlQuote(s, "/"), nil
	}
	items, iterable := value.Items(c.Value)
	if d, ok := asDict(c.Value); ok {
		items = pairs(d).Items
	} else if !iterable {
		return urlQuote(value.Str(c.Value), "/"), nil
	}
	var parts []string
	for _, item := range items {
		pair, ok := value.Items(item)
		if !ok || len(pair) != 2 {
			return nil, fmt.Errorf("cannot unpack %s into a key and a value", value.Repr(item))
		}
		parts = append(parts, urlQuoteQuery(pair[0])+"="+urlQuoteQuery(pair[1]))
	}
	return strings.Join(parts, "&"), nil
}

func filterUrldecode(c *Call) (any, error) {
	return unquoteText(strings.ReplaceAll(value.Str(c.Value), "+", " ")), nil
}

// unquoteText is urllib.parse.unquote: a broken escape stays as it is.
func unquoteText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return strings.ToValidUTF8(b.String(), "\ufffd")
}

func filterUrlsplit(c *Call) (any, error) {
	parts, err := urlParts(value.Str(c.Value))
	if err != nil {
		return nil, err
	}
	query := value.Str(c.Args[0])
	if query == "" {
		return parts, nil
	}
	v, ok := parts.Get(query)
	if !ok {
		return nil, fmt.Errorf("%s: unknown URL component: %s", value.Str(c.Args[1]), query)
	}
	return v, nil
}

// urlParts is urllib.parse.urlsplit with its derived attributes, in the order
// of their names.
func urlParts(s string) (*value.Dict, error) {
	scheme, rest := splitScheme(strings.TrimLeft(s, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "))
	netloc := ""
	if strings.HasPrefix(rest, "//") {
		end := strings.IndexAny(rest[2:], "/?#")
		if end < 0 {
			end = len(rest) - 2
		}
		netloc, rest = rest[2:2+end], rest[2+end:]
		if strings.Contains(netloc, "[") != strings.Contains(netloc, "]") {
			return nil, fmt.Errorf("Invalid IPv6 URL")
		}
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	path, query, _ := strings.Cut(rest, "?")
	d := value.NewDict()
	host, port, err := hostPort(netloc)
	if err != nil {
		return nil, err
	}
	user, password := userInfo(netloc)
	d.Set("fragment", fragment)
	d.Set("hostname", host)
	d.Set("netloc", netloc)
	d.Set("password", password)
	d.Set("path", path)
	d.Set("port", port)
	d.Set("query", query)
	d.Set("scheme", scheme)
	d.Set("username", user)
	return d, nil
}

func splitScheme(s string) (scheme, rest string) {
	s = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(s)
	i := strings.IndexByte(s, ':')
	if i <= 0 {
		return "", s
	}
	if u, err := url.Parse(s[:i+1] + "//x"); err != nil || u.Scheme == "" {
		return "", s
	}
	return strings.ToLower(s[:i]), s[i+1:]
}

func userInfo(netloc string) (user, password any) {
	at := strings.LastIndexByte(netloc, '@')
	if at < 0 {
		return nil, nil
	}
	name, pass, ok := strings.Cut(netloc[:at], ":")
	if !ok {
		return name, nil
	}
	return name, pass
}

func hostPort(netloc string) (host, port any, err error) {
	hostport := netloc[strings.LastIndexByte(netloc, '@')+1:]
	name, digits := hostport, ""
	if i := strings.IndexByte(hostport, '['); i >= 0 {
		inner, after, _ := strings.Cut(hostport[i+1:], "]")
		_, digits, _ = strings.Cut(after, ":")
		name = inner
	} else {
		name, digits, _ = strings.Cut(hostport, ":")
	}
	if name != "" {
		host = lowerHost(name)
	}
	if digits == "" {
		return host, nil, nil
	}
	n, err := strconv.Atoi(digits)
	if err != nil || digits[0] == '+' || digits[0] == '-' {
		return nil, nil, fmt.Errorf("Port could not be cast to integer value as %s", value.Repr(digits))
	}
	if n > 65535 {
		return nil, nil, fmt.Errorf("Port out of range 0-65535")
	}
	return host, n, nil
}

// lowerHost keeps the zone of an IPv6 address as it is.
func lowerHost(name string) string {
	addr, zone, ok := strings.Cut(name, "%")
	if ok {
		return strings.ToLower(addr) + "%" + zone
	}
	return strings.ToLower(addr)
}
