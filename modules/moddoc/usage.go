package moddoc

import (
	_ "embed" // the table
	"fmt"
	"strconv"
	"strings"
)

//go:embed usage.tsv
var usage string

// Use is how often playbooks name a module, by its full name.
type Use struct {
	Name  string
	Count int
}

// Uses reads the table of uses, the most used first. It holds the modules of
// the collections that the coverage is measured by.
func Uses() ([]Use, error) {
	var uses []Use
	for line := range strings.Lines(usage) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, count, _ := strings.Cut(strings.TrimSpace(line), "\t")
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, fmt.Errorf("cannot read the uses of %q: %w", name, err)
		}
		uses = append(uses, Use{name, n})
	}
	return uses, nil
}

// Coverage is the share of uses that are native.
type Coverage struct {
	Native, Total int
	Missing       []Use // the most used first
}

// Cover counts the uses for which native is true.
func Cover(uses []Use, native func(name string) bool) Coverage {
	var c Coverage
	for _, u := range uses {
		c.Total += u.Count
		if native(u.Name) {
			c.Native += u.Count
			continue
		}
		c.Missing = append(c.Missing, u)
	}
	return c
}

// Percent is the share in percent.
func (c Coverage) Percent() float64 { return 100 * float64(c.Native) / float64(c.Total) }
