package config

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Option is what is known of one option.
type Option struct {
	Name    string
	Type    string   // "" (text), bool, int, float, list, path, pathlist, pathspec, tmp, string, dict, raw
	Default string   // JSON
	Env     []string // of several that are set the last wins
	Ini     []string // "section.key"; of several that are set the last wins
	Choices []string // nil: anything
}

// OfPlugin reports whether the option belongs to a plugin, such as
// connection.ssh.timeout, and not to the core.
func (o Option) OfPlugin() bool { return strings.Contains(o.Name, ".") }

//go:embed options.tsv
var recordedOptions string

//go:embed own.tsv
var ownOptions string

// Options lists every known option, sorted by name.
func Options() []Option {
	byName := map[string]Option{}
	for line := range strings.Lines(recordedOptions + ownOptions) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		o, err := parseOption(line)
		if err != nil {
			panic(err) // the tables are part of the program
		}
		byName[o.Name] = o
	}
	all := make([]Option, 0, len(byName))
	for _, o := range byName {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b Option) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func parseOption(line string) (Option, error) {
	f := strings.Split(line, "\t")
	if len(f) != 6 {
		return Option{}, fmt.Errorf("cannot read option table: %q has %d columns", line, len(f))
	}
	if !json.Valid([]byte(f[2])) {
		return Option{}, fmt.Errorf("cannot read option table: the default of %q is not JSON", f[0])
	}
	o := Option{Name: f[0], Type: f[1], Default: f[2], Env: strings.Fields(f[3]), Ini: strings.Fields(f[4])}
	if f[5] != "" {
		o.Choices = strings.Split(f[5], "|")
	}
	return o, nil
}
