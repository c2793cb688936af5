package main

import (
	"github.com/urfave/cli/v2"

	"play/engine/schema"
)

// schemaCommand prints the JSON Schema of the language's files.
func schemaCommand(h *host) *cli.Command {
	return &cli.Command{Name: "schema", Usage: "print a JSON Schema of playbooks, tasks, handlers, role-meta, inventory or vars, for editors", ArgsUsage: "[KIND]",
		Action: func(c *cli.Context) error {
			kind := c.Args().First()
			if kind == "" {
				kind = "playbook"
			}
			doc, err := schema.Of(kind)
			if err != nil {
				return usagef("%w", err)
			}
			return printJSON(h.Out, doc)
		}}
}
