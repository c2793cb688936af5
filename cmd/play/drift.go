package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"play/engine/drift"
	"play/engine/event"
	"play/engine/history"
	"play/engine/output"
	"play/engine/playbook"
	"play/engine/source"
	"play/modules/atomicfile"
	"play/strategy"
)

// driftCommand says what has moved away from playbooks.
func driftCommand(h *host) *cli.Command {
	const cat = "Drift"
	flags := append([]cli.Flag{
		&cli.StringSliceFlag{Name: "ignore", Usage: "leave out what matches `RULE`: host=…, task=…, path=…, joined by commas", Category: cat},
		&cli.StringSliceFlag{Name: "ignore-file", Usage: "rules from `FILE`, one on each line", Category: cat},
		&cli.BoolFlag{Name: "brief", Usage: "no diffs in the text", Category: cat},
		&cli.StringFlag{Name: "json", Usage: "write JSON to `FILE` (- for standard output, in place of the text)", Category: cat},
		&cli.StringFlag{Name: "junit", Usage: "write JUnit XML to `FILE` or -", Category: cat},
		&cli.StringFlag{Name: "prometheus", Usage: "write metrics for the textfile collector to `FILE` or -", Category: cat},
		&cli.StringFlag{Name: "html", Usage: "write the report as a page to `FILE`", Category: cat},
		&cli.BoolFlag{Name: "install-timer", Usage: "print a systemd service and timer and a cron line for this command, and stop", Category: cat},
	}, playFlags()...)
	return &cli.Command{Name: "drift", Usage: "say what has moved away from playbooks (a run in check mode)", ArgsUsage: "PLAYBOOK...", Flags: flags,
		UseShortOptionHandling: true, Action: func(c *cli.Context) error { return driftAction(h, c) }}
}

func driftAction(h *host, c *cli.Context) error {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return usagef("a playbook must be given, for example \"play drift site.yml\"")
	}
	if c.Bool("install-timer") {
		fmt.Fprint(h.Out, timerText(h, c))
		return nil
	}
	rules, err := ignoreRules(h, c)
	if err != nil {
		return err
	}
	o, err := readOptions(c.Context, h, c)
	if err != nil {
		return err
	}
	o.Check, o.Diff = true, true
	d := &drifting{h: h, c: c, o: o, rules: rules, kept: newKeeper(h, o, c, history.KindDrift)}
	d.found = drift.NewCollector(func(text string) string { return d.kept.secrets.Mask(text) }, nil)
	return d.run(paths)
}

