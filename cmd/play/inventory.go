package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"play/engine/event"
	"play/engine/inventory"
)

// inventoryCommand shows the inventory as ansible-inventory does.
func inventoryCommand(h *host) *cli.Command {
	flags := append(hostFlags()[:3:3], vaultFlags()...)
	flags = append(flags, commonFlags()...)
	flags = append(flags,
		&cli.BoolFlag{Name: "list", Usage: "everything, as an inventory script prints it"},
		&cli.StringFlag{Name: "host", Usage: "the variables of `HOST`"},
		&cli.BoolFlag{Name: "graph", Usage: "the tree of groups and hosts"},
		&cli.BoolFlag{Name: "vars", Usage: "with --graph: variables too"},
		&cli.BoolFlag{Name: "export", Usage: "with --list: keep variables with their groups"},
		&cli.BoolFlag{Name: "yaml", Aliases: []string{"y"}, Usage: "YAML instead of JSON"},
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
	r := &inventory.Render{Inventory: s.inv.inv, PlaybookDir: c.String("playbook-dir"), Extra: s.extra, Export: c.Bool("export"), Merge: o.Settings.HashMerge}
	switch {
	case c.Bool("graph"):
		text, err := r.Graph(first(c.Args().First(), "all"), c.Bool("vars"))
		return printed(h, text, err)
	case c.String("host") != "":
		text, err := r.HostText(c.String("host"), c.Bool("yaml"))
		return printed(h, text, err)
	case c.Bool("list"):
		text, err := r.ListText(c.Bool("yaml"))
		return printed(h, text, err)
	}
	return usagef("no action selected, at least one of --host, --graph or --list needs to be specified")
}

func printed(h *host, text string, err error) error {
	if err == nil {
		_, err = fmt.Fprint(h.Out, text)
	}
	return err
}
