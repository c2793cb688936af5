// Package facts finds out what a host is: system, distribution, network,
// hardware and more, under the names that Ansible's setup gives. Flowing in: a
// Host to look at and the wanted subsets. Flowing out: facts by name, without
// the "ansible_" in front. The setup module calls it. It changes nothing, and no
// collector can hold up the others.
package facts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"play/modules/value"
)

// Host is the machine that is looked at.
type Host struct {
	Root string   // folder in front of every file name; "": the machine's own files
	Env  []string // environment of the user and of programs that are asked
	// Run runs a program and returns its output; false when it is missing or
	// failed.
	Run      func(ctx context.Context, argv ...string) (string, bool)
	Now      func() time.Time
	UID, GID int    // the user's
	FactPath string // folder of local facts; "": none
}

// collector finds some facts.
type collector struct {
	name    string   // the subset's name
	aliases []string // further subset names
	min     bool     // part of the minimal subset
	needs   []string // collectors that come along
	run     func(ctx context.Context, h *Host) (*value.Dict, []string, error)
}

// Gathered is what Gather found.
type Gathered struct {
	Facts    *value.Dict
	Warnings []string
}

// Gather runs the collectors of the wanted subsets, each with its own time
// limit; those that fail or are too slow leave a warning. The error is about an
// unknown subset.
func Gather(ctx context.Context, h *Host, subsets []string, limit time.Duration) (*Gathered, error) {
	chosen, err := choose(collectors(), subsets)
	if err != nil {
		return nil, err
	}
	out := gather(ctx, h, chosen, limit)
	return out, context.Cause(ctx)
}

// gather runs collectors at the same time and waits at most for the limit.
func gather(ctx context.Context, h *Host, chosen []collector, limit time.Duration) *Gathered {
	type answer struct {
		facts    *value.Dict
		warnings []string
	}
	answers := make([]chan answer, len(chosen))
	for i, c := range chosen {
		answers[i] = make(chan answer, 1)
		go func() {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			facts, warnings := c.guarded(ctx, h)
			answers[i] <- answer{facts, warnings}
		}()
	}
	late, cancel := context.WithTimeout(ctx, limit+limit/10)
	defer cancel()
	out := &Gathered{Facts: value.NewDict()}
	for i, c := range chosen {
		var a answer
		select {
		case a = <-answers[i]:
		default:
			select {
			case a = <-answers[i]:
			case <-late.Done():
				a.warnings = []string{fmt.Sprintf("cannot gather the %s facts within %s", c.name, limit)}
			}
		}
		out.Facts.Update(a.facts)
		out.Warnings = append(out.Warnings, a.warnings...)
	}
	return out
}

// guarded turns the failure of a collector, a panic too, into a warning.
func (c *collector) guarded(ctx context.Context, h *Host) (facts *value.Dict, warnings []string) {
	defer func() {
		if p := recover(); p != nil {
			facts, warnings = nil, []string{fmt.Sprintf("cannot gather the %s facts: %v", c.name, p)}
		}
	}()
	facts, warnings, err := c.run(ctx, h)
	if err != nil {
		warnings = append(warnings, fmt.Sprintf("cannot gather the %s facts: %v", c.name, err))
	}
	return facts, warnings
}

// simple adapts a collector that cannot fail.
func simple(f func(h *Host) *value.Dict) func(context.Context, *Host) (*value.Dict, []string, error) {
	return func(_ context.Context, h *Host) (*value.Dict, []string, error) { return f(h), nil, nil }
}

// asking adapts a collector that runs programs but cannot fail.
func asking(f func(ctx context.Context, h *Host) *value.Dict) func(context.Context, *Host) (*value.Dict, []string, error) {
	return func(ctx context.Context, h *Host) (*value.Dict, []string, error) { return f(ctx, h), nil, nil }
}

func (h *Host) path(name string) string { return h.Root + name }

// read returns a file's content without white space around it; "" when it
// cannot be read.
func (h *Host) read(name string) string {
	data, err := os.ReadFile(h.path(name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// readOr is read with a fallback for an empty or missing file.
func (h *Host) readOr(name string, fallback any) any {
	if s := h.read(name); s != "" {
		return s
	}
	return fallback
}

func (h *Host) lines(name string) []string {
	text := h.read(name)
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (h *Host) exists(name string) bool {
	_, err := os.Stat(h.path(name))
	return err == nil
}

func (h *Host) isDir(name string) bool {
	info, err := os.Stat(h.path(name))
	return err == nil && info.IsDir()
}

// list returns the sorted names in a folder.
func (h *Host) list(dir string) []string {
	entries, err := os.ReadDir(h.path(dir))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	sort.Strings(names)
	return names
}

// linkBase returns the last part of what a link says.
func (h *Host) linkBase(name string) string {
	target, err := os.Readlink(h.path(name))
	if err != nil {
		return ""
	}
	return filepath.Base(target)
}

// ask runs a program and returns its output; "" when it is missing or failed.
func (h *Host) ask(ctx context.Context, argv ...string) string {
	if h.Run == nil {
		return ""
	}
	out, ok := h.Run(ctx, argv...)
	if !ok {
		return ""
	}
	return out
}

func listOf(items []string) *value.List {
	l := value.NewList()
	for _, s := range items {
		l.Append(s)
	}
	return l
}
