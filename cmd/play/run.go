package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"play/engine/event"
	"play/engine/history"
	"play/engine/output"
	"play/engine/playbook"
	"play/engine/source"
	"play/strategy"
)

// codeError is an error that asks for a certain exit code; nothing more is
// printed when Err is nil.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// usagef is a mistake in the command line.
func usagef(format string, args ...any) error {
	return &codeError{exitOptions, fmt.Errorf(format, args...)}
}

// run is play from its command line to its exit code.
func run(h *host, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(h.Err, "ERROR! this is a defect of play, please report it: %v\n%s", p, debug.Stack())
			code = exitDefect
		}
	}()
	ctx, stop := interruptible(context.Background(), func() { h.leave(); os.Exit(exitInterrupted) })
	defer stop()
	app := newApp(h)
	if complete(h, app, args) {
		return exitOK
	}
	if slices.Contains(args[1:], "--version") {
		return exitCode(h, showVersion(h, filepath.Base(args[0])))
	}
	return exitCode(h, app.RunContext(ctx, prepare(app, args)))
}

// exitCode prints what went wrong, once, and names the exit code.
func exitCode(h *host, err error) int {
	if err == nil {
		return exitOK
	}
	var ce *codeError
	if !errors.As(err, &ce) {
		fmt.Fprintf(h.Err, "ERROR! %s\n", source.Format(err))
	} else if ce.err != nil {
		fmt.Fprintf(h.Err, "ERROR! %s\n", source.Format(ce.err))
	}
	return codeOf(err)
}

// codeOf is the exit code that an error asks for.
func codeOf(err error) int {
	var ce *codeError
	var se *source.Error
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &ce):
		return ce.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &se):
		return exitUnreachable
	}
	return exitError
}

func newApp(h *host) *cli.App {
	app := &cli.App{
		Name: "play", Usage: "run playbooks on hosts over SSH, with nothing installed there",
		UsageText: "play [options] PLAYBOOK...\nplay COMMAND [options] ARGUMENTS...",
		Writer:    h.Out, ErrWriter: h.Err, HideHelpCommand: true,
		UseShortOptionHandling: true, DisableSliceFlagSeparator: true,
		Flags:          playFlags(),
		Action:         func(c *cli.Context) error { return playAction(h, c) },
		Commands:       commands(h),
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   badFlag,
	}
	answerBadFlags(app.Commands)
	return app
}

// answerBadFlags makes every command say what is wrong with its options, and
// nothing more.
func answerBadFlags(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = badFlag
		answerBadFlags(c.Subcommands)
	}
}

// badFlag says what is wrong with an option, and which one may be meant.
func badFlag(c *cli.Context, err error, _ bool) error {
	flags := c.App.Flags
	if c.Command != nil && c.Command.Name != "" {
		flags = c.Command.Flags
	}
	return &codeError{exitUsage, withFlagHint(err, flags)}
}

// noSubcommand answers a word that is none of a command's own.
func noSubcommand(c *cli.Context) error {
	names := make([]string, 0, len(c.Command.Subcommands))
	for _, sub := range c.Command.Subcommands {
		names = append(names, sub.Name)
	}
	if c.NArg() == 0 {
		return &codeError{exitUsage, fmt.Errorf("play %s needs one of: %s", c.Command.Name, strings.Join(names, ", "))}
	}
	said := &source.Error{Msg: fmt.Sprintf("there is no command \"play %s %s\"", c.Command.Name, c.Args().First())}
	if near := source.Nearest(c.Args().First(), names); near != "" {
		said.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return &codeError{exitUsage, said}
}

func playFlags() []cli.Flag {
	flags := append(hostFlags(), runFlags()...)
	flags = append(flags, connectFlags()...)
	flags = append(flags, vaultFlags()...)
	flags = append(flags, commonFlags()...)
	return append(flags, versionFlag())
}

// prepare arranges the arguments of the command that they name.
func prepare(app *cli.App, args []string) []string {
	if name, ok := calledAs[filepath.Base(args[0])]; ok {
		args = append([]string{args[0], name}, args[1:]...)
	}
	out, rest := args[:1:1], args[1:]
	flags, commands := app.Flags, app.Commands
	for len(rest) > 0 {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(rest[0]) })
		if i < 0 {
			break
		}
		out, rest = append(out, rest[0]), rest[1:]
		flags, commands = commands[i].Flags, commands[i].Subcommands
	}
	if len(commands) > 0 && len(out) > 1 {
		return append(out, rest...) // a word that is no subcommand: the cli package says so
	}
	return append(out, arrange(rest, flags)...)
}

// calledAs are the names of Ansible's tools under which play can be called and
// the commands that they stand for; ansible-playbook is play itself.
var calledAs = map[string]string{
	"ansible": "adhoc", "ansible-config": "config", "ansible-doc": "doc", "ansible-inventory": "inventory", "ansible-vault": "vault",
}

