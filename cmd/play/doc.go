package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"play/engine/jinja"
	"play/engine/source"
)

// docCommand says what modules, filters, tests and lookups take.
func docCommand(h *host) *cli.Command {
	return &cli.Command{
		Name: "doc", Usage: "what a module, filter, test or lookup takes", ArgsUsage: "NAME...",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "type", Aliases: []string{"t"}, Value: "module", Usage: "`KIND`: module, filter, test, lookup"},
			&cli.BoolFlag{Name: "list", Aliases: []string{"l"}, Usage: "list the names"},
		},
		UseShortOptionHandling: true,
		Action: func(c *cli.Context) error {
			d := &docs{out: h.Out, env: jinja.NewEnv(jinja.Options{})}
			if c.Bool("list") {
				return d.list(c.String("type"))
			}
			for _, name := range c.Args().Slice() {
				if err := d.show(c.String("type"), name); err != nil {
					return err
				}
			}
			return nil
		},
	}
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
	return false, usagef("there is no kind %q: module, filter, test, lookup", kind)
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
