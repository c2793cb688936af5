package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"play/modules/moddoc"
)

const intro = `# Native modules

Made by ` + "`make docs`" + `; do not edit. ` + "`play doc NAME`" + ` prints a module's options, examples and returned values.

A module runs in the agent on the host (those marked "full" in the second, larger agent, which a host gets only where a task
needs it, see [the protocol](protocol.md#two-agents)); an action runs on the control machine, and uses the host where its work is there. Cases are
recorded: the same arguments on the same tree were given to the reference's own module (ansible-core 2.14 and its collections), and
the native one gives the same result and leaves the same tree. "same" counts those that find nothing to do, "check" those in check mode,
"wrong" those that fail. Where a tool would change the machine, a stub stands in for it and what it is told is compared;
` + "`connection/inside/root_test.go`" + ` gives user, group, getent, authorized_key, cron, apt, apt_repository, dpkg_selections, debconf,
alternatives and locale_gen the real tools, in a root file system that is thrown away, and compares with what the reference did there.

`

// recorded is what the file of a module's recorded cases holds, as far as it is
// counted.
type recorded struct {
	Unrecorded string
	Cases      []struct {
		Check  bool
		Result map[string]json.RawMessage // numbers in it may be larger than Go's
	}
}

// tally counts the kinds of a module's recorded cases.
type tally struct{ all, same, check, wrong int }

func (r *recorded) tally() tally {
	t := tally{all: len(r.Cases)}
	for _, c := range r.Cases {
		switch {
		case string(c.Result["failed"]) == "true" || c.Result["crash"] != nil:
			t.wrong++
		case string(c.Result["changed"]) != "true":
			t.same++
		}
		if c.Check {
			t.check++
		}
	}
	return t
}

// readCases reads the recorded cases of a module; there may be none.
func readCases(project fs.FS, name string) (*recorded, error) {
	text, err := fs.ReadFile(project, "modules/testdata/cases/"+name+".json")
	var r recorded
	if errors.Is(err, fs.ErrNotExist) {
		return &r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the cases of %q: %w", name, err)
	}
	return &r, nil
}

// table prints the page of all modules.
func table(out io.Writer, project fs.FS) error {
	c, err := covered()
	if err != nil {
		return err
	}
	fmt.Fprint(out, intro)
	fmt.Fprintf(out, "%.1f %% of the uses of ansible.builtin, ansible.posix, community.general, community.crypto and community.docker\n"+
		"in 54 public playbook repositories are native (`make coverage` lists the others).\n\n", c.Percent())
	list := natives()
	slices.SortFunc(list, func(a, b native) int { return cmp.Compare(a.names[0], b.names[0]) })
	fmt.Fprint(out, "| Module | What it does | Runs as | Cases | same | check | wrong |\n|---|---|---|---|---|---|---|\n")
	var notes strings.Builder
	for _, m := range list {
		if err := row(out, &notes, project, m); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\n## Known gaps, and what was compared with what\n\n%s", notes.String())
	return nil
}

// row prints one module, and its notes.
func row(out io.Writer, notes *strings.Builder, project fs.FS, m native) error {
	r, err := readCases(project, m.short)
	if err != nil {
		return err
	}
	counts := " | | | "
	if t := r.tally(); t.all > 0 {
		counts = fmt.Sprintf("%d | %d | %d | %d", t.all, t.same, t.check, t.wrong)
	}
	fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", m.names[0], m.doc, kind(m), counts)
	e, _ := moddoc.Find(m.short)
	if len(m.names) > 1 {
		fmt.Fprintf(notes, "- `%s`: also called %s.\n", m.names[0], "`"+strings.Join(m.names[1:], "`, `")+"`")
	}
	if r.Unrecorded != "" {
		fmt.Fprintf(notes, "- `%s`: not compared with the reference's own module: %s.\n", m.names[0], r.Unrecorded)
	}
	if e.Tested != "" {
		fmt.Fprintf(notes, "- `%s`: tested against %s.\n", m.names[0], e.Tested)
	}
	for _, g := range e.Gaps {
		fmt.Fprintf(notes, "- `%s`: %s\n", m.names[0], g)
	}
	return nil
}

// kind tells where a module runs.
func kind(m native) string {
	switch {
	case m.action && !m.module:
		return "action"
	case m.action:
		return "action and module" + agent(m)
	}
	return "module" + agent(m)
}

// agent tells which agent has the module, if not every one.
func agent(m native) string {
	if m.full {
		return " (full)"
	}
	return ""
}
