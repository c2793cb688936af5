package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"play/engine/source"
)

// Categories of options in the help text.
const (
	catRun     = "What to run"
	catHosts   = "Hosts and variables"
	catConnect = "Connection"
	catBecome  = "Privilege escalation"
	catVault   = "Vault"
)

func hostFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "inventory", Aliases: []string{"i", "inventory-file"}, Usage: "inventory `SOURCE`: a file, a folder, a script, or \"host1,host2,\"", Category: catHosts},
		&cli.StringSliceFlag{Name: "limit", Aliases: []string{"l"}, Usage: "only these `HOSTS` of each play (a pattern, or @file)", Category: catHosts},
		&cli.StringSliceFlag{Name: "extra-vars", Aliases: []string{"e"}, Usage: "`VARS` over all others: k=v, YAML, JSON, or @file", Category: catHosts},
		&cli.BoolFlag{Name: "list-hosts", Usage: "list the matching hosts and stop", Category: catHosts},
		&cli.BoolFlag{Name: "flush-cache", Usage: "forget the cached facts of every host", Category: catHosts},
	}
}

func runFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "tags", Aliases: []string{"t"}, Usage: "only tasks with these `TAGS`", Category: catRun},
		&cli.StringSliceFlag{Name: "skip-tags", Usage: "no tasks with these `TAGS`", Category: catRun},
		&cli.BoolFlag{Name: "check", Aliases: []string{"C"}, Usage: "change nothing, say what would change", Category: catRun},
		&cli.BoolFlag{Name: "diff", Aliases: []string{"D"}, Usage: "show what changes in files and templates", Category: catRun},
		&cli.IntFlag{Name: "forks", Aliases: []string{"f"}, Usage: "at most `N` hosts at a time", Category: catRun},
		&cli.BoolFlag{Name: "list-tasks", Usage: "list the tasks and stop", Category: catRun},
		&cli.BoolFlag{Name: "list-tags", Usage: "list the tags and stop", Category: catRun},
		&cli.BoolFlag{Name: "syntax-check", Usage: "load everything, run nothing", Category: catRun},
		&cli.StringFlag{Name: "preflight", Usage: "only list what is not supported; with =`warn` warn of it and run", Category: catRun},
		&cli.BoolFlag{Name: "strict", Usage: "refuse files of this machine, outside the playbook's folders, that a host's data chose", Category: catRun},
		&cli.BoolFlag{Name: "step", Usage: "ask before each task", Category: catRun},
		&cli.StringFlag{Name: "start-at-task", Usage: "begin with the task of this `NAME`", Category: catRun},
		&cli.BoolFlag{Name: "force-handlers", Usage: "run handlers even when a task fails", Category: catRun},
		&cli.StringFlag{Name: "events", Usage: "write each event of the run as a line of JSON to `FILE` or the open file descriptor of that number", Category: catRun},
		&cli.BoolFlag{Name: "live", Usage: "show the last line of running commands' output in the status block", Category: catRun},
		&cli.BoolFlag{Name: "no-live", Usage: "no status block at the foot of the terminal", Category: catRun},
		&cli.BoolFlag{Name: "no-history", Usage: "do not keep the run in the history", Category: catRun},
		&cli.StringFlag{Name: "compat", Usage: "template results as ansible-core `VERSION` has them: 2.18 or 2.19", EnvVars: []string{"PLAY_COMPAT"}, Category: catRun},
		&cli.StringSliceFlag{Name: "module-path", Aliases: []string{"M"}, Usage: "look for modules in these `FOLDERS` too", Category: catRun},
	}
}

func connectFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "user", Aliases: []string{"u"}, Usage: "log in as `USER`", Category: catConnect},
		&cli.StringFlag{Name: "private-key", Aliases: []string{"key-file"}, Usage: "log in with the key in `FILE`", Category: catConnect},
		&cli.StringFlag{Name: "connection", Aliases: []string{"c"}, Usage: "`KIND` of connection: ssh or local", Category: catConnect},
		&cli.IntFlag{Name: "timeout", Aliases: []string{"T"}, Usage: "give up connecting after `SECONDS`", Category: catConnect},
		&cli.StringFlag{Name: "ssh-common-args", Usage: "ssh `OPTIONS` (-o Name=Value …) for every connection", Category: catConnect},
		&cli.StringFlag{Name: "ssh-extra-args", Usage: "further ssh `OPTIONS`", Category: catConnect},
		&cli.StringFlag{Name: "sftp-extra-args", Usage: "accepted, without effect", Hidden: true},
		&cli.StringFlag{Name: "scp-extra-args", Usage: "accepted, without effect", Hidden: true},
		&cli.BoolFlag{Name: "ask-pass", Aliases: []string{"k"}, Usage: "ask for the login password", Category: catConnect},
		&cli.StringFlag{Name: "connection-password-file", Aliases: []string{"conn-pass-file"}, Usage: "read the login password from `FILE`", Category: catConnect},
		&cli.BoolFlag{Name: "accept-new-host-keys", Usage: "record the keys of hosts that are not known yet", Category: catConnect},
		&cli.BoolFlag{Name: "become", Aliases: []string{"b"}, Usage: "run as another user", Category: catBecome},
		&cli.StringFlag{Name: "become-method", Usage: "`METHOD`: sudo, su or doas", Category: catBecome},
		&cli.StringFlag{Name: "become-user", Usage: "become `USER`, root if not given", Category: catBecome},
		&cli.BoolFlag{Name: "ask-become-pass", Aliases: []string{"K"}, Usage: "ask for the become password", Category: catBecome},
		&cli.StringFlag{Name: "become-password-file", Aliases: []string{"become-pass-file"}, Usage: "read the become password from `FILE`", Category: catBecome},
	}
}

func vaultFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "vault-id", Usage: "vault `ID`: label@source, where source is a file, a script or prompt", Category: catVault},
		&cli.StringSliceFlag{Name: "vault-password-file", Aliases: []string{"vault-pass-file"}, Usage: "read a vault password from `FILE`", Category: catVault},
		&cli.BoolFlag{Name: "ask-vault-password", Aliases: []string{"J", "ask-vault-pass"}, Usage: "ask for the vault password", Category: catVault},
	}
}

func commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "say more; up to -vvvvvv", Count: new(int)},
	}
}

// withFlagHint adds to the error about an unknown flag the one that may have been
// meant.
func withFlagHint(err error, flags []cli.Flag) error {
	_, name, found := strings.Cut(err.Error(), "flag provided but not defined: -")
	if !found {
		return err
	}
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	near := source.Nearest(strings.TrimPrefix(name, "-"), names)
	if near == "" {
		return err
	}
	return (&source.Error{Msg: err.Error()}).WithHint("did you mean --%s?", near)
}
