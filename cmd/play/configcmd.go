package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"play/engine/config"
	"play/engine/yamldump"
	"play/modules/value"
)

// configCommand shows the configuration as ansible-config does.
func configCommand(h *host) *cli.Command {
	sub := func(name, usage string, forms []string, show func(*configTool) error, more ...cli.Flag) *cli.Command {
		flags := append(configFlags(forms), commonFlags()...)
		return &cli.Command{Name: name, Usage: usage, ArgsUsage: "[PLUGIN...]", Flags: append(flags, more...), UseShortOptionHandling: true,
			Action: func(c *cli.Context) error { return configAction(h, c, forms, show) }}
	}
	return &cli.Command{Name: "config", Usage: "show the configuration and where it is set", Action: noSubcommand, Subcommands: []*cli.Command{
		sub("dump", "every option's value and where it was set", []string{"display", "json", "yaml"}, (*configTool).dump,
			&cli.BoolFlag{Name: "only-changed", Aliases: []string{"changed-only"}, Usage: "only what is not at its default"}),
		sub("init", "print a first configuration, every option at its default", config.Forms, (*configTool).init,
			&cli.BoolFlag{Name: "disabled", Usage: "comment every option out"}),
		sub("list", "every option: type, default, variable, place in ansible.cfg", []string{"yaml", "json"}, (*configTool).list),
		sub("view", "print the configuration file", nil, (*configTool).view),
	}}
}

// configFlags are the options of a subcommand that prints in these forms, the
// first by default.
func configFlags(forms []string) []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "read this `FILE` instead of the one that would be found"},
		&cli.StringFlag{Name: "type", Aliases: []string{"t"}, Value: "base", Usage: "`KIND` of options: base, all, or a type of plugin such as connection"},
	}
	if len(forms) > 0 {
		flags = append(flags, &cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: forms[0], Usage: "`FORM` of the output: " + strings.Join(forms, ", ")})
	}
	return flags
}

// configTool is one config command.
type configTool struct {
	host   *host
	cli    *cli.Context
	config *config.Config
	choice config.Choice
	form   string
}

func configAction(h *host, c *cli.Context, forms []string, show func(*configTool) error) error {
	t := &configTool{host: h, cli: c, choice: config.Choice{Kind: c.String("type"), Plugins: c.Args().Slice()}, form: c.String("format")}
	if !slices.Contains(config.Kinds, t.choice.Kind) {
		return &codeError{exitUsage, fmt.Errorf("--type is one of %s, not %q", strings.Join(config.Kinds, ", "), t.choice.Kind)}
	}
	if len(forms) > 0 && !slices.Contains(forms, t.form) {
		return &codeError{exitUsage, fmt.Errorf("--format is one of %s, not %q", strings.Join(forms, ", "), t.form)}
	}
	env := h.Environ
	if file := c.String("config"); file != "" {
		if _, err := os.Stat(file); err != nil {
			return usagef("the provided configuration file is missing or not accessible: %s", file)
		}
		env = append(env[:len(env):len(env)], "ANSIBLE_CONFIG="+file)
	}
	var err error
	if t.config, err = config.Load(config.Source{Environ: env, Dir: h.Dir}); err != nil {
		return &codeError{exitOptions, err}
	}
	for _, w := range t.config.Warnings {
		fmt.Fprintf(h.Err, "[WARNING]: %s\n", w)
	}
	return show(t)
}

func (t *configTool) print(text string) error {
	_, err := io.WriteString(t.host.Out, text)
	return err
}

// printData prints data as JSON or YAML.
func (t *configTool) printData(data any) error {
	if t.form == "json" {
		text, err := value.EncodeJSON(data, value.JSONOptions{Multiline: true, Indent: "    ", SortKeys: true})
		if err != nil {
			return err
		}
		return t.print(text + "\n")
	}
	text, err := yamldump.Dump(data, yamldump.Options{Flow: yamldump.FlowNever})
	if err != nil {
		return err
	}
	return t.print(text)
}

func (t *configTool) dump() error {
	changed := t.cli.Bool("only-changed")
	if t.form == "display" {
		return t.print(t.config.Dump(t.choice, changed))
	}
	return t.printData(t.config.Entries(t.choice, changed))
}

func (t *configTool) init() error {
	return t.print(t.config.Init(t.choice, t.form, t.cli.Bool("disabled")))
}

func (t *configTool) list() error { return t.printData(t.config.Table(t.choice)) }

func (t *configTool) view() error {
	if t.config.File == "" {
		return &codeError{exitError, fmt.Errorf("cannot find a configuration file to show")}
	}
	text, err := os.ReadFile(t.config.File)
	if err != nil {
		return fmt.Errorf("cannot read %q: %w", t.config.File, err)
	}
	return t.print(string(text))
}
