package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"play/engine/config"
	"play/modules/value"
)

// configCommand shows the configuration as ansible-config does.
func configCommand(h *host) *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "read this `FILE` instead of the one that would be found"},
		&cli.StringFlag{Name: "type", Aliases: []string{"t"}, Value: "base", Usage: "`KIND` of options: base, or all with those of plugins"},
	}
	changed := &cli.BoolFlag{Name: "only-changed", Aliases: []string{"changed-only"}, Usage: "only what is not at its default"}
	sub := func(name, usage string, show func(*host, *cli.Context, *config.Config) error, more ...cli.Flag) *cli.Command {
		return &cli.Command{Name: name, Usage: usage, Flags: append(flags[:2:2], more...), UseShortOptionHandling: true,
			Action: func(c *cli.Context) error { return configAction(h, c, show) }}
	}
	return &cli.Command{Name: "config", Usage: "show the configuration and where it is set", Action: noSubcommand, Subcommands: []*cli.Command{
		sub("dump", "every option's value and where it was set", dumpConfig, changed),
		sub("list", "every option: type, default, variable, place in ansible.cfg", listConfig),
		sub("view", "print the configuration file", viewConfig),
	}}
}

func configAction(h *host, c *cli.Context, show func(*host, *cli.Context, *config.Config) error) error {
	if kind := c.String("type"); kind != "base" && kind != "all" {
		return usagef("--type is base or all, not %q", kind)
	}
	env := h.Environ
	if file := c.String("config"); file != "" {
		if _, err := os.Stat(file); err != nil {
			return usagef("the provided configuration file is missing or not accessible: %s", file)
		}
		env = append(env[:len(env):len(env)], "ANSIBLE_CONFIG="+file)
	}
	cfg, err := config.Load(config.Source{Environ: env, Dir: h.Dir})
	if err != nil {
		return &codeError{exitOptions, err}
	}
	for _, w := range cfg.Warnings {
		fmt.Fprintf(h.Err, "[WARNING]: %s\n", w)
	}
	return show(h, c, cfg)
}

func dumpConfig(h *host, c *cli.Context, cfg *config.Config) error {
	_, err := io.WriteString(h.Out, cfg.Dump(c.Bool("only-changed"), c.String("type") == "all"))
	return err
}

func viewConfig(h *host, _ *cli.Context, cfg *config.Config) error {
	if cfg.File == "" {
		return &codeError{exitError, fmt.Errorf("cannot find a configuration file to show")}
	}
	text, err := os.ReadFile(cfg.File)
	if err != nil {
		return fmt.Errorf("cannot read %q: %w", cfg.File, err)
	}
	_, err = h.Out.Write(text)
	return err
}

// listConfig prints what is known of the options, as YAML.
func listConfig(h *host, c *cli.Context, cfg *config.Config) error {
	var b strings.Builder
	for _, o := range config.Options() {
		if o.OfPlugin() && c.String("type") != "all" {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", o.Name)
		if len(o.Choices) > 0 {
			fmt.Fprintf(&b, "  choices: [%s]\n", strings.Join(o.Choices, ", "))
		}
		fmt.Fprintf(&b, "  default: %s\n", o.Default)
		places(&b, "env", o.Env, func(name string) string { return "name: " + name })
		places(&b, "ini", o.Ini, func(place string) string {
			section, key, _ := strings.Cut(place, ".")
			return "key: " + key + "\n    section: " + section
		})
		fmt.Fprintf(&b, "  type: %s\n", first(o.Type, "string"))
		if v, ok := cfg.Get(o.Name); ok && v.Origin() != "default" {
			fmt.Fprintf(&b, "  value: %s # %s\n", value.Str(v.Value), v.Origin())
		}
	}
	_, err := io.WriteString(h.Out, b.String())
	return err
}

func places(b *strings.Builder, title string, items []string, show func(string) string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "  %s:\n", title)
	for _, item := range items {
		fmt.Fprintf(b, "  - %s\n", show(item))
	}
}