// ignoreRules are the rules of the command line and its files.
func ignoreRules(h *host, c *cli.Context) ([]drift.Rule, error) {
	var rules []drift.Rule
	for _, text := range c.StringSlice("ignore") {
		r, err := drift.ParseRule(text)
		if err != nil {
			return nil, usagef("%w", err)
		}
		rules = append(rules, r)
	}
	for _, name := range c.StringSlice("ignore-file") {
		text, err := os.ReadFile(h.path(name))
		if err != nil {
			return nil, usagef("cannot read the rules of drift: %w", err)
		}
		more, err := drift.ParseRules(string(text))
		if err != nil {
			return nil, usagef("%s: %w", name, err)
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

// drifting is one drift run.
type drifting struct {
	h     *host
	c     *cli.Context
	o     *options
	rules []drift.Rule
	kept  *keeper
	found *drift.Collector
	sink  event.Sink
}

func (d *drifting) run(paths []string) error {
	show := displayOptions(d.h, d.o)
	show.Out, show.Summary = io.Discard, false
	if d.o.Verbosity > 0 {
		show.Out = d.h.Err
	}
	told, _ := output.New("default", show)
	// What is new began after the run did: the recorder comes first.
	d.sink = event.Locked(append(d.kept.with([]event.Sink{told}), d.found)...)
	s, err := newSession(d.c.Context, d.h, d.o, d.sink)
	if err != nil {
		return err
	}
	defer s.close()
	d.kept.secrets, s.showUses = s.secrets, true
	if err := s.anyHosts("all"); err != nil {
		return err
	}
	flight := newPreflight(s)
	books, err := s.loadAll(paths)
	if err == nil {
		err = flight.playbooks(books)
	}
	if err := flight.finish(d.c.String("preflight"), err); err != nil {
		return err
	}
	return d.end(paths, d.runAll(s, books))
}

// runAll runs the playbooks and returns the error of the run itself, if any.
func (d *drifting) runAll(s *session, books []*playbook.Playbook) error {
	var lost bool
	for _, pb := range books {
		rep, err := s.run(pb)
		switch {
		case err != nil:
			return &codeError{exitError, err}
		case rep.Interrupted:
			return &codeError{code: exitInterrupted}
		}
		lost = lost || broken(rep)
	}
	if lost {
		return &codeError{code: exitError}
	}
	return nil
}

// broken tells whether a playbook was ended early for every host.
func broken(r *strategy.Report) bool { return r.Broken && len(r.Unreachable) == 0 }

// end tells what was found and keeps it.
func (d *drifting) end(paths []string, err error) error {
	before := d.before()
	n := d.found.Night(before, d.rules)
	for _, p := range paths {
		n.Playbooks = append(n.Playbooks, d.h.path(p))
	}
	n.ExitCode = d.code(n, err)
	findings, examined := n.Keep()
	if n.ExitCode == exitInterrupted {
		findings, examined = nil, nil
	}
	n.Run = d.kept.end(d.sink, history.End{Code: n.ExitCode, Findings: findings, Examined: examined})
	if err := errors.Join(d.write(n), d.page(n)); err != nil {
		return &codeError{exitError, err}
	}
	var ce *codeError
	if errors.As(err, &ce) && ce.err != nil {
		return ce
	}
	if n.ExitCode == exitOK {
		return nil
	}
	return &codeError{code: n.ExitCode}
}

// code is how the run ended: what keeps it from knowing everything wins over
// what it found.
func (d *drifting) code(n *drift.Night, err error) int {
	switch {
	case err != nil && codeOf(err) == exitInterrupted:
		return exitInterrupted
	case len(n.Unreachable) > 0:
		return exitUnreachable
	case err != nil, len(n.Failed) > 0:
		return exitError
	case len(n.Drift) > 0:
		return exitDrift
	}
	return exitOK
}

// before are the nights before, by host; nothing without a history.
func (d *drifting) before() map[string]history.Night {
	if d.kept.recorder == nil {
		return nil
	}
	store, err := history.OpenExisting(historyPath(d.h))
	if err != nil {
		return nil // there is none yet; what is wrong with it is told at the end
	}
	defer store.Close()
	nights, err := store.LastNights(keptOptions(d.h, d.o, d.c.Args().Slice()))
	if err != nil {
		d.sink.Warning(err.Error(), source.Pos{})
	}
	return nights
}

// write writes the night in every form that was asked for.
func (d *drifting) write(n *drift.Night) error {
	text := true
	var errs []error
	for _, form := range []struct {
		flag  string
		write func(io.Writer) error
	}{{"json", n.WriteJSON}, {"junit", n.WriteJUnit}, {"prometheus", n.WritePrometheus}} {
		switch name := d.c.String(form.flag); name {
		case "":
		case "-":
			text = false
			errs = append(errs, form.write(d.h.Out))
		default:
			errs = append(errs, writeWhole(d.h.path(name), form.write))
		}
	}
	if text {
		errs = append(errs, n.WriteText(d.h.Out, !d.c.Bool("brief")))
	}
	return errors.Join(errs...)
}

// writeWhole writes a file so that whoever reads it sees the old or the new
// one.
func writeWhole(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	err := write(&b)
	if err == nil {
		err = atomicfile.Write(path, &b, atomicfile.Options{})
	}
	if err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	return nil
}

// page writes the HTML report of the night.
func (d *drifting) page(n *drift.Night) error {
	name := d.c.String("html")
	if name == "" {
		return nil
	}
	if n.Run == 0 {
		return errors.New("cannot write the page: it is made from the history, and the run was not kept")
	}
	return reportPage(d.h, n.Run, name)
}
