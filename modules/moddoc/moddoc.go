// Package moddoc holds what is told of native modules beyond their arguments:
// examples, returned values, known gaps, how often playbooks use them. A
// module's name flows in, an Entry flows out. The control machine's programs
// ask; the agent never links this package, so its data cost the agent nothing.
package moddoc

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed data
var data embed.FS

// Entry is what is told of one module or action.
type Entry struct {
	// Doc and Options describe an action: one without a module, or one that
	// takes other arguments than the module that is its half on the host.
	Doc     string
	Options []Pair
	// Examples are tasks, as YAML.
	Examples string
	// Returns are the values of a result, those left out that every module
	// returns or that repeat an argument.
	Returns []Pair
	// Gaps are known differences from the reference, one sentence each.
	Gaps []string
	// Tested tells what a module was compared with where that was not the
	// reference's own module.
	Tested string
}

// Pair is a name and what it means.
type Pair struct{ Name, Text string }

// Find returns what is told of a module by its short name; false when nothing is.
func Find(name string) (Entry, bool) {
	text, err := data.ReadFile("data/" + name + ".yml")
	if err != nil {
		return Entry{}, false
	}
	e, err := read(text)
	if err != nil {
		return Entry{}, false // a test reads every file
	}
	return e, true
}

// Names lists the modules that have an entry, sorted.
func Names() []string {
	files, err := data.ReadDir("data")
	if err != nil {
		return nil // it is embedded
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), path.Ext(f.Name())))
	}
	return names
}

func read(text []byte) (Entry, error) {
	var file struct {
		Doc      string
		Options  yaml.Node
		Examples string
		Returns  yaml.Node
		Gaps     []string
		Tested   string
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return Entry{}, fmt.Errorf("cannot read an entry: %w", err)
	}
	return Entry{Doc: file.Doc, Options: pairs(&file.Options), Examples: file.Examples, Returns: pairs(&file.Returns),
		Gaps: file.Gaps, Tested: file.Tested}, nil
}

// pairs reads a mapping in its order.
func pairs(n *yaml.Node) []Pair {
	var out []Pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		out = append(out, Pair{n.Content[i].Value, n.Content[i+1].Value})
	}
	return out
}
