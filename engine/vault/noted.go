package vault

import (
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"play/engine/yamlload"
)

// minSecret is the length in bytes below which a text is no secret: taking it
// out would harm every other text.
const minSecret = 5

// masked stands where a secret was.
const masked = "********"

// Noted remembers what was decrypted, so that it can be taken out of texts that
// are kept. It is safe for concurrent use.
type Noted struct {
	inner yamlload.Decrypter

	mu      sync.RWMutex
	secrets map[string]bool
	replace *strings.Replacer // nil: to be made
}

var _ yamlload.Decrypter = (*Noted)(nil)

// Note returns a Noted over a decrypter, which may be nil.
func Note(inner yamlload.Decrypter) *Noted {
	return &Noted{inner: inner, secrets: map[string]bool{}}
}

// Decrypter is n as a decrypter, nil when there is none below it.
func (n *Noted) Decrypter() yamlload.Decrypter {
	if n.inner == nil {
		return nil
	}
	return n
}

// Decrypt decrypts and notes the plaintext: of YAML every text in it, of
// several lines each.
func (n *Noted) Decrypt(vaulttext []byte) ([]byte, error) {
	plain, err := n.inner.Decrypt(vaulttext)
	if err == nil {
		n.AddPlaintext(plain)
	}
	return plain, err
}

// AddPlaintext notes what was decrypted elsewhere: of YAML every text in it.
func (n *Noted) AddPlaintext(plain []byte) { n.Add(scalars(plain)...) }

// scalars are the texts of a YAML document that is a mapping or a list, or else
// the whole.
func scalars(plain []byte) []string {
	var doc yaml.Node
	if err := yaml.Unmarshal(plain, &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode {
		return []string{string(plain)}
	}
	return leaves(&doc, nil)
}

func leaves(n *yaml.Node, found []string) []string {
	switch n.Kind {
	case yaml.ScalarNode:
		return append(found, n.Value)
	case yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			found = leaves(n.Content[i], found)
		}
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, c := range n.Content {
			found = leaves(c, found)
		}
	}
	return found
}

// Add notes further secrets. Templates and short texts are passed over.
func (n *Noted) Add(secrets ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range secrets {
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); len(line) >= minSecret && !strings.Contains(line, "{{") && !n.secrets[line] {
				n.secrets[line], n.replace = true, nil
			}
		}
	}
}

// Mask puts stars where a text holds something that was noted.
func (n *Noted) Mask(text string) string {
	n.mu.RLock()
	none, replace := len(n.secrets) == 0, n.replace
	n.mu.RUnlock()
	if none || text == "" {
		return text
	}
	if replace == nil {
		replace = n.replacer()
	}
	return replace.Replace(text)
}

// replacer makes the replacer; longer secrets come first.
func (n *Noted) replacer() *strings.Replacer {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.replace == nil {
		var all []string
		for s := range n.secrets {
			all = append(all, s)
		}
		slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
		var pairs []string
		for _, s := range all {
			pairs = append(pairs, s, masked)
		}
		n.replace = strings.NewReplacer(pairs...)
	}
	return n.replace
}
