package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"play/engine/event"
	"play/engine/output"
	"play/engine/playbook"
	"play/engine/source"
	"play/modules/value"
)

// adhocCommand runs one module on the hosts of a pattern, as ansible does.
func adhocCommand(h *host) *cli.Command {
	flags := append(hostFlags(), connectFlags()...)
	flags = append(flags, vaultFlags()...)
	flags = append(flags, commonFlags()...)
	flags = append(flags, versionFlag())
	flags = append(flags,
		&cli.StringFlag{Name: "module-name", Aliases: []string{"m"}, Value: "command", Usage: "run `MODULE`"},
		&cli.StringFlag{Name: "args", Aliases: []string{"a"}, Usage: "the module's `ARGUMENTS`: k=v words or a JSON object"},
		&cli.IntFlag{Name: "background", Aliases: []string{"B"}, Usage: "run detached for at most `SECONDS`"},
		&cli.IntFlag{Name: "poll", Aliases: []string{"P"}, Value: 15, Usage: "with -B: ask every `SECONDS`"},
		&cli.StringFlag{Name: "tree", Aliases: []string{"t"}, Usage: "write each host's result to a file in `FOLDER`"},
		&cli.IntFlag{Name: "task-timeout", Usage: "end the module after `SECONDS`"},
		&cli.BoolFlag{Name: "one-line", Aliases: []string{"o"}, Usage: "one line per host"},
		&cli.BoolFlag{Name: "check", Aliases: []string{"C"}, Usage: "change nothing, say what would change"},
		&cli.BoolFlag{Name: "diff", Aliases: []string{"D"}, Usage: "show what changes in files"},
		&cli.IntFlag{Name: "forks", Aliases: []string{"f"}, Usage: "at most `N` hosts at a time"},
		&cli.StringFlag{Name: "playbook-dir", Usage: "the `FOLDER` whose group_vars, roles and files count"},
		&cli.StringSliceFlag{Name: "module-path", Aliases: []string{"M"}, Usage: "look for modules in these `FOLDERS` too"})
	return &cli.Command{
		Name: "adhoc", Usage: "run one module on hosts", ArgsUsage: "PATTERN", Flags: flags, UseShortOptionHandling: true,
		Action: func(c *cli.Context) error { return adhocAction(h, c) },
	}
}

func adhocAction(h *host, c *cli.Context) error {
	if c.NArg() != 1 {
		return &codeError{exitUsage, errors.New("play adhoc takes one host pattern, for example: play adhoc web -m ping")}
	}
	o, err := readOptions(c.Context, h, c)
	if err != nil {
		return err
	}
	name := "minimal"
	if c.Bool("one-line") {
		name = "oneline"
	}
	shown, _ := output.New(name, output.Options{Out: h.Out, Err: h.Err, Color: o.color(h), Verbosity: o.Verbosity, Width: h.width()})
	sinks := []event.Sink{shown}
	var broken error
	if dir := c.String("tree"); dir != "" {
		tree, _ := output.Callback("tree", output.Options{Out: h.Out, Err: h.Err}, output.Callbacks{TreeDir: h.path(dir),
			ReportWriteError: func(err error) { broken = err }})
		sinks = append(sinks, tree)
	}
	s, err := newSession(c.Context, h, o, event.Locked(sinks...))
	if err != nil {
		return err
	}
	defer s.close()
	pattern := c.Args().First()
	if matched, err := s.adhocHosts(c.Bool("list-hosts"), pattern); err != nil || !matched {
		return err
	}
	pb, err := s.adhocPlaybook(c)
	if err != nil {
		return err
	}
	if err := s.runAll([]*playbook.Playbook{pb}); err != nil {
		return err
	}
	return broken
}

// adhocHosts looks whether a module is to run: on a host that the pattern
// matches, and not when the hosts are only listed. No host is an error only when
// it is the limit that leaves none.
func (s *session) adhocHosts(list bool, pattern string) (runs bool, err error) {
	within := "all"
	if len(s.inv.HostNames()) == 0 {
		within = pattern
	}
	if err := s.anyHosts(within); err != nil {
		return false, err
	}
	if list {
		return false, s.listMatching(pattern)
	}
	hosts, err := s.inv.Match(pattern)
	if err == nil && len(hosts) == 0 {
		s.sink.Warning("No hosts matched, nothing to do", source.Pos{})
	}
	return len(hosts) > 0, err
}

