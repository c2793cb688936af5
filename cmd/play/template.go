package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/urfave/cli/v2"

	"play/engine/event"
	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/task"
	"play/modules/value"
)

// templateCommand renders a template file to stdout.
func templateCommand(h *host) *cli.Command {
	flags := append(hostFlags(), vaultFlags()...)
	flags = append(flags, commonFlags()...)
	flags = append(flags,
		&cli.StringFlag{Name: "host", Usage: "with the variables of `HOST`"},
		&cli.BoolFlag{Name: "check-undefined", Usage: "list the variables that are missing instead"},
		&cli.StringFlag{Name: "compat", Usage: "results as ansible-core `VERSION` has them"})
	return &cli.Command{
		Name: "template", Usage: "render a template file to stdout", ArgsUsage: "FILE", Flags: flags,
		UseShortOptionHandling: true,
		Action:                 func(c *cli.Context) error { return templateAction(h, c) },
	}
}

func templateAction(h *host, c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("play template takes one file")
	}
	o, err := readOptions(c.Context, h, c)
	if err != nil {
		return err
	}
	s, err := newSession(c.Context, h, o, event.Locked(newOutput(h, o)))
	if err != nil {
		return err
	}
	defer s.close()
	path := c.Args().First()
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the template %q: %w", path, err)
	}
	t, err := s.env.TemplateFile(path, data, jinja.FileOptions{})
	if err != nil {
		return err
	}
	ctx, err := s.hostContext(c.String("host"))
	if err != nil {
		return err
	}
	if c.Bool("check-undefined") {
		return listUndefined(h, t, ctx)
	}
	text, err := t.Render(ctx)
	if err != nil {
		return located(err, path)
	}
	fmt.Fprint(h.Out, text)
	return nil
}

// hostContext evaluates over a host's variables; "" is localhost's.
func (s *session) hostContext(name string) (*jinja.Context, error) {
	if name == "" {
		name = "localhost"
	} else if !s.inv.HasHost(name) {
		return nil, fmt.Errorf("there is no host %q in the inventory", name)
	}
	s.inv.dir, s.files = s.host.Dir, task.PlaybookFiles(s.host.Dir)
	view := s.builder.Play(&playbook.Play{Vars: value.NewDict(), Dir: s.host.Dir}, value.NewDict(), nil)
	scope, err := view.Scope(name, nil)
	if err != nil {
		return nil, err
	}
	return s.context(scope, s.files), nil
}

// missingName is how the error of an unknown variable names it.
var missingName = regexp.MustCompile(`^'([A-Za-z_][A-Za-z0-9_]*)' is undefined$`)

// listUndefined prints what the template needs and nobody sets: it renders,
// notes the name that is missing with its place, gives it an empty text, and
// renders again. Where the empty text does not do (in arithmetic), the rest is
// listed by name only.
func listUndefined(h *host, t *jinja.Template, ctx *jinja.Context) error {
	ctx.Locals = value.NewDict()
	for {
		_, err := t.Render(ctx)
		var undef *jinja.UndefinedError
		if err == nil {
			break
		}
		if !errors.As(err, &undef) {
			listUnset(h, t, ctx)
			break
		}
		m := missingName.FindStringSubmatch(undef.Msg)
		if m == nil {
			fmt.Fprintf(h.Out, "%s: %s\n", undef.Pos, undef.Msg)
			return &codeError{code: exitFailed}
		}
		if _, again := ctx.Locals.Get(m[1]); again {
			break
		}
		fmt.Fprintf(h.Out, "%s: %s\n", undef.Pos, m[1])
		ctx.Locals.Set(m[1], "")
	}
	if ctx.Locals.Len() > 0 {
		return &codeError{code: exitFailed}
	}
	return nil
}

// listUnset prints the names that the template reads and nobody sets, but for
// those that were listed.
func listUnset(h *host, t *jinja.Template, ctx *jinja.Context) {
	for _, name := range t.Variables() {
		if _, listed := ctx.Locals.Get(name); listed {
			continue
		}
		if _, set, _ := ctx.Lookup(name); !set {
			fmt.Fprintln(h.Out, name)
		}
	}
}

// located gives an undefined variable a place.
func located(err error, path string) error {
	var undef *jinja.UndefinedError
	var se *source.Error
	if errors.As(err, &undef) && !errors.As(err, &se) {
		pos := undef.Pos
		if pos.IsZero() {
			pos = source.Pos{File: path}
		}
		return &source.Error{Pos: pos, Msg: undef.Msg}
	}
	return err
}
