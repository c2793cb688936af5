package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"play/engine/event"
	"play/engine/inventory"
	"play/modules/atomicfile"
)

// inventoryCommand shows the inventory as ansible-inventory does.
func inventoryCommand(h *host) *cli.Command {
	flags := append(hostFlags()[:3:3], vaultFlags()...)
	flags = append(flags, commonFlags()...)
	flags = append(flags, versionFlag())
	flags = append(flags,
		&cli.BoolFlag{Name: "list", Usage: "everything, as an inventory script prints it"},
		&cli.StringFlag{Name: "host", Usage: "the variables of `HOST`"},
		&cli.BoolFlag{Name: "graph", Usage: "the tree of groups and hosts"},
		&cli.BoolFlag{Name: "vars", Usage: "with --graph: variables too"},
		&cli.BoolFlag{Name: "export", Usage: "with --list: keep variables with their groups"},
		&cli.BoolFlag{Name: "yaml", Aliases: []string{"y"}, Usage: "YAML instead of JSON"},
		&cli.BoolFlag{Name: "toml", Usage: "with --list: TOML instead of JSON"},
		&cli.StringFlag{Name: "output", Usage: "write to `FILE`"},
		&cli.StringFlag{Name: "playbook-dir", Usage: "the `FOLDER` whose group_vars and host_vars count"})
	return &cli.Command{
		Name: "inventory", Usage: "show hosts, groups and variables", ArgsUsage: "[GROUP]", Flags: flags,
		UseShortOptionHandling: true,
		Action:                 func(c *cli.Context) error { return inventoryAction(h, c) },
	}
}

func inventoryAction(h *host, c *cli.Context) error {
	o, err := readOptions(c.Context, h, c)
	if err != nil {
		return err
	}
	s, err := newSession(c.Context, h, o, event.Locked(newOutput(h, o)))
	if err != nil {
		return err
	}
	defer s.close()
	if chosen(c, "list", "graph", "host") > 1 {
		return usagef("Conflicting options used, only one of --host, --graph or --list can be used at the same time.")
	}
	r := &inventory.Render{Inventory: s.inv.inv.Load(), PlaybookDir: first(c.String("playbook-dir"), word(o.Config, "PLAYBOOK_DIR")), Extra: s.extra, Export: c.Bool("export") || configured(o.Config, "INVENTORY_EXPORT"), Merge: o.Settings.HashMerge}
	switch {
	case c.Bool("graph"):
		name := first(c.Args().First(), "all")
		if _, ok := s.inv.inv.Load().Group(name); !ok {
			return usagef("Pattern must be valid group name when using --graph")
		}
		text, err := r.Graph(name, c.Bool("vars"))
		return printed(h, c, text, err)
	case c.String("host") != "":
		if !s.inv.HasHost(c.String("host")) {
			return usagef("Could not match supplied host pattern, ignoring: %s", c.String("host"))
		}
		text, err := r.HostText(c.String("host"), c.Bool("yaml"))
		return printed(h, c, text, err)
	case c.Bool("list") && c.Bool("toml") && !c.Bool("yaml"):
		text, err := r.TOMLText()
		return printed(h, c, text, err)
	case c.Bool("list"):
		text, err := r.ListText(c.Bool("yaml"))
		return printed(h, c, text, err)
	}
	return usagef("No action selected, at least one of --host, --graph or --list needs to be specified.")
}

// chosen counts the options that are given.
func chosen(c *cli.Context, names ...string) int {
	n := 0
	for _, name := range names {
		if c.IsSet(name) {
			n++
		}
	}
	return n
}

// printed shows a text, or writes it to the file of --output.
func printed(h *host, c *cli.Context, text string, err error) error {
	if err != nil {
		return err
	}
	if file := c.String("output"); file != "" {
		return atomicfile.Write(h.path(file), strings.NewReader(text), atomicfile.Options{})
	}
	_, err = fmt.Fprint(h.Out, text)
	return err
}
