// Command moddoc writes docs/modules.md, or prints which share of the modules'
// uses in playbooks is native. The lists of modules and actions, what package
// moddoc tells of them and their recorded cases flow in; text flows out. It
// runs no module.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"play/action"
	"play/modules"
	"play/modules/moddoc"
	"play/modules/value"
)

const help = "usage: moddoc coverage | moddoc table\nrun it in the project's folder"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) == 1 {
		switch args[0] {
		case "coverage":
			return coverage(out)
		case "table":
			return table(out, os.DirFS("."))
		}
	}
	return fmt.Errorf("cannot tell what to print\n%s", help)
}

// coverage prints the share of uses that are native, and what is missing.
func coverage(out io.Writer) error {
	c, err := covered()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "native: %.1f %% of the uses of modules (%d of %d)\n", c.Percent(), c.Native, c.Total)
	for _, u := range c.Missing {
		fmt.Fprintf(out, "%5d  %s\n", u.Count, u.Name)
	}
	return nil
}

// covered counts the uses that modules or actions serve.
func covered() (moddoc.Coverage, error) {
	uses, err := moddoc.Uses()
	if err != nil {
		return moddoc.Coverage{}, err
	}
	native := map[string]bool{}
	for _, m := range natives() {
		for _, name := range m.names {
			native[name] = true
		}
	}
	return moddoc.Cover(uses, func(name string) bool { return native[name] }), nil
}

// native is one module or action.
type native struct {
	short  string
	names  []string // the full names, its own first
	doc    string
	action bool // served on the control machine, with or without a module
	module bool
	full   bool // the full agent alone has the module
}

// natives lists all that serves tasks, modules first.
func natives() []native {
	var list []native
	at := map[string]int{}
	for _, m := range modules.All() {
		if strings.HasPrefix(m.Name, "_") { // of the agent's own
			continue
		}
		at[m.Name] = len(list)
		list = append(list, native{short: m.Name, names: m.FullNames(), doc: m.Doc, module: true, full: m.Full(value.NewDict())})
	}
	for _, name := range action.Names() {
		if i, ok := at[name]; ok {
			list[i].action = true
			continue
		}
		e, _ := moddoc.Find(name)
		list = append(list, native{short: name, names: modules.FullNames(name, action.Collections[name]), doc: e.Doc, action: true})
	}
	return list
}
