package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"play/action"
	"play/engine/config"
	"play/engine/task"
)

// options are the settings of one invocation: the command line over the
// environment and ansible.cfg over the defaults.
type options struct {
	Inventory       []string
	Limit           string
	ExtraVars       []string
	Tags, SkipTags  []string
	Check, Diff     bool
	Forks           int
	Verbosity       int
	Step            bool
	Strict          bool
	FlushCache      bool
	StartAt         string
	ForceHandlers   bool
	AnyErrorsFatal  bool
	Gathering       string
	Compat          string
	ConfigFile      string
	RolesPath       []string
	CollectionsPath []string
	Managed         string
	VaultIDs        []string
	AskVault        bool
	Connection      action.Defaults
	Config          *config.Config
	Settings        *config.Settings
	// Playbooks and Arguments are the command line as -vvvv shows it.
	Playbooks, Arguments []string
}

// readOptions puts the settings together. It asks for passwords where the
// command line says so.
func readOptions(ctx context.Context, h *host, c *cli.Context) (*options, error) {
	cfg, err := config.Load(config.Source{Environ: h.Environ, Dir: h.Dir})
	if err != nil {
		return nil, &codeError{exitOptions, err}
	}
	s := cfg.Settings
	o := &options{Config: cfg, Settings: s, ConfigFile: cfg.File,
		Inventory: c.StringSlice("inventory"), Limit: strings.Join(c.StringSlice("limit"), ","), ExtraVars: c.StringSlice("extra-vars"),
		Tags: commaList(c.StringSlice("tags")), SkipTags: commaList(c.StringSlice("skip-tags")),
		Check: c.Bool("check"), Diff: c.Bool("diff") || s.DiffAlways, Forks: c.Int("forks"), Verbosity: c.Count("verbose"),
		FlushCache: c.Bool("flush-cache"), Step: c.Bool("step"), Strict: c.Bool("strict"), StartAt: c.String("start-at-task"), ForceHandlers: c.Bool("force-handlers") || s.ForceHandlers,
		AnyErrorsFatal: s.AnyErrorsFatal, Gathering: s.Gathering, Compat: first(c.String("compat"), s.Compat),
		RolesPath: s.RolesPath, CollectionsPath: s.CollectionsPath, Managed: s.AnsibleManaged,
		VaultIDs: append(c.StringSlice("vault-id"), c.StringSlice("vault-password-file")...), AskVault: c.Bool("ask-vault-password") || configured(cfg, "DEFAULT_ASK_VAULT_PASS"),
	}
	if len(o.Inventory) == 0 {
		o.Inventory = s.Inventory
	}
	if c.IsSet("forks") && o.Forks < 1 {
		return nil, &codeError{exitUsage, errors.New("The number of processes (--forks) must be >= 1")}
	}
	if o.Forks == 0 {
		o.Forks = s.Forks
	}
	o.Verbosity = max(o.Verbosity, s.Verbosity)
	if len(o.Tags) == 0 {
		o.Tags = s.RunTags
	}
	if len(o.SkipTags) == 0 {
		o.SkipTags = s.SkipTags
	}
	o.VaultIDs = append(o.VaultIDs, s.VaultIdentities...)
	if s.VaultPasswordFile != "" {
		o.VaultIDs = append(o.VaultIDs, s.VaultPasswordFile)
	}
	err = o.connection(ctx, h, c, s)
	o.Playbooks, o.Arguments = c.Args().Slice(), o.shownArguments(h, c)
	return o, err
}

// configured reads a switch of the configuration by its name in ansible-config.
func configured(c *config.Config, name string) bool {
	v, _ := c.Lookup(name)
	on, _ := task.ToBool(v)
	return on
}

// readsOnly tells whether the playbooks are only read, which takes no password.
func readsOnly(c *cli.Context) bool {
	reads := func(option string) bool { return c.Bool(option) }
	playbooks := c.Command == nil || c.Command.Name == "" || c.Command.Name == c.App.Name
	return playbooks && slices.ContainsFunc([]string{"syntax-check", "list-hosts", "list-tasks", "list-tags"}, reads)
}

// asks tells whether a person is to be asked: by an option, or by a setting where
// the command has that option.
func asks(c *cli.Context, option string, cfg *config.Config, setting string) bool {
	flags := c.App.Flags
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != c.App.Name {
		flags = c.Command.Flags
	}
	has := slices.ContainsFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), option) })
	return c.Bool(option) || has && configured(cfg, setting)
}

// commaList splits "a,b" items.
func commaList(items []string) []string {
	var out []string
	for _, item := range items {
		for _, part := range strings.Split(item, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// connection fills in how hosts are reached.
func (o *options) connection(ctx context.Context, h *host, c *cli.Context, s *config.Settings) error {
	d := &o.Connection
	*d = action.Defaults{
		Connection: first(c.String("connection"), s.Transport, "ssh"), User: first(c.String("user"), s.RemoteUser), Port: s.RemotePort,
		KeyFile: first(c.String("private-key"), s.PrivateKeyFile), Timeout: time.Duration(s.Timeout) * time.Second,
		Retries: s.SSHRetries, HostKeyChecking: s.HostKeyChecking, AcceptNew: c.Bool("accept-new-host-keys"),
		Become: c.Bool("become") || s.Become, BecomeMethod: first(c.String("become-method"), s.BecomeMethod),
		BecomeUser: first(c.String("become-user"), s.BecomeUser), BecomeFlags: s.BecomeFlags, BecomeExe: s.BecomeExe,
		RemoteTmp: s.RemoteTmp, AsyncDir: s.AsyncDir, Executable: s.Executable, SSHArgs: strings.Join([]string{s.SSHArgs, s.SSHCommonArgs, s.SSHExtraArgs, c.String("ssh-common-args"), c.String("ssh-extra-args")}, " "),
	}
	if c.IsSet("timeout") {
		d.Timeout = time.Duration(c.Int("timeout")) * time.Second
	}
	if readsOnly(c) {
		return nil
	}
	var err error
	if d.Password, err = secret(ctx, h, asks(c, "ask-pass", o.Config, "DEFAULT_ASK_PASS"), first(c.String("connection-password-file"), s.PasswordFile), "SSH password: "); err != nil {
		return err
	}
	askBecome := asks(c, "ask-become-pass", o.Config, "DEFAULT_BECOME_ASK_PASS")
	prompt := "BECOME password: "
	if d.Password != "" {
		prompt = "BECOME password[defaults to SSH password]: "
	}
	d.BecomePassword, err = secret(ctx, h, askBecome, first(c.String("become-password-file"), s.BecomePasswordFile), prompt)
	if askBecome && d.BecomePassword == "" {
		d.BecomePassword = d.Password
	}
	return err
}

// secret reads a password from a file or asks for it; "" when neither is
// wanted.
func secret(ctx context.Context, h *host, ask bool, file, prompt string) (string, error) {
	if file != "" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(h.Dir, file)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("cannot read the password file %q: %w", file, err)
		}
		return trimNewline(string(data)), nil
	}
	if !ask {
		return "", nil
	}
	return h.Ask(ctx, prompt, false)
}
