package yamlload

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
)

// YAML 1.1's escape "\/" is unknown to yaml.v3, and regular expressions in
// double quotes are full of it. It is hidden as "\P" (U+2029) before parsing
// and brought back after, both of one length, so that no column changes.
const (
	slashEscape = `\/`
	slashMask   = `\P`
	maskedSlash = "\u2029"
)

// maskSlashes hides "\/" unless the text has a use of its own for the mask; it
// reports whether it did.
func maskSlashes(data []byte) ([]byte, bool) {
	if !bytes.Contains(data, []byte(slashEscape)) ||
		bytes.Contains(data, []byte(slashMask)) || bytes.Contains(data, []byte(maskedSlash)) {
		return data, false
	}
	return bytes.ReplaceAll(data, []byte(slashEscape), []byte(slashMask)), true
}

// unmaskSlashes brings "/" back into double-quoted scalars, and "\/" into all
// others and behind an escaped backslash.
func unmaskSlashes(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && strings.ContainsAny(n.Value, "\\"+maskedSlash) {
		s := strings.ReplaceAll(n.Value, slashMask, slashEscape)
		n.Value = strings.ReplaceAll(s, maskedSlash, "/")
	}
	for _, child := range n.Content {
		unmaskSlashes(child)
	}
}
