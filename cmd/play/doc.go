package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"play/engine/jinja"
	"play/engine/source"
)

// docCommand says what modules, filters, tests, lookups and roles take.
func docCommand(h *host) *cli.Command {
	return &cli.Command{
		Name: "doc", Usage: "what a module, filter, test, lookup or role takes", ArgsUsage: "NAME...",
		Flags: append(commonFlags(),
			&cli.StringFlag{Name: "type", Aliases: []string{"t"}, Value: "module", Usage: "`KIND`: module, filter, test, lookup, role"},
			&cli.BoolFlag{Name: "list", Aliases: []string{"l"}, Usage: "list the names"},
			&cli.BoolFlag{Name: "list_files", Aliases: []string{"F"}, Usage: "list the modules and where they come from"},
			&cli.BoolFlag{Name: "json", Aliases: []string{"j"}, Usage: "print JSON"},
			&cli.BoolFlag{Name: "snippet", Aliases: []string{"s"}, Usage: "print a task with all of the module's options"},
			&cli.BoolFlag{Name: "metadata-dump", Usage: "print everything that is known as JSON"},
			&cli.BoolFlag{Name: "no-fail-on-errors", Usage: "accepted, without effect: a part that cannot be read has no part in --metadata-dump"},
			&cli.StringSliceFlag{Name: "roles-path", Aliases: []string{"r"}, Usage: "look for roles in `FOLDER` first"},
			&cli.StringFlag{Name: "entry-point", Aliases: []string{"e"}, Usage: "of a role only the `ENTRY` point"},
			&cli.StringFlag{Name: "playbook-dir", Usage: "the `FOLDER` whose roles count", Value: "."},
			&cli.StringSliceFlag{Name: "module-path", Aliases: []string{"M"}, Usage: "accepted, without effect: `FOLDERS` hold modules in Python, whose documentation is not read"},
			versionFlag()),
		UseShortOptionHandling: true,
		Action:                 func(c *cli.Context) error { return docAction(h, c) },
	}
}

func docAction(h *host, c *cli.Context) error {
	d := &docs{out: h.Out, env: jinja.NewEnv(jinja.Options{})}
	kind, names := c.String("type"), c.Args().Slice()
	switch {
	case kind == "role":
		return docRoles(h, c, d)
	case c.Bool("metadata-dump"):
		return d.dump()
	case c.Bool("list_files"):
		return d.files()
	case c.Bool("list") && c.Bool("json"):
		return d.listData(kind)
	case c.Bool("list"):
		return d.list(kind)
	case len(names) == 0:
		return usagef("play doc takes the names of what to describe, or -l")
	case c.Bool("json"):
		return d.data(kind, names)
	}
	show := func(name string) error { return d.show(kind, name) }
	if c.Bool("snippet") {
		show = d.snippet
	}
	for _, name := range names {
		if err := show(name); err != nil {
			return err
		}
	}
	return nil
}

func docRoles(h *host, c *cli.Context, d *docs) error {
	o, err := readOptions(c.Context, h, c)
	if err != nil {
		return err
	}
	r := &roleDocs{docs: d, host: h, entry: c.String("entry-point"),
		dirs: slices.Concat(c.StringSlice("roles-path"), []string{filepath.Join(c.String("playbook-dir"), "roles")}, o.RolesPath)}
	if c.Bool("list") {
		return r.list()
	}
	return r.show(c.Args().Slice())
}

type docs struct {
	out io.Writer
	env *jinja.Env
}

// isBuiltin tells functions of templates from modules.
func isBuiltin(kind string) (bool, error) {
	switch kind {
	case "filter", "test", "lookup":
		return true, nil
	case "module":
		return false, nil
	}
	return false, usagef("there is no kind %q: module, filter, test, lookup, role", kind)
}

func (d *docs) list(kind string) error {
	builtin, err := isBuiltin(kind)
	if err != nil {
		return err
	}
	if !builtin {
		return d.listModules()
	}
	for _, name := range d.env.Names(kind) {
		b, _ := d.env.Describe(kind, name)
		fmt.Fprintf(d.out, "%-30s %s\n", name, b.Doc)
	}
	return nil
}

// show prints one entry.
func (d *docs) show(kind, name string) error {
	builtin, err := isBuiltin(kind)
	if err != nil {
		return err
	}
	if !builtin {
		return d.module(name)
	}
	b, ok := d.env.Describe(kind, name)
	if !ok {
		return unknown(kind, name, d.env.Names(kind))
	}
	fmt.Fprintf(d.out, "> %s\n\n  %s\n\n  %s\n\n", strings.ToUpper(b.Name), b.Doc, usage(kind, &b))
	return nil
}

// usage is how a function is written in a template.
func usage(kind string, b *jinja.Builtin) string {
	args := ""
	if b.Params != "" {
		args = "(" + b.Params + ")"
	}
	switch kind {
	case "filter":
		return "{{ value | " + b.Name + args + " }}"
	case "test":
		return "{{ value is " + b.Name + args + " }}"
	}
	return "{{ lookup('" + b.Name + "', " + b.Params + ") }}"
}

// unknown says that there is no such name, and the nearest one.
func unknown(kind, name string, names []string) error {
	err := &source.Error{Msg: fmt.Sprintf("there is no %s %q", kind, name)}
	if near := source.Nearest(name, names); near != "" {
		err.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return &codeError{exitError, err}
}
