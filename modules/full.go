package modules

import (
	"slices"
	"strings"
	"time"

	"play/modules/value"
)

// There are two agents. The plain one has most modules and goes to every host;
// the full one has all of them, and HTTP with TLS, and goes where a task needs it.
// The plain one is built with the tag "plain", which leaves out the files that
// say so.

// Web sends requests for modules of both agents; HTTP is the only one. It is
// handed in, since the plain agent has none.
type Web func(h *httpClient, method, address string, body []byte, since time.Time) (*httpReply, error)

// Downloads names arguments (and their aliases) that may be an address to get
// something from: with one, the call needs the full agent.
func (m Module) Downloads(args ...string) Module {
	m.downloads = args
	return m
}

// Full tells whether a call with these arguments needs the full agent.
func (m Module) Full(args *value.Dict) bool {
	return m.large || slices.ContainsFunc(m.downloads, func(name string) bool {
		text, _ := args.Get(name)
		return isAddress(text)
	})
}

// isAddress tells whether text begins as a URL does. A list of packages, a line
// of sources.list or a key only has one further on.
func isAddress(v any) bool {
	text, _ := v.(string)
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return strings.Contains(first, "://") || strings.HasPrefix(first, "ppa:")
}