// listMatching prints the hosts of a pattern as ansible --list-hosts does.
func (s *session) listMatching(pattern string) error {
	hosts, err := s.inv.Match(pattern)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.host.Out, "  hosts (%d):\n", len(hosts))
	for _, h := range hosts {
		fmt.Fprintf(s.host.Out, "    %s\n", h)
	}
	return nil
}

// rawModules take their arguments as one free text, and must have some.
var rawModules = map[string]bool{"command": true, "shell": true, "raw": true, "script": true, "win_command": true, "win_shell": true}

// adhocWords are the module and its arguments: those of the command line, or of
// the configuration.
func (s *session) adhocWords(c *cli.Context) (module, args string) {
	module, args = c.String("module-name"), c.String("args")
	if v, _ := s.opts.Config.Lookup("DEFAULT_MODULE_NAME"); v != nil && !c.IsSet("module-name") {
		module = value.Str(v)
	}
	if v, _ := s.opts.Config.Lookup("DEFAULT_MODULE_ARGS"); v != nil && !c.IsSet("args") {
		args = value.Str(v)
	}
	return module, args
}

// adhocPlaybook is a playbook of one play with one task.
func (s *session) adhocPlaybook(c *cli.Context) (*playbook.Playbook, error) {
	written, text := s.adhocWords(c)
	module := strings.TrimPrefix(strings.TrimPrefix(written, "ansible.builtin."), "ansible.legacy.")
	known := knownModules(s.finder)
	if native := known.Native(module); native != "" {
		module = native
	}
	switch {
	case module == "import_playbook":
		return nil, usagef("'%s' is not a valid action for ad-hoc commands", written)
	case rawModules[module] && strings.TrimSpace(text) == "":
		return nil, usagef("No argument passed to %s module", module)
	}
	if !known.Known(module) {
		err := &source.Error{Msg: fmt.Sprintf("there is no module %q", written)}
		if near := source.Nearest(module, known.Names()); near != "" {
			err.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		return nil, err
	}
	args, err := s.adhocArgs(module, text)
	if err != nil {
		return nil, err
	}
	dir := first(c.String("playbook-dir"), s.host.Dir)
	play := &playbook.Play{Name: "Ansible Ad-Hoc", Hosts: c.Args().First(), Keywords: playbook.Keywords{"gather_facts": {Value: false}},
		Vars: value.NewDict(), Dir: dir, Path: dir + "/adhoc"}
	task := &playbook.Task{Action: module, Written: written, Args: args, Keywords: playbook.Keywords{}, Vars: value.NewDict(), Play: play, Dir: dir}
	if seconds := c.Int("background"); seconds > 0 {
		task.Keywords["async"] = playbook.Attr{Value: seconds}
		task.Keywords["poll"] = playbook.Attr{Value: c.Int("poll")}
	}
	if seconds := c.Int("task-timeout"); seconds > 0 {
		task.Keywords["timeout"] = playbook.Attr{Value: seconds}
	}
	play.Tasks = []playbook.Node{task}
	return &playbook.Playbook{Path: play.Path, Plays: []*playbook.Play{play}}, nil
}

// adhocArgs reads the arguments; the operator typed them, so Jinja in them is
// evaluated.
func (s *session) adhocArgs(module, text string) (*value.Dict, error) {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) {
		return s.yaml.VarsText("the arguments of -a", []byte(trimmed))
	}
	args, err := playbook.ParseKV(text, rawModules[module])
	if err != nil {
		return nil, usagef("cannot read the arguments %q: %v", text, err)
	}
	for i := range args.Len() {
		_, v := args.At(i)
		if s0, ok := v.(string); ok {
			loaded, err := s.env.Load(s0, source.Pos{})
			if err != nil {
				return nil, err
			}
			args.SetAt(i, loaded)
			if loaded != v {
				args.Lazy = true
			}
		}
	}
	return args, nil
}
