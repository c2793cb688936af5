package playbook

import (
	"errors"
	"fmt"
	"strings"
)

// maxErrors is how many mistakes are reported at once.
const maxErrors = 1000

// The causes of mistakes that tell of a name that is not known here: a module,
// or a keyword.
var (
	ErrModule  = errors.New("unknown module")
	ErrKeyword = errors.New("unknown keyword")
)

// Errors are the mistakes found in the operator's files, in the order in which
// they were met: *source.Error each. More tells how many were left out.
type Errors struct {
	List []error
	More int
}

// Error gives every message on a line of its own.
func (e *Errors) Error() string {
	lines := make([]string, 0, len(e.List)+1)
	for _, err := range e.List {
		lines = append(lines, err.Error())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single mistakes.
func (e *Errors) Unwrap() []error { return e.List }

// add notes a mistake; one that stands in several errors is taken apart.
func (e *Errors) add(err error) {
	var several *Errors
	if errors.As(err, &several) {
		for _, one := range several.List {
			e.add(one)
		}
		return
	}
	if len(e.List) >= maxErrors {
		e.More++
		return
	}
	for _, known := range e.List {
		if known.Error() == err.Error() {
			return
		}
	}
	e.List = append(e.List, err)
}

// err returns nil when nothing was noted, and a single mistake as itself.
func (e *Errors) err() error {
	switch {
	case len(e.List) == 0:
		return nil
	case len(e.List) == 1 && e.More == 0:
		return e.List[0]
	}
	return e
}
