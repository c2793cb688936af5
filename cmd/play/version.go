package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"play/engine/config"
	"play/modules/value"
)

// Set by the build; see the Makefile.
var (
	version = "development"
	commit  = ""
)

func versionFlag() cli.Flag {
	return &cli.BoolFlag{Name: "version", Usage: "say version and commit, and stop"}
}

// showVersion answers --version. Under the name of one of Ansible's programs the
// first lines are those that other programs read from that.
func showVersion(h *host, name string) error {
	if _, tool := calledAs[name]; tool || name == "ansible-playbook" {
		cfg, err := config.Load(config.Source{Environ: h.Environ, Dir: h.Dir})
		if err != nil {
			return &codeError{exitOptions, err}
		}
		modules, _ := cfg.Lookup("DEFAULT_MODULE_PATH")
		fmt.Fprintf(h.Out, "%s [core %s]\n  config file = %s\n  configured module search path = %s\n  ansible collection location = %s\n  ",
			name, ansibleVersion, first(cfg.File, "None"), value.Str(modules), strings.Join(cfg.Settings.CollectionsPath, ":"))
	}
	_, err := fmt.Fprint(h.Out, versionText())
	return err
}

// versionText names version and commit.
func versionText() string {
	c := commit
	if c == "" {
		c = "unknown"
		if info, ok := debug.ReadBuildInfo(); ok {
			for _, s := range info.Settings {
				if s.Key == "vcs.revision" {
					c = s.Value[:min(12, len(s.Value))]
				}
			}
		}
	}
	return fmt.Sprintf("play %s (commit %s)\n", version, c)
}