// playAction runs the playbooks of the command line.
func playAction(h *host, c *cli.Context) error {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return &codeError{exitUsage, errors.New("a playbook to run must be given, for example \"play site.yml\"; \"play --help\" lists options and commands")}
	}
	o, err := readOptions(c.Context, h, c)
	if err != nil {
		return err
	}
	view, stopLive := startLive(h, o, c)
	defer stopLive()
	sinks, closeSinks, err := newSinks(c.Context, h, o, c.String("events"))
	if err != nil {
		return err
	}
	defer closeSinks()
	if view != nil {
		sinks = append([]event.Sink{view}, sinks...)
	}
	kept := newKeeper(h, o, c, history.KindRun)
	sink := event.Locked(kept.with(sinks)...)
	s, err := newSession(c.Context, h, o, sink)
	if err != nil {
		return err
	}
	defer s.close()
	s.inform(sinks)
	kept.secrets, s.live = s.secrets, view != nil && c.Bool("live")
	mode := c.String("preflight")
	if !slices.Contains([]string{"", preflightOnly, "warn"}, mode) {
		return usagef("--preflight takes \"warn\" or nothing, not %q", mode)
	}
	if err := s.anyHosts("all"); err != nil {
		return err
	}
	flight := newPreflight(s)
	listing := c.Bool("syntax-check") || c.Bool("list-hosts") || c.Bool("list-tasks") || c.Bool("list-tags")
	books, err := s.loadAll(paths)
	if listing {
		flight.loaded()
	} else if err == nil {
		err = flight.playbooks(books)
	}
	if err := flight.finish(mode, err); err != nil || mode == preflightOnly {
		return err
	}
	switch {
	case c.Bool("syntax-check"):
		for _, pb := range books {
			fmt.Fprintf(h.Out, "\nplaybook: %s\n", pb.Path)
		}
		return nil
	case listing:
		l := &list{s: s, out: h.Out, hosts: c.Bool("list-hosts"), tasks: c.Bool("list-tasks"), tags: c.Bool("list-tags")}
		for _, pb := range books {
			if err := l.playbook(pb); err != nil {
				return err
			}
		}
		return nil
	}
	err = s.runAll(books)
	kept.end(sink, history.End{Code: codeOf(err)})
	return err
}

// loadAll reads every playbook before the first one runs.
func (s *session) loadAll(paths []string) ([]*playbook.Playbook, error) {
	var books []*playbook.Playbook
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case err != nil:
			return nil, &codeError{exitError, fmt.Errorf("the playbook: %s could not be found", p)}
		case info.IsDir():
			return nil, &codeError{exitError, fmt.Errorf("the playbook: %s does not appear to be a file", p)}
		}
		s.finder.AddPlaybook(filepath.Dir(p))
		pb, err := s.loader.Load(p)
		if err != nil {
			return nil, &codeError{exitUnreachable, err}
		}
		books = append(books, pb)
	}
	return books, nil
}

// runAll runs the playbooks one after the other; a failed one ends the run.
func (s *session) runAll(books []*playbook.Playbook) error {
	for _, pb := range books {
		rep, err := s.run(pb)
		if errors.Is(err, strategy.ErrQuit) {
			return &codeError{code: exitInterrupted}
		}
		var keyword *strategy.KeywordError
		if errors.As(err, &keyword) {
			return &codeError{exitUnreachable, err}
		}
		if err != nil {
			return &codeError{exitError, err}
		}
		if code := reportCode(rep); code != exitOK {
			return &codeError{code: code}
		}
	}
	return nil
}

func reportCode(r *strategy.Report) int {
	switch {
	case r.Interrupted:
		return exitInterrupted
	case r.Broken:
		return exitFailed
	case len(r.Unreachable) > 0:
		return exitUnreachable
	case len(r.Failed) > 0:
		return exitFailed
	}
	return exitOK
}

// newOutput chooses how the run is shown.
func newOutput(h *host, o *options) event.Sink {
	s := o.Settings
	show := displayOptions(h, o)
	log, err := newLogFile(s.LogPath)
	if err == nil {
		show.Out, show.Err = log.writer(show.Out), log.writer(show.Err)
	}
	sink, ok := output.New(s.StdoutCallback, show)
	if !ok {
		sink, _ = output.New("default", show)
		sink.Warning(fmt.Sprintf("there is no stdout callback %q here (%s); the default one is used; there are: %s", s.StdoutCallback, o.Config.SetBy("DEFAULT_STDOUT_CALLBACK"), strings.Join(output.Names(), ", ")), source.Pos{})
	}
	if err != nil {
		sink.Warning(fmt.Sprintf("log file at %s is not writeable and we cannot create it: %v", s.LogPath, err), source.Pos{})
	}
	for _, w := range o.Config.Warnings {
		sink.Warning(w, source.Pos{})
	}
	return sink
}
